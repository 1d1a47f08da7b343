"""Optuna's journal, a file of operations for shared disks, so that a killed writer harms nobody.

Optuna's own locks outlive the process that took them, and half a line at the file's end makes all
of it unreadable once another is added.
"""

import os
import time
from pathlib import Path

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.storages.journal._file import BaseJournalFileLock

from ensemble.storage.lock import Held, try_lock

POLL_SECONDS = 0.005
TAIL = 1 << 20  # bytes, more than an operation ever takes


def open_journal(path: Path) -> JournalStorage:
    """The journal in `path`, made where it is not there."""
    return JournalStorage(JournalFileBackend(str(path), lock_obj=JournalLock(path)))


class JournalLock(BaseJournalFileLock):
    """The right to add to a journal, which the system takes back from a process that ends.

    Args:
      journal: the file; the lock is another beside it.
    """

    def __init__(self, journal: Path) -> None:
        self._journal, self._path = journal, journal.with_suffix(".lock")
        self._held: Held | None = None

    def acquire(self) -> bool:
        """Wait for the right, then take away what a killed writer left half-written."""
        while (held := try_lock(self._path)) is None:
            time.sleep(POLL_SECONDS)
        self._held = held
        mend(self._journal)
        return True

    def release(self) -> None:
        """Give the right back."""
        if held := self._held:
            self._held = None
            held.__exit__()


def mend(journal: Path) -> None:
    """Cut off what stands after the last whole line; for whoever holds the journal's lock."""
    with open(journal, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = file.seek(max(0, size - TAIL))
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(start + tail.rfind(b"\n") + 1)
