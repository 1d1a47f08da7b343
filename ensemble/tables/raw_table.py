"""A table as it was read: columns of numbers, of text, and of what is neither."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import DataError

NUMBER, TEXT, DATE, OTHER = "number", "text", "date", "other"
_MOST_COLUMNS_LISTED = 12  # in a refusal


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column.

    Attributes:
      name: as the table has it.
      kind: `NUMBER`, `TEXT`, `DATE`, or `OTHER` for lists and the like.
      values: (N,), float64 with NaN where a number is missing, or text with None where it is;
        empty of dates and others.
      notes: what was assumed when it was read, in sentences.
    """

    name: str
    kind: str
    values: NDArray[np.generic]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RawTable:
    """All columns of a table.

    Attributes:
      name: of the file, for people.
      rows: N.
      columns: in their order, no two of one name.
      notes: what was assumed of the whole, in sentences.
      decimal: "comma" if numbers were read with a decimal comma, else "point"; "" if it was not text.
      chosen_decimal: the same where somebody chose it; "" where the cells decided.
    """

    name: str
    rows: int
    columns: tuple[RawColumn, ...]
    notes: tuple[str, ...] = ()
    decimal: str = ""
    chosen_decimal: str = ""

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(column.name for column in self.columns)

    def find_column(self, name: str) -> RawColumn:
        """The column of this name, also where only case or blanks around it differ.

        Raises:
          DataError: there is none; lists those that there are.
        """
        for column in self.columns:
            if column.name == name:
                return column
        folded = name.strip().casefold()
        alike = [each for each in self.columns if each.name.strip().casefold() == folded]
        if len(alike) == 1:
            return alike[0]
        raise DataError(
            f"{self.name} has no column “{name:.60}”: its columns are {format_column_names(self.column_names)}."
        )


def format_column_names(names: Sequence[str]) -> str:
    listed = ", ".join(f"{name:.60}" for name in names[:_MOST_COLUMNS_LISTED])
    more = len(names) - _MOST_COLUMNS_LISTED
    return f"{listed} and {more:,} more" if more > 0 else listed
