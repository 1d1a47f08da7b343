"""What is recorded of a run, written by a thread of its own: training waits for no slow disk.

Everything is written in the order in which it was recorded. So what a kill leaves is what it would
leave if training waited for each write: the records up to some moment, and nothing after it.
"""

import dataclasses
import threading
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from ensemble.jobs.status import StatusWriter

MAX_ENTRIES = 64  # that wait to be written; beyond them training waits
MAX_PENDING_BYTES = 2**27  # of arrays that wait; what is larger is written at once


class _Entry(NamedTuple):
    """Something that waits to be written.

    Attributes:
      write: writes it.
      size: bytes of arrays that it keeps in memory until then.
      is_status: whether it is a status, of which only the last need be written.
    """

    write: Callable[[], None]
    size: int
    is_status: bool


class RecordWriter:
    """Writes entries one after the other: in a thread of its own, or at once.

    Args:
      in_background: whether in a thread; else `submit` returns when the entry is written.
    """

    def __init__(self, in_background: bool) -> None:
        self._in_background = in_background
        self._entries: deque[_Entry] = deque()
        self._changed = threading.Condition()
        self._writing: _Entry | None = None
        self._error: BaseException | None = None
        self._error_raised = self._closed = False
        self._thread: threading.Thread | None = None

    def is_written_later(self, size: int) -> bool:
        """Whether `submit` returns before an entry with so many bytes of arrays is written."""
        return self._in_background and size <= MAX_PENDING_BYTES

    @property
    def has_later_status(self) -> bool:
        """Whether another status waits behind the entry that is being written."""
        with self._changed:
            return any(entry.is_status for entry in self._entries)

    def submit(self, write: Callable[[], None], size: int = 0, *, is_status: bool = False) -> None:
        """Have something written after all that was submitted before.

        Args:
          write: writes it; what it needs no longer changes.
          size: bytes of arrays that it keeps in memory until then.
          is_status: whether it is a status.

        Raises:
          Exception: what an entry raised that was submitted before; nothing after it is written.
        """
        if not self.is_written_later(size):
            self.drain()
            write()
            return
        self._wait_for_room(size)
        with self._changed:
            self._entries.append(_Entry(write, size, is_status))
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_entries, name="records", daemon=True)
                self._thread.start()

    def drain(self) -> None:
        """Wait until all is written.

        Raises:
          Exception: what an entry raised; nothing after it is written.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._entries and self._writing is None)
            self._raise_error()

    def close(self) -> None:
        """Wait until all is written that can be; what an entry raised is left to `drain`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._error is not None and not self._error_raised:
            traceback.print_exception(self._error)

    def _wait_for_room(self, size: int) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._error is not None
                    or (len(self._entries) < MAX_ENTRIES and self._pending_bytes + size <= MAX_PENDING_BYTES)
                )
            )
            self._raise_error()

    @property
    def _pending_bytes(self) -> int:
        writing = self._writing.size if self._writing else 0
        return writing + sum(entry.size for entry in self._entries)

    def _raise_error(self) -> None:
        if self._error is not None:
            self._error_raised = True
            raise self._error

    def _write_entries(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._entries or self._closed)
                if not self._entries:
                    return
                self._writing = self._entries.popleft()
            try:
                self._writing.write()
            except BaseException as error:
                with self._changed:
                    self._error = error
                    self._entries.clear()
            finally:
                with self._changed:
                    self._writing = None
                    self._changed.notify_all()


class RecordedStatus:
    """A job's status as the thread that trains knows it, ahead of what is written.

    Args:
      written: the hold on the job's status.json.
      writer: writes it, after what was recorded before.
    """

    def __init__(self, written: StatusWriter[Any], writer: RecordWriter) -> None:
        self._written, self._writer = written, writer
        self._status: Any = written.status

    @property
    def status(self) -> Any:
        """The last words recorded."""
        return self._status

    def update(self, report: Callable[[Any], None] = lambda status: None, **changes: Any) -> None:
        """Record these changes.

        Args:
          report: called with the status once it is written.
          **changes: fields and their values.
        """
        self._status = dataclasses.replace(self._status, **changes)

        def write_status() -> None:
            if self._writer.has_later_status:
                self._written.note(**changes)
            else:
                self._written.update(**changes)
            report(self._written.status)

        self._writer.submit(write_status, is_status=True)
