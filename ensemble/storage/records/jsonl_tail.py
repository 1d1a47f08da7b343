"""The tail of a JSON lines file: of a history that grows, only what is new is read and parsed."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ensemble.storage.folder_index import file_version
from ensemble.storage.records.history_lines import Line
from ensemble.storage.records.json_lines import iterate_rows, open_history, parse_history_line
from ensemble.storage.records.line_thinning import LineThinner


class JsonlTail:
    """The parsed lines of a file that is appended to, and now and then replaced. Thread-safe.

    Args:
      path: a history.jsonl, which need not be there yet.
      members: M, where it is known: see `parse_history_line`.
      thinned: whether of a long history only so many lines of steps are kept as a curve needs:
        see `LineThinner`. Then nothing can be forgotten.

    Attributes:
      replaced: how often the file was another than had been read, or gone: `read_lines` then began
        again.
    """

    def __init__(self, path: Path, members: int | None = None, thinned: bool = False) -> None:
        self._path, self._members = path, members
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._lines: list[Line] = []
        self._thinner = LineThinner(members) if thinned else None
        self._end, self._last = 0, b""  # of what has been read: its length, its last row
        self.replaced = 0

    def read_lines(self) -> list[Line]:
        """All whole lines, none without a file: the same, shared list until the file changes.

        Without those that were forgotten.

        Raises:
          RunError: the file is there and cannot be read.
        """
        with self._lock:
            version = file_version(str(self._path))
            if version != self._seen:
                self._lines = self._read_new_lines() if version else self._reset()
                self._seen = version
            return self._lines

    def drop_lines(self, count: int) -> list[Line]:
        """Let go of the first so many of the lines that were read; what is left of them.

        They come again only where the file is replaced.
        """
        with self._lock:
            if count:
                self._lines = self._lines[count:]
            return self._lines

    def _reset(self) -> list[Line]:
        self.replaced += bool(self._last)
        self._end, self._last = 0, b""
        if self._thinner:
            self._thinner = LineThinner(self._members)
        return []

    def _read_new_lines(self) -> list[Line]:
        """A new list: the lines read before, and those that have come since."""
        with open_history(self._path) as file:
            lines = self._lines if self._find_end(file) else self._reset()
            if self._thinner is None:
                return lines + list(self._parse_rows(self._iterate_new_rows(file)))
            for row in self._iterate_new_rows(file):
                self._thinner.add_row(row)
            return self._thinner.list_lines()

    def _find_end(self, file: BinaryIO) -> bool:
        """Go to where reading stopped; False, and to the beginning, in another file."""
        # A resumed run's history is rewritten without what will come again.
        file.seek(self._end - len(self._last))
        if self._last and file.read(len(self._last)) == self._last:
            return True
        file.seek(0)
        return False

    def _iterate_new_rows(self, file: BinaryIO) -> Iterator[bytes]:
        for row in iterate_rows(file):
            self._end += len(row) + 1
            self._last = row + b"\n"
            yield row

    def _parse_rows(self, rows: Iterator[bytes]) -> Iterator[Line]:
        for row in rows:
            if (line := parse_history_line(row, self._members)) is not None:
                yield line
