"""A table's rows, put where they belong: epoch by epoch, member by member, example by example."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.names import check_distinct_names, sanitize_name
from ensemble.exchange.files.class_columns import (
    check_predictions,
    order_sorted_columns,
    resolve_single_column,
    select_class_columns,
)
from ensemble.exchange.files.columns import TableColumns
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.files.row_details import collect_details
from ensemble.exchange.files.row_keys import Codes, RowKeys, Texts, encode_key_column
from ensemble.files.columns import is_ensemble_name, is_statistic_name, list_unused_notes
from ensemble.storage.arrays.array_digest import CHUNK_BYTES


def arrange_table_rows(columns: TableColumns, values: NDArray[Any], texts: Texts, notes: list[str]) -> FilePredictions:
    """The predictions of a table's rows, which may stand in any order.

    Args:
      columns: of the table.
      values: (R, K), the classes' numbers.
      texts: R of each other column that is read.
      notes: what was assumed so far.

    Raises:
      PredictionsError: a row is missing, or there twice, or an example has two labels.
    """
    values, texts, more = _leave_out_ensemble(columns, values, texts)
    columns, values, aside, others = select_class_columns(columns, values, texts)
    values, places, ordered = order_sorted_columns(columns, values, texts)
    columns = replace(columns, attributes=tuple(name for name in columns.attributes if name not in places))
    notes = [*notes, *more, *others, *ordered]
    names = columns.class_names
    if len(columns.class_columns) == 1:
        values, names, more = resolve_single_column(columns, values, texts)
    else:
        shown = names or tuple(map(str, range(len(columns.class_columns))))
        more = check_predictions(columns, values, texts, shown)
    notes += more
    keys = {key: texts[column] for key, column in columns.key_columns.items()}
    rows = RowKeys.encode(columns, keys, texts, len(values))
    shape = len(rows.epoch_names), len(rows.member_names), int(rows.examples.max()) + 1
    order = _order_table_rows(rows.series * shape[2] + rows.examples, shape, rows.member_names, rows.example_names)
    if len(rows.epoch_names) > 1 and list(rows.epoch_names) != [str(n + 1) for n in range(shape[0])]:
        epoch_range = f"{rows.epoch_names[0]:.20} … {rows.epoch_names[-1]:.20}"
        notes.append(f"Epochs {epoch_range} of the table are numbered 1 to {shape[0]}.")
    labels, groups = (
        _parse_example_column(key, keys.get(key), rows.examples, shape[2], rows.example_names)
        for key in ("label", "group")
    )
    details, ignored = collect_details(columns, texts, aside, rows, shape[2])
    notes += rows.notes
    kept = set(columns.attributes) - set(ignored)
    if beside := [name for name in columns.attributes if name in kept and is_statistic_name(name)]:
        listing = ", ".join(f"“{name:.40}”" for name in beside[:5])
        notes.append(f"Columns that are not classes, kept next to the examples: {listing}.")
    notes += list_unused_notes(ignored)
    predictions = FilePredictions(
        kind=columns.kind,
        shape=(*shape, len(columns.class_columns)),
        blocks=lambda columns: _iterate_ordered_blocks(values, order),
        labels=labels,
        groups=groups,
        class_names=check_distinct_names("class_names", list(map(sanitize_name, names))) if names else None,
        member_names=_drop_default_names(rows.member_names, bounded=True),
        split=_parse_split_column(keys.get("split")),
        examples=_drop_default_names(rows.example_names),
        notes=notes,
        details=details,
    )

    def reorder(wanted: Codes) -> FilePredictions:
        moved = order.reshape(-1, shape[2])[:, wanted].reshape(-1)
        return replace(
            predictions,
            blocks=lambda columns: _iterate_ordered_blocks(values, moved),
            labels=None if labels is None else labels[wanted],
            groups=None if groups is None else groups[wanted],
            examples=tuple(rows.example_names[n] for n in wanted),
            details=details.take(wanted),
            reorder=None,
        )

    return replace(predictions, reorder=reorder)


def _leave_out_ensemble(
    columns: TableColumns, values: NDArray[Any], texts: Texts
) -> tuple[NDArray[Any], Texts, list[str]]:
    """The table without rows of a member that is called as the ensemble itself."""
    column = columns.key_columns.get("member", "")
    if column not in texts:
        return values, texts, []
    names = [name for name in texts[column].unique().to_pylist() if name]
    own = [name for name in names if is_ensemble_name(name)]
    if not own or len(own) == len(names):
        return values, texts, []
    kept = pa.compute.invert(pa.compute.is_in(texts[column].cast(pa.string()), value_set=pa.array(own)))
    note = f"The ensemble's own prediction is not a member: rows of “{own[0]:.40}” are left out."
    rows = kept.to_numpy()
    left = {name: each.filter(kept).cast(pa.string()).dictionary_encode() for name, each in texts.items()}
    return values[rows], left, [note]


def _order_table_rows(
    places: Codes, shape: tuple[int, int, int], members: tuple[str, ...], examples: tuple[str, ...]
) -> Codes:
    """The row of each place; PredictionsError where one has none, or two."""
    wanted = shape[0] * shape[1] * shape[2]
    order = np.argsort(places, kind="stable")
    ordered_places = places[order]
    twice = ordered_places[1:] == ordered_places[:-1]
    if twice.any():
        place = int(ordered_places[1:][np.argmax(twice)])
        raise PredictionsError(
            f"it has two rows of {_describe_row_place(place, shape, members, examples)}: keep one "
            "of them, or tell members apart in a column `member`."
        )
    if len(ordered_places) < wanted:
        gaps = np.flatnonzero(ordered_places != np.arange(len(ordered_places)))
        place = int(gaps[0]) if len(gaps) else len(ordered_places)
        raise PredictionsError(
            f"it has no row of {_describe_row_place(place, shape, members, examples)}: give each "
            "member a row for each example."
        )
    return order


def _describe_row_place(
    place: int, shape: tuple[int, int, int], members: tuple[str, ...], examples: tuple[str, ...]
) -> str:
    series, example = divmod(place, shape[2])
    text = f"example {examples[example] if examples else example:.40}"
    if members != ("",):
        text += f" and member {members[series % shape[1]]:.40}"
    return text + (f" in epoch {series // shape[1] + 1}" if shape[0] > 1 else "")


def _iterate_ordered_blocks(values: NDArray[Any], order: Codes) -> Iterator[NDArray[Any]]:
    step = max(1, CHUNK_BYTES // (values.shape[1] * values.itemsize))
    return (values[order[start : start + step]] for start in range(0, len(order), step))


def _parse_example_column(
    what: str, column: pa.ChunkedArray | None, examples: Codes, count: int, names: tuple[str, ...]
) -> NDArray[Any] | None:
    """Each example's label or group, as text; PredictionsError where two rows say otherwise."""
    if column is None:
        return None
    codes, values = encode_key_column(column, what, len(examples))
    example_codes = np.zeros(count, np.int64)
    example_codes[examples] = codes
    if (other := codes != example_codes[examples]).any():
        row = int(np.argmax(other))
        example = int(examples[row])
        example_name = names[example] if names else str(example)
        raise PredictionsError(
            f"it has two {what}s of example {example_name:.40}, “{values[codes[row]]:.40}” and "
            f"“{values[example_codes[example]]:.40}”: an example has one."
        )
    return np.array(values)[example_codes]


def _parse_split_column(column: pa.ChunkedArray | None) -> str:
    if column is None:
        return ""
    values = [value for value in column.unique().to_pylist() if value]
    if len(values) > 1:
        raise PredictionsError(
            f"its rows belong to {len(values)} splits (“{values[0]:.40}”, “{values[1]:.40}”): give the rows of one."
        )
    return sanitize_name(values[0])[:80] if values else ""


def _drop_default_names(names: tuple[str, ...], bounded: bool = False) -> tuple[str, ...] | None:
    """Names that say something; None if there are none, or numbers as we give them too."""
    plain = [str(number) for number in range(len(names))]
    counted = [str(number + 1) for number in range(len(names))]
    if not names or list(names) in (plain, counted, [""]):
        return None
    return check_distinct_names("member_names", names) if bounded else names
