"""Which columns of a table are the classes', by what its rows say; one column of two classes."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.labels import BOOLEAN_LABELS
from ensemble.exchange.checks.names import sanitize_name
from ensemble.exchange.files.columns import TableColumns
from ensemble.exchange.files.row_keys import Texts, encode_texts
from ensemble.files.columns import ROLE_NAMES

_NOT_CLASSES = {"max", "margin", "min", "mean", "std", "sum", "norm", "entropy", "energy", "gap", "temperature"}
_PLACE_COLUMN = re.compile(r"(?:index|idx|class|label|top|pred|class_id|class_index)[_ ]?(\d+)")  # of sorted columns
_FEWEST_SORTED_ROWS = 10  # in which columns that only happen to be sorted are not to be feared
_SORTED_SHARE = 0.99
_SUM_TOLERANCE = 0.05  # of a row that is meant to be a distribution, however it was rounded
_MOST_SINGLE_TRIES = 64  # columns of which each is left out in turn
HALF = 0.5


def select_class_columns(
    columns: TableColumns, values: NDArray[Any], texts: Texts
) -> tuple[TableColumns, NDArray[Any], dict[str, NDArray[Any]], list[str]]:
    """The table without columns of numbers that are no classes' probabilities.

    Columns are none where rows sum to 1 without them and not with them.

    Args:
      columns: of the table.
      values: (R, K), what stands in its columns of classes.
      texts: R of each other column.

    Returns:
      The columns, (R, K') of those that are left, the numbers of those that are not, and what is
      to be said.
    """
    count = values.shape[1]
    labels = set(_list_distinct_texts(texts.get(columns.key_columns.get("label", ""))))
    if columns.kind == "logits" and columns.class_names is not None and count > 2:
        words = [name.strip().lower() for name in columns.class_names]
        kept = [
            place
            for place, word in enumerate(words)
            if word not in _NOT_CLASSES or columns.class_names[place] in labels
        ]
        if 2 <= len(kept) < count:
            aside = {column: values[:, n] for n, column in enumerate(columns.class_columns) if n not in kept}
            listing = ", ".join(f"“{column:.40}”" for column in aside)
            note = f"Columns that are not classes, because no label has their name: {listing}."
            return _keep_class_columns(columns, kept), values[:, kept], aside, [note]
    if columns.kind != "probabilities" or count < 3 or _are_distributions(values):
        return columns, values, {}, []
    free = [
        place
        for place, column in enumerate(columns.class_columns)
        if columns.class_names is None or columns.class_names[place] not in labels
    ]
    for dropped in _list_doubtful_sets(columns, values, free):
        kept = [place for place in range(count) if place not in dropped]
        if len(kept) >= 2 and _are_distributions(values[:, kept]):
            aside = {columns.class_columns[place]: values[:, place] for place in dropped}
            listing = ", ".join(f"“{column:.40}”" for column in list(aside)[:5])
            notes = [f"Columns that are no classes, as rows sum to 1 without them: {listing}."]
            return _keep_class_columns(columns, kept), values[:, kept], aside, notes
    return columns, values, {}, []


def order_sorted_columns(
    columns: TableColumns, values: NDArray[Any], texts: Texts
) -> tuple[NDArray[Any], tuple[str, ...], list[str]]:
    """The classes' numbers (R, C) in the classes' order, where a table has the largest first.

    Columns index_0, index_1 … say which class each number is of.

    Returns:
      The numbers, the columns that say it, and what is to be said.

    Raises:
      PredictionsError: in nearly every row the largest comes first and nothing says of which class it is.
    """
    count = values.shape[1]
    if columns.class_names is not None or count < 3 or len(values) < _FEWEST_SORTED_ROWS:
        return values, (), []
    if (np.diff(values, axis=1) <= 0).all(axis=1).mean() < _SORTED_SHARE:
        return values, (), []
    named = {
        int(match[1]): column
        for column in columns.attributes
        if (match := _PLACE_COLUMN.fullmatch(column.strip().lower()))
    }
    if sorted(named) in (list(range(count)), list(range(1, count + 1))):
        found = tuple(named[number] for number in sorted(named))
        places = np.empty(values.shape, np.int64)
        for n, column in enumerate(found):
            codes, distinct = _encode_texts(texts[column])
            numbers = np.array([int(text) if text.isdigit() and len(text) < 9 else -1 for text in distinct])
            places[:, n] = numbers[codes]
        if (np.sort(places, axis=1) == np.arange(count)).all():
            ordered = np.empty_like(values)
            np.put_along_axis(ordered, places, values, axis=1)
            note = f"Rows have the largest first: they were put in the classes' order by “{found[0]}” to “{found[-1]}”."
            return ordered, found, [note]
    raise PredictionsError(
        f"in nearly every row “{columns.class_columns[0]:.40}” is the largest and “{columns.class_columns[-1]:.40}” "
        "the smallest: the columns seem to be sorted by size, not by class. Give each class one column, p_0, p_1 …."
    )


def check_predictions(columns: TableColumns, values: NDArray[Any], texts: Texts, names: tuple[str, ...]) -> list[str]:
    """What is to be said of a column of predictions that are not the likeliest classes.

    Args:
      columns: of the table.
      values: (R, C), the classes' numbers.
      texts: R of each other column.
      names: of the classes.
    """
    column = columns.key_columns.get("prediction", "")
    if column not in texts:
        return []
    places = {name: place for place, name in enumerate(names)}
    codes, distinct = _encode_texts(texts[column])
    if not all(text in places for text in distinct):
        return [f"“{column:.40}” was not compared with the classes: it holds other names."]
    predicted = np.array([places[text] for text in distinct])[codes]
    top = values.max(axis=1)
    differing = int((values[np.arange(len(values)), predicted] < top).sum())
    if not differing:
        return []
    return [
        f"In {differing:,} of {len(values):,} rows “{column:.40}” is not the likeliest class: the "
        "columns of the classes were taken."
    ]


def resolve_single_column(
    columns: TableColumns, values: NDArray[Any], texts: Texts
) -> tuple[NDArray[Any], tuple[str, ...] | None, list[str]]:
    """One column of two classes, as what class 1 has: it is that, or class 0's, or the predicted's.

    Args:
      columns: of the table; one of them is of classes.
      values: (R, 1).
      texts: R of each other column.

    Returns:
      (R, 1) of class 1, the classes' names where the table says them, and what is to be said.

    Raises:
      PredictionsError: there are more classes, or what is predicted contradicts the column.
    """
    column = columns.class_columns[0]
    label_texts = texts.get(columns.key_columns.get("label", ""))
    suffix = column.strip().partition("_")[2]
    if column.strip().lower() in ROLE_NAMES["confidence"]:
        suffix = ""
    if "prediction" in columns.key_columns and columns.kind == "probabilities":
        return _resolve_by_prediction(columns, values, texts)
    labels = [text for text in _list_distinct_texts(label_texts) if text != "-1"]
    if suffix == "0":
        turned = 1 - values if columns.kind == "probabilities" else -values
        return turned, None, [f"“{column:.40}” was read as class 0's; class 1 has the rest."]
    if suffix in labels and len(labels) == 2 and not suffix.isdigit():
        other = next(text for text in labels if text != suffix)
        return values, (other, suffix), []
    return values, None, []


def _resolve_by_prediction(
    columns: TableColumns, values: NDArray[Any], texts: Texts
) -> tuple[NDArray[Any], tuple[str, ...] | None, list[str]]:
    column, prediction = columns.class_columns[0], columns.key_columns["prediction"]
    codes, distinct = _encode_texts(texts[prediction])
    labels = _list_distinct_texts(texts.get(columns.key_columns.get("label", "")))
    every = {text for text in (*distinct, *labels) if text != "-1"}
    names = _name_two_classes(every)
    if names is None:
        raise PredictionsError(
            f"its column “{column:.40}” has one probability for each example, and there are "
            f"{len(every):,} classes: give each class a column, p_0, p_1 … (or p_NAME)."
        )
    places = {name: place for place, name in enumerate(names)}
    said = np.array([places.get(text, 0) for text in distinct])[codes]
    shares = values[:, 0].astype(np.float64)
    plain = None if names == ("0", "1") or set(map(str.lower, names)) == set(BOOLEAN_LABELS) else names
    above, below = shares > HALF, shares < HALF
    if not (above & (said == 0)).any() and not (below & (said == 1)).any():
        return values, plain, []
    if bool((shares >= HALF - 1e-6).all()):
        turned = np.where(said == 1, shares, 1 - shares).astype(values.dtype)[:, None]
        note = f"“{column:.40}” was read as the probability of what “{prediction:.40}” says."
        return turned, plain, [note]
    if not (above & (said == 1)).any() and not (below & (said == 0)).any():
        note = f"“{column:.40}” was read as class 0's, as “{prediction:.40}” says."
        return 1 - values, plain, [note]
    if shares[said == 1].min(initial=np.inf) >= shares[said == 0].max(initial=-np.inf):
        threshold = float(shares[said == 1].min())
        note = f"“{prediction:.40}” is class 1 from “{column:.40}” {threshold:.3g} on, not from 0.5."
        return values, plain, [note]
    row = int(np.argmax((above & (said == 0)) | (below & (said == 1))))
    raise PredictionsError(
        f"its columns “{prediction:.40}” and “{column:.40}” contradict each other, first in row "
        f"{row + 1}: give the probability of each class, p_0 and p_1."
    )


def _name_two_classes(texts: set[str]) -> tuple[str, ...] | None:
    """Names of two classes in their order; None where there are more."""
    if texts <= {"0", "1"}:
        return "0", "1"
    if {text.lower() for text in texts} <= set(BOOLEAN_LABELS):
        return tuple(sorted(texts | ({"True"} if len(texts) < 2 else set()), key=str.lower))[:2]
    if len(texts) != 2:
        return None
    numbers = all(text.lstrip("-").isdigit() for text in texts)
    return tuple(sorted(texts, key=int if numbers else None))


def _list_distinct_texts(column: pa.ChunkedArray | None) -> list[str]:
    """The different texts of a column, as names are written; none of no column."""
    return [] if column is None else _encode_texts(column)[1]


def _encode_texts(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
    encoded = encode_texts(column)
    values = [*encoded.dictionary.to_pylist(), *([""] if encoded.null_count else [])]
    texts = [_strip_whole(sanitize_name(value)) for value in values]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([places[text] for text in texts], np.int64)
    return codes[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)], list(places)


def _strip_whole(text: str) -> str:
    """A whole number as such, also where it stands as 3.0."""
    whole = text.removesuffix(".0")
    return whole if whole.lstrip("-").isdigit() else text


def _keep_class_columns(columns: TableColumns, kept: list[int]) -> TableColumns:
    return replace(
        columns,
        class_columns=tuple(columns.class_columns[place] for place in kept),
        class_names=None if columns.class_names is None else tuple(columns.class_names[place] for place in kept),
    )


def _list_doubtful_sets(columns: TableColumns, values: NDArray[Any], free: list[int]) -> list[set[int]]:
    finite = np.where(np.isfinite(values), values, 0)
    outside = {n for n in free if (finite[:, n] < 0).any() or (finite[:, n] > 1).any()}
    rest = [n for n in range(values.shape[1]) if n not in outside]
    largest = {
        n
        for n in free
        if n not in outside
        and len(rest) > 2
        and np.array_equal(finite[:, n], np.delete(finite, [n, *outside], axis=1).max(axis=1))
    }
    largest = largest if len(largest) == 1 else set()
    whole = {n for n in free if bool((np.floor(finite[:, n]) == finite[:, n]).all())}
    sets = [outside, outside | largest, set(free), outside | largest | whole]
    if len(free) <= _MOST_SINGLE_TRIES:
        sets += [outside | {n} for n in free]
        sets += [outside | whole | {n} for n in free]
    return [chosen for chosen in sets if chosen]


def _are_distributions(values: NDArray[Any]) -> bool:
    """Whether rows (R, K) sum to 1, or to 100."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums = values.sum(axis=1, dtype=np.float64)
    return any(bool((np.abs(sums - total) <= _SUM_TOLERANCE * total).mean() > 0.99) for total in (1, 100))
