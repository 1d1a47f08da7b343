"""The tail of a JSON lines file: of a history that grows, only what is new is read and parsed."""

import threading
from pathlib import Path

from ensemble.storage.folder_index import file_version
from ensemble.storage.records.history_lines import Line
from ensemble.storage.records.json_lines import parse_history_line, read_history_bytes


class JsonlTail:
    """The parsed lines of a file that is appended to, and now and then replaced. Thread-safe.

    Args:
      path: a history.jsonl, which need not be there yet.
      members: M, where it is known: see `parse_history_line`.

    Attributes:
      replaced: how often the file was another than had been read, or gone: `read_lines` then began
        again.
    """

    def __init__(self, path: Path, members: int | None = None) -> None:
        self._path, self._members = path, members
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._lines: list[Line] = []
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
        return []

    def _read_new_lines(self) -> list[Line]:
        """A new list: the lines read before, and those that have come since."""
        raw = read_history_bytes(self._path, self._end - len(self._last))
        # A resumed run's history is rewritten without what will come again.
        goes_on = bool(self._last) and raw.startswith(self._last)
        if not goes_on:
            self.replaced += bool(self._last)
            raw, self._end = read_history_bytes(self._path, 0), 0
        new = raw[len(self._last) :] if goes_on else raw
        whole, newline, _ = new.rpartition(b"\n")
        rows = whole.split(b"\n") if newline else []
        self._end += len(whole) + len(newline)
        if rows:
            self._last = rows[-1] + b"\n"
        elif not goes_on:
            self._last = b""
        new_lines = [
            line for row in rows if (line := parse_history_line(row, self._members)) is not None
        ]
        return (self._lines if goes_on else []) + new_lines
