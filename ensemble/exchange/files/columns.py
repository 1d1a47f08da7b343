"""Which column of a table is what: example, member, epoch, label, and the classes.

Classes are columns `p_NAME` or `logit_NAME`; a table without any has one column a class, named as
the class is, and nothing else but the columns listed here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.errors import PredictionsError

# What a column is, by the names that people give it; the first is the one that is documented.
KEY_NAMES = {
    "example": ("example", "example_id", "id"),
    "member": ("member", "model", "member_id", "model_id"),
    "epoch": ("epoch",),
    "label": ("label", "labels", "y_true", "target", "true_label"),
    "split": ("split",),
    "group": ("group", "groups", "group_id", "writer_id", "patient_id", "video_id"),
}
# A table's own numbers of its rows, of which nothing need be said.
ROW_NUMBERS = {"__index_level_0__", "unnamed: 0", ""}
# What stands beside the classes and is none.
IGNORED_COLUMNS = ROW_NUMBERS | {
    "prediction",
    "predicted",
    "pred",
    "y_pred",
    "confidence",
    "correct",
    "index",
    "row",
}
PROBABILITY_PREFIX = "(?:p|prob|proba|probability)"
PREFIXES = {
    "probabilities": re.compile(rf"{PROBABILITY_PREFIX}[_ ]?(\d+)|{PROBABILITY_PREFIX}_(.+)"),
    "logits": re.compile(r"logits?[_ ]?(\d+)|logits?_(.+)"),
}
SINGLE_COLUMNS = {"p": "probabilities", "probability": "probabilities", "logit": "logits"}
MOST_COLUMNS = 1100


@dataclass(frozen=True)
class TableColumns:
    """Where in a table what stands.

    Attributes:
      key_columns: the column of "example", "member", "epoch", "label", "split" and "group", where
        there is one.
      kind: "probabilities" or "logits".
      class_columns: the columns of the classes, in the classes' order.
      class_names: of the classes; None if they are numbered, or one column stands for two.
      ignored: columns that nothing is made of.
    """

    key_columns: dict[str, str]
    kind: str
    class_columns: tuple[str, ...]
    class_names: tuple[str, ...] | None
    ignored: tuple[str, ...]


def parse_table_columns(columns: Sequence[str]) -> TableColumns:
    """What each column of a table is.

    Raises:
      PredictionsError: there are no columns of classes, or two of one name, or both probabilities
        and logits.
    """
    if len(set(columns)) != len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise PredictionsError(f"its column “{twice:.60}” appears twice: keep one of them.")
    if len(columns) > MOST_COLUMNS:
        raise PredictionsError(
            f"it has {len(columns):,} columns: give one for each of at most 1,000 classes."
        )
    keys = _match_key_columns(columns)
    rest = [column for column in columns if column not in keys.values()]
    prefixed = {
        kind: prefixed_columns
        for kind, pattern in PREFIXES.items()
        if (prefixed_columns := _match_prefixed_columns(rest, pattern))
    }
    if len(prefixed) > 1:
        raise PredictionsError("it has columns of probabilities and of logits: keep one of them.")
    for kind, prefixed_columns in prefixed.items():
        order, names = _sort_class_columns(prefixed_columns)
        aside = tuple(column for column in rest if column not in prefixed_columns)
        return TableColumns(keys, kind, order, names, aside)
    for candidate in rest:
        if candidate.lower() in SINGLE_COLUMNS:
            aside = tuple(other for other in rest if other != candidate)
            return TableColumns(keys, SINGLE_COLUMNS[candidate.lower()], (candidate,), None, aside)
    reserved_names = IGNORED_COLUMNS.union(*KEY_NAMES.values())
    aside = tuple(column for column in rest if column.strip().lower() in reserved_names)
    named = tuple(column for column in rest if column not in aside)
    if len(named) < 2:
        raise PredictionsError(
            "it has no columns of classes: name them p_0, p_1 … (or p_NAME), logits logit_0 …."
        )
    return TableColumns(keys, "probabilities", named, tuple(map(str.strip, named)), aside)


def _match_key_columns(columns: Sequence[str]) -> dict[str, str]:
    key_columns: dict[str, str] = {}
    for key, names in KEY_NAMES.items():
        for name in names:
            for column in columns:
                if key not in key_columns and column.strip().lower() == name:
                    key_columns[key] = column
    return key_columns


def _match_prefixed_columns(columns: Sequence[str], pattern: "re.Pattern[str]") -> dict[str, str]:
    """Columns with the prefix, each with the class that it is of."""
    matches = {column: pattern.fullmatch(column.strip()) for column in columns}
    return {column: match[1] or match[2] for column, match in matches.items() if match}


def _sort_class_columns(
    class_columns: dict[str, str],
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The columns in the classes' order, and the classes' names, None for plain numbers."""
    if len(class_columns) > 1 and all(
        name.isascii() and name.isdigit() for name in class_columns.values()
    ):
        numbers = sorted((int(name[:9]), column) for column, name in class_columns.items())
        if [number for number, _ in numbers] == list(range(len(numbers))):
            return tuple(column for _, column in numbers), None
        order = tuple(column for _, column in numbers)
        return order, tuple(str(number) for number, _ in numbers)
    return tuple(class_columns), tuple(class_columns.values()) if len(class_columns) > 1 else None
