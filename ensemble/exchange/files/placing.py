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
from ensemble.exchange.checks.names import checked, shown
from ensemble.exchange.files.columns import Columns
from ensemble.exchange.files.parts import Part
from ensemble.storage.arrays.digest import CHUNK

Codes = NDArray[np.int64]
# Of how many values a key may be: told before each of them is looked at.
MOST = {
    "epoch": MOST_EPOCHS,
    "member": MOST_MEMBERS,
    "example": MOST_EXAMPLES,
    "label": MOST_CLASSES,
}


def placed(
    columns: Columns, values: NDArray[Any], texts: dict[str, pa.ChunkedArray], notes: list[str]
) -> Part:
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
    epochs, epoch_names = coded(texts.get("epoch"), "epoch", rows)
    members, member_names = coded(texts.get("member"), "member", rows)
    series = epochs * len(member_names) + members
    if "example" in texts:
        examples, example_names = coded(texts["example"], "example", rows, in_order=False)
    else:
        examples, example_names = _counted(series), ()
    shape = len(epoch_names), len(member_names), int(examples.max()) + 1
    order = _order(series * shape[2] + examples, shape, member_names, example_names)
    if len(epoch_names) > 1 and list(epoch_names) != [str(n + 1) for n in range(shape[0])]:
        said = f"{epoch_names[0]:.20} … {epoch_names[-1]:.20}"
        notes = [*notes, f"Epochs {said} of the table are numbered 1 to {shape[0]}."]
    return Part(
        kind=columns.kind,
        shape=(*shape, len(columns.classes)),
        blocks=lambda columns: _blocks(values, order),
        labels=_labels(texts.get("label"), examples, shape[2], example_names),
        class_names=checked("class_names", list(map(shown, columns.names)))
        if columns.names
        else None,
        member_names=_said(member_names, bounded=True),
        split=_one_split(texts.get("split")),
        examples=_said(example_names),
        notes=notes,
    )


def coded(
    column: pa.ChunkedArray | None, name: str, rows: int, in_order: bool = True
) -> tuple[Codes, tuple[str, ...]]:
    """Each row's number among the values of a column, and the values.

    Numbers are in their order; text as it comes, or sorted where files are to agree on it.

    Raises:
      PredictionsError: a cell is empty, or there are too many values.
    """
    if column is None:
        return np.zeros(rows, np.int64), ("",)
    found = column.combine_chunks()
    found = found.chunk(0) if isinstance(found, pa.ChunkedArray) else found
    encoded = found.dictionary_encode()
    if (many := len(encoded.dictionary)) > MOST[name]:
        raise PredictionsError(
            f"its column of {name}s has {many:,} different values, and at most {MOST[name]:,} are "
            "taken: look whether it is what its name says."
        )
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    values = [shown(one) for one in encoded.dictionary.to_pylist()]
    if encoded.null_count or "" in values:
        empty = found.is_null().to_numpy(zero_copy_only=False) | np.isin(
            codes, [place for place, one in enumerate(values) if not one]
        )
        raise PredictionsError(f"its row {int(np.argmax(empty)) + 1} has no {name}: give it one.")
    numbers = [number for one in values if (number := _number(one)) is not None]
    keys: list[str] = values
    if len(numbers) == len(values):
        keys, known = [str(one) for one in numbers], [str(one) for one in sorted(set(numbers))]
    else:
        known = list(dict.fromkeys(values)) if in_order else sorted(set(values))
    place = {key: number for number, key in enumerate(known)}
    return np.array([place[key] for key in keys], np.int64)[codes], tuple(known)


def _number(text: str) -> int | None:
    """A whole number, also as "3.0"; None for other text."""
    whole = text.removesuffix(".0").removeprefix("-")
    known = whole.isascii() and whole.isdigit() and len(whole) < 18
    return int(text.removesuffix(".0")) if known else None


def _counted(series: Codes) -> Codes:
    """For each row how many of its series came before it."""
    order = np.argsort(series, kind="stable")
    starts = np.searchsorted(series[order], series[order])
    found = np.empty(len(series), np.int64)
    found[order] = np.arange(len(series)) - starts
    return found


def _order(
    places: Codes, shape: tuple[int, int, int], members: tuple[str, ...], examples: tuple[str, ...]
) -> Codes:
    """The row of each place; PredictionsError where one has none, or two."""
    wanted = shape[0] * shape[1] * shape[2]
    order = np.argsort(places, kind="stable")
    found = places[order]
    twice = found[1:] == found[:-1]
    if twice.any():
        place = int(found[1:][np.argmax(twice)])
        raise PredictionsError(
            f"it has two rows of {_named(place, shape, members, examples)}: keep one of them, or "
            "tell members apart in a column `member`."
        )
    if len(found) < wanted:
        gaps = np.flatnonzero(found != np.arange(len(found)))
        place = int(gaps[0]) if len(gaps) else len(found)
        raise PredictionsError(
            f"it has no row of {_named(place, shape, members, examples)}: give each member a row "
            "for each example."
        )
    return order


def _named(
    place: int, shape: tuple[int, int, int], members: tuple[str, ...], examples: tuple[str, ...]
) -> str:
    series, example = divmod(place, shape[2])
    said = f"example {examples[example] if examples else example:.40}"
    if members != ("",):
        said += f" and member {members[series % shape[1]]:.40}"
    return said + (f" in epoch {series // shape[1] + 1}" if shape[0] > 1 else "")


def _blocks(values: NDArray[Any], order: Codes) -> Iterator[NDArray[Any]]:
    step = max(1, CHUNK // (values.shape[1] * values.itemsize))
    return (values[order[start : start + step]] for start in range(0, len(order), step))


def _labels(
    column: pa.ChunkedArray | None, examples: Codes, count: int, names: tuple[str, ...]
) -> NDArray[Any] | None:
    """What each example is, as text; PredictionsError where two rows say otherwise."""
    if column is None:
        return None
    codes, values = coded(column, "label", len(examples))
    found = np.zeros(count, np.int64)
    found[examples] = codes
    if (other := codes != found[examples]).any():
        row = int(np.argmax(other))
        example = int(examples[row])
        said = names[example] if names else str(example)
        raise PredictionsError(
            f"it has two labels of example {said:.40}, “{values[codes[row]]:.40}” and "
            f"“{values[found[example]]:.40}”: an example has one."
        )
    return np.array(values)[found]


def _one_split(column: pa.ChunkedArray | None) -> str:
    if column is None:
        return ""
    values = [one for one in column.unique().to_pylist() if one]
    if len(values) > 1:
        raise PredictionsError(
            f"its rows are of {len(values)} splits (“{values[0]:.40}”, “{values[1]:.40}”): give "
            "those of one."
        )
    return shown(values[0])[:80] if values else ""


def _said(names: tuple[str, ...], bounded: bool = False) -> tuple[str, ...] | None:
    """Names that say something; None where there are none, or numbers as we give them too."""
    plain = [str(number) for number in range(len(names))]
    counted = [str(number + 1) for number in range(len(names))]
    if not names or list(names) in (plain, counted, [""]):
        return None
    return checked("member_names", names) if bounded else names
