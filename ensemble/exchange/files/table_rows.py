"""A table's rows, put where they belong: epoch by epoch, member by member, example by example."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import (
    MOST_CLASSES,
    MOST_EPOCHS,
    MOST_EXAMPLES,
    MOST_MEMBERS,
)
from ensemble.exchange.checks.names import check_distinct_names, sanitize_name
from ensemble.exchange.files.columns import TableColumns
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.storage.arrays.array_digest import CHUNK_BYTES

Codes = NDArray[np.int64]
# Of how many values a key may be: told before each of them is looked at.
MAX_KEY_VALUES = {
    "epoch": MOST_EPOCHS,
    "member": MOST_MEMBERS,
    "example": MOST_EXAMPLES,
    "label": MOST_CLASSES,
    "group": MOST_EXAMPLES,
}


def arrange_table_rows(
    columns: TableColumns, values: NDArray[Any], texts: dict[str, pa.ChunkedArray], notes: list[str]
) -> FilePredictions:
    """The predictions of a table's rows, which may stand in any order.

    Args:
      columns: of the table.
      values: (R, K), the classes' numbers.
      texts: R of each key that the table has.
      notes: what was assumed so far.

    Raises:
      PredictionsError: a row is missing, or there twice, or an example has two labels.
    """
    rows = len(values)
    epochs, epoch_names = encode_key_column(texts.get("epoch"), "epoch", rows)
    members, member_names = encode_key_column(texts.get("member"), "member", rows)
    series = epochs * len(member_names) + members
    if "example" in texts:
        examples, example_names = encode_key_column(
            texts["example"], "example", rows, in_order=False
        )
    else:
        examples, example_names = _count_previous_rows(series), ()
    shape = len(epoch_names), len(member_names), int(examples.max()) + 1
    order = _order_table_rows(series * shape[2] + examples, shape, member_names, example_names)
    if len(epoch_names) > 1 and list(epoch_names) != [str(n + 1) for n in range(shape[0])]:
        epoch_range = f"{epoch_names[0]:.20} … {epoch_names[-1]:.20}"
        notes = [*notes, f"Epochs {epoch_range} of the table are numbered 1 to {shape[0]}."]
    return FilePredictions(
        kind=columns.kind,
        shape=(*shape, len(columns.class_columns)),
        blocks=lambda columns: _iterate_ordered_blocks(values, order),
        labels=_parse_example_column(
            "label", texts.get("label"), examples, shape[2], example_names
        ),
        groups=_parse_example_column(
            "group", texts.get("group"), examples, shape[2], example_names
        ),
        class_names=check_distinct_names(
            "class_names", list(map(sanitize_name, columns.class_names))
        )
        if columns.class_names
        else None,
        member_names=_drop_default_names(member_names, bounded=True),
        split=_parse_split_column(texts.get("split")),
        examples=_drop_default_names(example_names),
        notes=notes,
    )


def encode_key_column(
    column: pa.ChunkedArray | None, name: str, rows: int, in_order: bool = True
) -> tuple[Codes, tuple[str, ...]]:
    """Each row's number among the values of a column, and the values.

    Numbers are in their order; text as it comes, or sorted where files are to agree on it.

    Raises:
      PredictionsError: a cell is empty, or there are too many values.
    """
    if column is None:
        return np.zeros(rows, np.int64), ("",)
    flat_column = column.combine_chunks()
    flat_column = flat_column.chunk(0) if isinstance(flat_column, pa.ChunkedArray) else flat_column
    encoded = flat_column.dictionary_encode()
    if (many := len(encoded.dictionary)) > MAX_KEY_VALUES[name]:
        raise PredictionsError(
            f"its column of {name}s has {many:,} different values, but at most "
            f"{MAX_KEY_VALUES[name]:,} are accepted: check that it is what its name says."
        )
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    values = [sanitize_name(value) for value in encoded.dictionary.to_pylist()]
    if encoded.null_count or "" in values:
        empty = flat_column.is_null().to_numpy(zero_copy_only=False) | np.isin(
            codes, [place for place, value in enumerate(values) if not value]
        )
        raise PredictionsError(f"its row {int(np.argmax(empty)) + 1} has no {name}: give it one.")
    numbers = [number for value in values if (number := _parse_whole_number(value)) is not None]
    keys: list[str] = values
    if len(numbers) == len(values):
        keys, distinct_keys = (
            [str(whole) for whole in numbers],
            [str(whole) for whole in sorted(set(numbers))],
        )
    else:
        distinct_keys = list(dict.fromkeys(values)) if in_order else sorted(set(values))
    place = {key: number for number, key in enumerate(distinct_keys)}
    return np.array([place[key] for key in keys], np.int64)[codes], tuple(distinct_keys)


def _parse_whole_number(text: str) -> int | None:
    """A whole number, also as "3.0"; None for other text."""
    whole = text.removesuffix(".0").removeprefix("-")
    is_whole = whole.isascii() and whole.isdigit() and len(whole) < 18
    return int(text.removesuffix(".0")) if is_whole else None


def _count_previous_rows(series: Codes) -> Codes:
    """For each row how many of its series came before it."""
    order = np.argsort(series, kind="stable")
    starts = np.searchsorted(series[order], series[order])
    counts = np.empty(len(series), np.int64)
    counts[order] = np.arange(len(series)) - starts
    return counts


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
    what: str,
    column: pa.ChunkedArray | None,
    examples: Codes,
    count: int,
    names: tuple[str, ...],
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
            f"its rows belong to {len(values)} splits (“{values[0]:.40}”, “{values[1]:.40}”): "
            "give the rows of one."
        )
    return sanitize_name(values[0])[:80] if values else ""


def _drop_default_names(names: tuple[str, ...], bounded: bool = False) -> tuple[str, ...] | None:
    """Names that say something; None if there are none, or numbers as we give them too."""
    plain = [str(number) for number in range(len(names))]
    counted = [str(number + 1) for number in range(len(names))]
    if not names or list(names) in (plain, counted, [""]):
        return None
    return check_distinct_names("member_names", names) if bounded else names
