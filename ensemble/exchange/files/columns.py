"""Which column of a table is what: example, member, epoch, label, the classes, and what is beside.

Classes are columns `p_NAME` or `logit_NAME`; a table without any has one column a class, named as
the class is. What is neither those nor listed here is kept beside the examples.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ensemble.errors import PredictionsError
from ensemble.files.columns import ROLE_NAMES, ROW_NUMBERS, fold_name, is_statistic_name
from ensemble.files.table import check_distinct_columns, is_plain_number

_KEY_NAMES = {key: ROLE_NAMES[key] for key in ("example", "member", "epoch", "label", "split", "group")}
# What stands beside the classes and is none.
_IGNORED_COLUMNS = ROW_NUMBERS | {*ROLE_NAMES["prediction"], *ROLE_NAMES["confidence"], "correct", "index", "row"}
_PROBABILITY_PREFIX = "(?:p|prob|proba|probability)"
_PREFIXES = {
    "probabilities": re.compile(rf"{_PROBABILITY_PREFIX}[_ ]?(\d+)|{_PROBABILITY_PREFIX}_(.+)"),
    "logits": re.compile(r"logits?[_ ]?(\d+)|logits?_(.+)"),
}
_SINGLE_COLUMNS = {
    "p": "probabilities",
    "probability": "probabilities",
    "prob": "probabilities",
    "proba": "probabilities",
    "y_prob": "probabilities",
    "y_proba": "probabilities",
    "y_score": "probabilities",
    "score": "probabilities",
    "logit": "logits",
}
_MOST_COLUMNS = 2200
_CLASSES_HINT = "name them p_0, p_1 … (or p_NAME), logits logit_0 …"


@dataclass(frozen=True)
class TableColumns:
    """Where in a table what stands.

    Attributes:
      key_columns: the column of "example", "member", "epoch", "label", "split", "group",
        "prediction" and "confidence", where there is one.
      kind: "probabilities" or "logits".
      class_columns: the columns of the classes, in the classes' order; of tables without prefixes
        also numbers that may turn out to be none.
      class_names: of the classes; None if they are numbered, or one column stands for two.
      ignored: columns that nothing is made of.
      member_parts: columns that may tell members apart.
      attributes: other columns, which say something of the examples.
    """

    key_columns: dict[str, str]
    kind: str
    class_columns: tuple[str, ...]
    class_names: tuple[str, ...] | None
    ignored: tuple[str, ...] = ()
    member_parts: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def text_columns(self) -> list[str]:
        """The columns that are read as text, each once."""
        return list(dict.fromkeys([*self.key_columns.values(), *self.member_parts, *self.attributes]))


def parse_table_columns(columns: Sequence[str], text_columns: Collection[str] = ()) -> TableColumns:
    """What each column of a table is.

    Raises:
      PredictionsError: there are no columns of classes, or two of one name, or both probabilities
        and logits.
    """
    check_distinct_columns(columns)
    if len(columns) > _MOST_COLUMNS:
        raise PredictionsError(f"it has {len(columns):,} columns: give one for each of at most 2,000 classes.")
    keys = _match_key_columns(columns)
    rest = [column for column in columns if column not in keys.values()]
    kind, class_columns, names = _find_class_columns(rest, keys, text_columns)
    if not class_columns:
        raise PredictionsError(_describe_missing_classes(keys))
    parts, attributes, ignored = [], [], []
    for column in rest:
        word = fold_name(column)
        if column in class_columns:
            continue
        if word in _IGNORED_COLUMNS:
            ignored.append(column)
        elif word in ROLE_NAMES["member part"]:
            parts.append(column)
        else:
            attributes.append(column)
    return TableColumns(
        key_columns=keys,
        kind=kind,
        class_columns=class_columns,
        class_names=names,
        ignored=tuple(ignored),
        member_parts=tuple(parts),
        attributes=tuple(attributes),
    )


def has_class_columns(columns: Sequence[str], text_columns: Collection[str], labels: Collection[str]) -> bool:
    """Return whether a table holds classes' probabilities or logits, whatever else it has.

    The labels decide: they are text or numbers of the classes that the columns are named after.
    Columns such as `mean` and `std` next to `p_0`, `p_1` … do not make it a table of numbers.

    Args:
      columns: their names.
      text_columns: those without numbers.
      labels: different cells of the label's column, those of the first rows at least.
    """
    try:
        found = parse_table_columns(columns, text_columns)
    except PredictionsError:
        return False
    known = {cell.strip().removesuffix(".0") for cell in labels} - {"", "-1"}
    numbers = [label for label in known if is_plain_number(label)]
    classes = [column for column in found.class_columns if not is_statistic_name(column)]
    if not known or not classes:
        return False
    if len(classes) == 1:
        return fold_name(classes[0]) in _SINGLE_COLUMNS and len(known) <= 2 and (known <= {"0", "1"} or not numbers)
    prefixed = any(_match_prefixed_columns(columns, pattern, text_columns) for pattern in _PREFIXES.values())
    if prefixed and not numbers:
        return True
    names = set(found.class_names or map(str, range(len(classes))))
    positions = {str(place) for place in range(len(classes) + 1)}  # counted from 0 or from 1
    return known <= names or (prefixed and known <= positions)


def is_number_type(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _find_class_columns(
    rest: Sequence[str], keys: dict[str, str], text_columns: Collection[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...] | None]:
    """What the classes' numbers are, their columns and names; no columns where there are none."""
    prefixed = {
        kind: prefixed_columns
        for kind, pattern in _PREFIXES.items()
        if (prefixed_columns := _match_prefixed_columns(rest, pattern, text_columns))
    }
    if len(prefixed) > 1:
        raise PredictionsError("it has columns of probabilities and of logits: keep one of them.")
    for kind, prefixed_columns in prefixed.items():
        return kind, *_sort_class_columns(prefixed_columns)
    named = tuple(
        column
        for column in rest
        if column not in text_columns
        and fold_name(column) not in {*_IGNORED_COLUMNS, *ROLE_NAMES["member part"]}
        and not any(fold_name(column) in _KEY_NAMES[key] for key in ("example", "member", "epoch"))
    )
    letters = len(named) > 2 and all(len(column.strip()) == 1 for column in named)
    for candidate in () if letters else rest:  # a class of letters is called p too
        if (word := fold_name(candidate)) in _SINGLE_COLUMNS:
            return _SINGLE_COLUMNS[word], (candidate,), None
    if len(named) >= 2:
        return "probabilities", named, tuple(map(str.strip, named))
    confidence = [column for column in rest if fold_name(column) in ROLE_NAMES["confidence"]]
    if confidence and "prediction" in keys:
        return "probabilities", (confidence[0],), None
    return "probabilities", (), None


def _match_key_columns(columns: Sequence[str]) -> dict[str, str]:
    key_columns: dict[str, str] = {}
    names = {**_KEY_NAMES, "prediction": ROLE_NAMES["prediction"]}
    for key, aliases in names.items():
        for name in aliases:
            for column in columns:
                if key not in key_columns and fold_name(column) == name:
                    key_columns[key] = column
    return key_columns


def _match_prefixed_columns(
    columns: Sequence[str], pattern: "re.Pattern[str]", text_columns: Collection[str]
) -> dict[str, str]:
    matches = {
        column: match
        for column in columns
        if column not in text_columns and (match := pattern.fullmatch(column.strip()))
    }
    return {column: match[1] or match[2] for column, match in matches.items()}


def _sort_class_columns(class_columns: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The columns in the classes' order, and the classes' names, None for plain numbers."""
    digits = {column: name for column, name in class_columns.items() if name.isascii() and name.isdigit()}
    if len(digits) > 1 and (
        len(digits) == len(class_columns)
        or sorted(int(name[:9]) for name in digits.values()) == list(range(len(digits)))
    ):  # names beside the numbers 0, 1 … are none of classes
        numbers = sorted((int(name[:9]), column) for column, name in digits.items())
        order = tuple(column for _, column in numbers)
        if [number for number, _ in numbers] == list(range(len(numbers))):
            return order, None
        return order, tuple(str(number) for number, _ in numbers)
    return tuple(class_columns), tuple(class_columns.values()) if len(class_columns) > 1 else None


def _describe_missing_classes(keys: dict[str, str]) -> str:
    if "prediction" in keys:
        return (
            "it has no columns of classes, only what is predicted "
            f"(“{keys['prediction']:.60}”): give the probability of each class, and {_CLASSES_HINT}."
        )
    return f"it has no columns of classes: {_CLASSES_HINT}."
