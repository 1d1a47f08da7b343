"""So many lines of a history as curves need, however long it is: chosen before they are parsed."""

import re
from dataclasses import dataclass

from ensemble.storage.records.history_lines import Line
from ensemble.storage.records.json_lines import MOST_ROW_BYTES, parse_history_line

# A run writes a line of steps about once a second: of the first hours all are kept.
MOST_STEP_ROWS = 16_384
MOST_STEP_BYTES = 16 * 2**20  # as JSON; parsed ten times as much
# What closes an epoch, or is written for some members before that. Of these no run has as many.
_EPOCH_ROW = re.compile(rb'"kind"\s*:\s*"(?:epoch|members)"')
_MOST_EPOCH_ROWS = 16_384
_STEP_ROW_START = b'{"kind": "steps"'  # as this program writes them


@dataclass
class _SelectedRow:
    """A row that stays, and where it stands; parsed when it is asked for first.

    Attributes:
      place: its number among all rows, from 0.
      number: among those that are thinned, from 0; −1 of one that always stays.
      nbytes: as JSON.
      row: without its end; b"" once it is parsed.
      line: what it says; None where that is no line of a history, or not parsed yet.
    """

    place: int
    number: int
    nbytes: int
    row: bytes
    line: Line | None = None

    def parse(self, members: int | None) -> Line | None:
        """What it says; None where that is no line of a history."""
        if self.row:
            self.line, self.row = parse_history_line(self.row, members), b""
        return self.line


class LineThinner:
    """Takes a history's rows one after the other; of steps it keeps every 1st, 2nd, 4th and so on.

    As a history grows, what is kept gets sparser from its beginning on, at the same places whenever
    it is read; the last line of steps is always there, as are all that close an epoch.

    Args:
      members: M, where it is known: see `parse_history_line`.
    """

    def __init__(self, members: int | None = None) -> None:
        self._members = members
        self._selected: list[_SelectedRow] = []
        self._rows, self._epoch_rows, self._thinned_rows, self._stride = 0, 0, 0, 1
        self._step_rows, self._step_bytes = 0, 0
        self._last_row: tuple[int, bytes] | None = None  # place and row, where it is not kept

    def add_row(self, row: bytes) -> None:
        """Take the next row, without its end; one that is too long for any line counts for none."""
        if len(row) > MOST_ROW_BYTES:
            return
        place = self._rows
        self._rows += 1
        is_step_row = row.startswith(_STEP_ROW_START) or self._epoch_rows >= _MOST_EPOCH_ROWS
        if not is_step_row and _EPOCH_ROW.search(row):
            self._epoch_rows += 1
            self._selected.append(_SelectedRow(place, -1, len(row), row))
            return
        number = self._thinned_rows
        self._thinned_rows += 1
        self._last_row = None if number % self._stride == 0 else (place, row)
        if self._last_row is None:
            self._selected.append(_SelectedRow(place, number, len(row), row))
            self._step_rows += 1
            self._step_bytes += len(row)
            while self._step_rows > MOST_STEP_ROWS or self._step_bytes > MOST_STEP_BYTES:
                self._double_stride()

    def list_lines(self) -> list[Line]:
        """What is kept, in the order of the file; a new list."""
        rows = self._selected
        if self._last_row:
            last = _SelectedRow(self._last_row[0], -1, 0, self._last_row[1])
            rows = sorted([*rows, last], key=lambda row: row.place)
        lines = (row.parse(self._members) for row in rows)
        return [line for line in lines if line is not None]

    def _double_stride(self) -> None:
        last = self._selected[-1]
        self._stride *= 2
        self._selected = [row for row in self._selected if row.number < 0 or row.number % self._stride == 0]
        if self._last_row is None and last.number % self._stride:
            self._last_row = last.place, last.row
        steps = [row.nbytes for row in self._selected if row.number >= 0]
        self._step_rows, self._step_bytes = len(steps), sum(steps)
