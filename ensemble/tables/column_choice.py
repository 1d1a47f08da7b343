"""Which columns of a table are learnt from, and why the others are not."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import DataError
from ensemble.files.columns import ROLE_NAMES, fold_name, list_unused_notes
from ensemble.tables.raw_table import DATE, NUMBER, TEXT, RawColumn, RawTable, format_column_names

_MOST_CATEGORIES = 50
_FEW_CATEGORIES = 5  # as many may differ in most rows of a small table
# Names of columns that number or name the rows; where their values all differ they say nothing.
_ID_NAMES = {
    *("id", "index", "row", "rowid", "row_id", "rownames", "row_names", "key", "uid", "uuid"),
    *("unnamed: 0", "__index_level_0__", ""),
}
_ID_ENDS = ("_id", " id")
# Numbers that often stand for a missing value; they are named where all others are far from them.
_MISSING_CODES = (*(sign * code for code in (99.0, 999.0, 9999.0, 99999.0, 1e9) for sign in (-1, 1)), -1.0)
_FAR = 2.0  # ranges of the others
_FEWEST_OTHERS = 10  # rows, by which anything is concluded
_SAME_SHARE = 1 - 1e-5  # of the target's variance, which a rounded copy still explains


@dataclass(frozen=True)
class ColumnChoice:
    """What a table's columns are to a model.

    Attributes:
      target: the column that is predicted.
      numbers: columns that are numbers, by name.
      categories: columns of which each value becomes a column of its own.
      left_out: other columns, each with the reason.
    """

    target: str
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def choose_table_columns(
    table: RawTable, target: RawColumn, leave_out: Mapping[str, str], as_categories: Collection[str] = ()
) -> ColumnChoice:
    """What each column of a table is, decided by its values, and names only for ids.

    Args:
      table: as it was read.
      target: of `find_target_column`.
      leave_out: columns that are not learned from, each with the reason; "" if it is used in another way.
      as_categories: columns of numbers that stand for kinds.

    Raises:
      DataError: there is no such column, or no column is left to learn from.
    """
    dropped = {table.find_column(name).name: reason for name, reason in leave_out.items()}
    kinds = {table.find_column(name).name for name in as_categories}
    if target.name in dropped.keys() | kinds:
        raise DataError(f"“{target.name:.60}” is the target: it cannot be learnt from as well.")
    known = ~np.isnan(np.asarray(target.values, np.float64))
    numbers, categories, left_out = list[str](), list[str](), list[tuple[str, str]]()
    counters = list[str]()
    for column in table.columns:
        if column is target:
            continue
        if column.name in dropped:
            left_out += [(column.name, reason)] if (reason := dropped[column.name]) else []
        elif reason := _explain_unusable_column(column, known, column.name in kinds):
            left_out.append((column.name, reason))
        elif column.kind == TEXT or column.name in kinds:
            categories.append(column.name)
        else:
            numbers.append(column.name)
            if column.name not in kinds and _counts_rows(column):
                counters.append(column.name)
    if len(counters) < len(numbers) + len(categories):
        numbers = [name for name in numbers if name not in counters]
        left_out += [(name, "numbers the rows") for name in counters]
    if not numbers and not categories:
        reasons = "; ".join(f"{name:.40}: {reason}" for name, reason in left_out[:6])
        raise DataError(
            f"{table.name} has no column to predict “{target.name:.60}” from"
            f"{f' ({reasons})' if reasons else ''}: add columns of numbers or categories."
        )
    return ColumnChoice(target.name, tuple(numbers), tuple(categories), tuple(left_out))


def list_choice_notes(table: RawTable, choice: ColumnChoice) -> list[str]:
    notes = []
    if choice.numbers:
        notes.append(f"Learned from as numbers: {format_column_names(choice.numbers)}.")
    if choice.categories:
        each = [f"{name} ({len(_list_category_values(table.find_column(name)))} values)" for name in choice.categories]
        notes.append(f"As categories, a column for each value: {format_column_names(each)}.")
    return [*notes, *list_unused_notes(dict(choice.left_out))]


def list_column_doubts(table: RawTable, choice: ColumnChoice, in_time_order: bool, group: str) -> list[str]:
    """What to look at in the columns before their answers are trusted, in sentences.

    Numbers that often stand for a missing value, a column that is the target times a factor, dates, and columns that
    are called as groups are and are not `group`.
    """
    doubts = list[str]()
    target = np.asarray(table.find_column(choice.target).values, np.float64)
    for name in (choice.target, *choice.numbers):
        values = np.asarray(table.find_column(name).values, np.float64)
        doubts += [
            f"{name:.60} is {code:,.10g} in {formats} and {low:,.6g} to {high:,.6g} elsewhere: if it means a "
            "missing value, empty those cells."
            for code, formats, low, high in _find_missing_codes(values)
        ]
        if name != choice.target and (share := _explain_linearly(values, target)) > _SAME_SHARE:
            doubts.append(
                f"{choice.target:.60} lies on a straight line of {name:.60} (R² {share:.7g}), as a copy in another "
                "unit does: leave the column out unless it is known before the target is."
            )
    doubts += [
        f"{column.name:.60} has {count:,} values in {table.rows:,} rows: if rows with the same value belong together, "
        f"choose it as the group (--group {shlex.quote(column.name)}), so that none is both in training and in test."
        for column in table.columns
        if not group and column.name != choice.target and (count := _count_groups(column))
    ]
    dates = [column.name for column in table.columns if column.kind == DATE]
    if dates and not in_time_order:
        doubts.append(
            f"{dates[0]:.60} holds dates: to predict later rows from earlier ones, sort the rows by it and choose "
            "“rows are in time order” (--time-order), which tests on the last ones."
        )
    return doubts


def _count_groups(column: RawColumn) -> int:
    """How many groups a column with the name of one has; 0 if it has another name, or few rows share a value."""
    name = fold_name(column.name)
    if column.kind not in (NUMBER, TEXT) or not (name in ROLE_NAMES["group"] or name.endswith(_ID_ENDS)):
        return 0
    texts = [text for text in convert_to_texts(column) if text is not None]
    count = len(set(texts))
    return count if 1 < count <= len(texts) / 2 else 0


def _find_missing_codes(values: NDArray[np.float64]) -> list[tuple[float, str, float, float]]:
    """Codes such as -999 far from all other values: each code, in how many rows, and the others' range."""
    found = []
    for code in _MISSING_CODES:
        rest = values[~np.isnan(values) & (values != code)]
        count = int((values == code).sum())
        if not count or len(rest) < _FEWEST_OTHERS:
            continue
        low, high = float(rest.min()), float(rest.max())
        if not low - _FAR * (high - low) <= code <= high + _FAR * (high - low):
            found.append((code, "1 row" if count == 1 else f"{count:,} rows", low, high))
    return found


def _explain_linearly(values: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    """R² of a straight line from a column to the target; 0 if they are in too few rows or the same in all."""
    known = ~np.isnan(values) & ~np.isnan(target)
    column, wanted = values[known], target[known]
    if len(column) < _FEWEST_OTHERS or not column.std() or not wanted.std():
        return 0.0
    return float(np.corrcoef(column, wanted)[0, 1]) ** 2


def _list_category_values(column: RawColumn) -> list[str]:
    """The values that a column has, as text, sorted; missing ones are none."""
    return sorted({text for text in convert_to_texts(column) if text is not None})


def convert_to_texts(column: RawColumn) -> list[str | None]:
    """A column's values as categories: a number by its shortest form, None where one is missing."""
    if column.kind == TEXT:
        return [None if value is None else str(value) for value in column.values.tolist()]
    numbers = np.asarray(column.values, np.float64)
    return [None if np.isnan(value) else f"{value:.15g}" for value in numbers]


def find_target_column(table: RawTable, name: str) -> RawColumn:
    """The column to predict; DataError if there is none, or it is no number or always the same."""
    column = table.find_column(name)
    if column.kind != NUMBER:
        kind = "dates" if column.kind == DATE else "text"
        raise DataError(
            f"The column “{column.name:.60}” of {table.name} is {kind}, not numbers: choose a "
            "column of numbers as the target (for classes, train with --task classification)."
        )
    known = np.asarray(column.values, np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        raise DataError(f"The column “{column.name:.60}” of {table.name} is empty.")
    if (known == known[0]).all():
        raise DataError(
            f"The column “{column.name:.60}” of {table.name} is {known[0]:g} in every row: there is nothing to predict."
        )
    return column


def _explain_unusable_column(column: RawColumn, known: np.ndarray, as_category: bool) -> str:
    """Why nothing can be learnt from a column in the rows `known` (N,); "" where it can."""
    if column.kind == DATE:
        return "dates"
    if column.kind not in (NUMBER, TEXT):
        return "neither numbers nor text"
    if column.kind == TEXT or as_category:
        texts = [text for text, row in zip(convert_to_texts(column), known, strict=True) if row]
        values = {text for text in texts if text is not None}
        present = sum(text is not None for text in texts)
        if not values:
            return "empty"
        if len(values) == 1 and present == len(texts):
            return "the same in every row"
        if len(values) > _FEW_CATEGORIES and 2 * len(values) > present:
            return "text that differs from row to row"
        if len(values) > _MOST_CATEGORIES:
            return f"{len(values):,} different values, more than {_MOST_CATEGORIES}"
        return ""
    numbers = np.asarray(column.values, np.float64)[known]
    present_numbers = numbers[~np.isnan(numbers)]
    if not len(present_numbers):
        return "empty"
    if len(present_numbers) == len(numbers) and (present_numbers == present_numbers[0]).all():
        return "the same in every row"
    name = column.name.strip().casefold()
    is_id = name in _ID_NAMES or name.endswith(_ID_ENDS)
    if is_id and len(np.unique(present_numbers)) == len(present_numbers):
        return "names the rows"
    return ""


def _counts_rows(column: RawColumn) -> bool:
    """Whether a column is 0, 1, 2 … or 1, 2, 3 … from row to row."""
    numbers = np.asarray(column.values, np.float64)
    if len(numbers) < 3 or numbers[0] not in (0.0, 1.0):
        return False
    return bool(np.array_equal(numbers, numbers[0] + np.arange(len(numbers))))
