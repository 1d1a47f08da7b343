"""Text cells of a table as numbers: decimal and thousands signs, units and missing values.

The signs of a column are decided by all its rows. A cell such as "1,234" can be read in two ways: it
follows the cells of its column that allow only one, else the other columns of the file. If nothing
decides, the user has to.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ensemble.errors import ConfigError, DataError

POINT, COMMA = "point", "comma"
DECIMAL_SIGNS = (POINT, COMMA)
_CHOICE_HINT = 'Choose one: `--decimal point` or `--decimal comma`, in Python decimal="point" or decimal="comma".'
_MISSING_WORDS = (
    *("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "?", "-", ".", "missing"),
    *("#value!", "#div/0!", "#ref!", "inf", "-inf", "+inf"),
)
_SPACES = r" '’\x{00a0}\x{202f}\x{2009}"
_CHARACTERS = {POINT: (r"\.", ","), COMMA: (",", r"\.")}  # decimal sign, thousands sign
# Of each reading: a plain number, and one with thousands signs. No group of thousands begins with 0.
_PLAIN = {
    name: rf"^[+-]?(\d+({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?$" for name, (decimal, _) in _CHARACTERS.items()
}
_GROUPED = {
    name: rf"^[+-]?[1-9]\d{{0,2}}(({thousands}\d{{3}})+|([{_SPACES}]\d{{3}})+)({decimal}\d*)?$"
    for name, (decimal, thousands) in _CHARACTERS.items()
}
_TWO_READINGS = r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"
_UNITS = r"[$€£¥₹%]|USD|EUR|GBP|CHF|JPY"
_UNIT_PATTERN = (
    rf"^(?P<sign>[+-]?)\s*(?P<before>{_UNITS})?\s*(?P<number>[+-]?[\d.,{_SPACES}]+?)\s*(?P<after>{_UNITS})?$"
)
_LEAST_NUMBER_SHARE = 0.95  # of a column's cells, for it to be one of numbers


class DecimalSignError(DataError):
    """Numbers can be read with a decimal point or a decimal comma, and nothing in the file decides.

    `question` is the message without the options of commands and Python, for a page that asks.
    """

    def __init__(self, question: str) -> None:
        super().__init__(f"{question} {_CHOICE_HINT}")
        self.question = question


@dataclass(frozen=True)
class NumberRules:
    """What is known of the numbers in a table before they are read.

    Attributes:
      decimal: "point" or "comma", chosen by the user; "" for what the cells say.
      fallback: the same where two readings are left; "" to ask.
      numbers: columns that are numbers, whatever their cells look like.
      texts: columns that are not.
    """

    decimal: str = ""
    fallback: str = ""
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.decimal not in ("", *DECIMAL_SIGNS):
            raise ConfigError(f'decimal is {self.decimal!r:.40}: choose "point" or "comma", or leave it out.')


@dataclass(frozen=True, eq=False)
class NumberCells:
    """The numbers of one column.

    Attributes:
      values: (N,) float64, NaN where a cell is missing or no number.
      notes: what was assumed, in sentences.
      strange: (N,), which cells are neither missing nor a number; None if all are.
      decimal: `COMMA` where a decimal comma was read, else `POINT`.
    """

    values: NDArray[np.float64]
    notes: tuple[str, ...] = ()
    strange: NDArray[np.bool_] | None = None
    decimal: str = POINT


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of text, without spaces around its cells, and what its cells can be read as."""

    cells: pa.ChunkedArray
    unit: str
    readable: dict[str, pa.ChunkedArray]
    ambiguous: pa.ChunkedArray
    present: int

    @property
    def sign(self) -> str:
        """The decimal sign that its cells decide; "" where both readings are left."""
        only = {
            name: _count(pc.and_not(self.readable[name], self.readable[other]))
            for name, other in ((POINT, COMMA), (COMMA, POINT))
        }
        if not any(only.values()):
            return "" if _count(self.ambiguous) else POINT
        return max(only, key=lambda name: only[name])

    @property
    def has_numbers(self) -> bool:
        """Whether nearly all cells are numbers in one of the readings."""
        most = max(_count(mask) for mask in self.readable.values())
        return most >= _LEAST_NUMBER_SHARE * self.present


def trim_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text without spaces around its cells; null where a value is missing."""
    column = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    missing = pc.is_in(pc.utf8_lower(column), value_set=pa.array(_MISSING_WORDS, pa.large_string()))
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), column)


def read_number_columns(
    columns: Mapping[str, pa.ChunkedArray], delimiter: str, rules: NumberRules
) -> tuple[dict[str, NumberCells], dict[str, str]]:
    """The columns of text that are numbers, and those that can be read in two ways; others are left out.

    Args:
      columns: each column's cells, as text, N of them.
      delimiter: the file's. A point between digits is a decimal point where commas separate cells.
      rules: what is known before.

    Returns:
      The numbers by the columns' names, and a sentence for each column with two readings.
    """
    trimmed = {name: trim_cells(column) for name, column in columns.items() if name not in rules.texts}
    decimal = rules.decimal
    plain = dict[str, NumberCells]()
    if delimiter == "," and decimal != COMMA:  # the usual file, which needs no decision
        for name, cells in trimmed.items():
            try:
                plain[name] = NumberCells(_convert_to_doubles(cells))
            except pa.ArrowInvalid:
                continue
    examined = {name: _examine_column(cells) for name, cells in trimmed.items() if name not in plain}
    numbers = {name: column for name, column in examined.items() if column.has_numbers or name in rules.numbers}
    signs = {name: decimal or column.sign for name, column in numbers.items()}
    decided = {signs[name] for name, column in numbers.items() if signs[name] and _is_decisive(column)}
    if COMMA in decided and plain:  # then points may separate thousands there too
        for name in list(plain):
            column = _examine_column(trimmed[name])
            if column.has_numbers and (column.sign != POINT or _count(column.ambiguous)):
                del plain[name]
                numbers[name], signs[name] = column, column.sign
                decided |= {column.sign} if column.sign and _is_decisive(column) else set()
    if any(_has_decimals(cells) for cells in plain.values()):
        decided.add(POINT)
    found, ambiguous = dict[str, NumberCells](), dict[str, str]()
    for name in trimmed:
        if name in plain:
            found[name] = plain[name]
        elif name in numbers:
            column = numbers[name]
            sign = signs[name] or (next(iter(decided)) if len(decided) == 1 else rules.fallback)
            if not sign:
                example = pc.filter(column.cells, column.ambiguous)[0].as_py()
                if delimiter != "," or "," in example:
                    ambiguous[name] = _describe_two_readings(name, example)
                    continue
                sign = POINT
            found[name] = _convert_column(name, column, sign)
    return found, ambiguous


def _describe_two_readings(name: str, example: str) -> str:
    point = example.replace(",", "")
    comma = example.replace(".", "") if "." in example else example.replace(",", ".")
    return (
        f"the numbers of “{name:.60}” can be read in two ways: “{example:.30}” is {point:.30} with a decimal point "
        f"and {comma:.30} with a decimal comma."
    )


def _count(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)


def _is_decisive(column: _Column) -> bool:
    """Whether a cell can be read in one way alone."""
    return _count(pc.xor(column.readable[POINT], column.readable[COMMA])) > 0


def _has_decimals(cells: NumberCells) -> bool:
    values = cells.values[~np.isnan(cells.values)]
    return bool((values != np.floor(values)).any())


def _examine_column(cells: pa.ChunkedArray) -> _Column:
    present = len(cells) - cells.null_count
    cells = pc.replace_substring(cells, "\u2212", "-")
    unit, without = _strip_unit(cells)
    readable = {
        name: pc.fill_null(
            pc.or_(pc.match_substring_regex(without, _PLAIN[name]), pc.match_substring_regex(without, _GROUPED[name])),
            False,
        )
        for name in DECIMAL_SIGNS
    }
    ambiguous = pc.fill_null(pc.match_substring_regex(without, _TWO_READINGS), False)
    return _Column(without, unit, readable, ambiguous, present)


def _strip_unit(cells: pa.ChunkedArray) -> tuple[str, pa.ChunkedArray]:
    """The one currency or percent sign of a column, and its cells without it."""
    marked = pc.fill_null(pc.match_substring_regex(cells, _UNITS), False)
    if not _count(marked):
        return "", cells
    parts = pc.extract_regex(pc.filter(cells, marked), _UNIT_PATTERN)
    parts = parts.combine_chunks() if isinstance(parts, pa.ChunkedArray) else parts
    units = {
        unit for part in ("before", "after") for unit in pc.unique(pc.struct_field(parts, part)).to_pylist() if unit
    }
    if len(units) != 1 or parts.null_count:
        return "", cells
    (unit,) = units
    without = pc.replace_substring_regex(cells, rf"\s*({_UNITS})\s*", "")
    return unit, pc.utf8_trim_whitespace(without)


def _convert_column(name: str, column: _Column, sign: str) -> NumberCells:
    cells, numbers = column.cells, column.readable[sign]
    _, thousands = _CHARACTERS[sign]
    notes = []
    has_commas = sign == COMMA and pc.any(pc.match_substring(pc.filter(cells, numbers), ",")).as_py()
    if pc.any(pc.match_substring_regex(pc.filter(cells, numbers), _GROUPED[sign])).as_py():
        notes.append(f"{name}: signs between thousands are left out.")
    if column.unit:
        notes.append(f"{name}: the sign {column.unit} is left out.")
    strange = pc.and_(pc.is_valid(cells), pc.invert(numbers))
    if others := _count(strange):
        what = "1 cell that is no number" if others == 1 else f"{others:,} cells that are no number"
        first = pc.filter(cells, strange)[0].as_py()
        notes.append(f"{name}: {what} (“{first:.30}”) {'counts' if others == 1 else 'count'} as missing.")
    cells = pc.if_else(numbers, cells, pa.scalar(None, pa.large_string()))
    cells = pc.replace_substring_regex(cells, rf"{thousands}|[{_SPACES}]|^\+", "")
    if sign == COMMA:
        cells = pc.replace_substring(cells, ",", ".")
    return NumberCells(
        _convert_to_doubles(cells),
        tuple(notes),
        strange=strange.to_numpy() if others else None,
        decimal=COMMA if has_commas else POINT,
    )


def _convert_to_doubles(cells: pa.ChunkedArray) -> NDArray[np.float64]:
    values = np.array(cells.cast(pa.float64()).to_numpy(), np.float64)
    values[np.isinf(values)] = np.nan
    return values
