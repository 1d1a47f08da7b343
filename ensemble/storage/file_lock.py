"""Locks between processes, which the system takes back from one however it ends.

They are filelock's, on descriptors opened here: `flock` where there is one, so that they and
those of other programs exclude each other. A child that a process starts does not inherit them.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.2
# Whoever asks after a lock has it for an instant, and a worker lets go just after its last word.
GRACE_SECONDS = 2.0
_GRACE_POLL_SECONDS = 0.02
# A link in a lock's place would have us lock, or make, a file that somebody else chose.
NO_LINKS = os.O_CLOEXEC | os.O_NOFOLLOW if os.name != "nt" else 0


class HeldLock:
    """A lock, held until it is closed or the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> "HeldLock":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)


def try_lock(path: Path) -> HeldLock | None:
    """The lock on the file `path`; None while somebody else has it, in this process or another.

    The file is made where it is not there, for its owner alone, and stays when the lock is let
    go: whoever deleted it would let two processes lock two files of one name.

    Raises:
      OSError: the file cannot be written or is a link, or its disk knows no locks.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o600)
        try:
            descriptor_lock = _take_descriptor_lock(descriptor)
            # Somebody may have cleaned up since it was opened.
            still_there = not descriptor_lock or _is_same_file(path, descriptor)
        except OSError as error:
            os.close(descriptor)
            raise OSError(error.errno, error.strerror, str(path)) from error
        if descriptor_lock and still_there:
            return HeldLock(descriptor)
        os.close(descriptor)
        if not descriptor_lock:
            return None


def lock_within_grace(path: Path) -> HeldLock | None:
    """The lock on the file `path`, as `try_lock`; None if somebody keeps it for `GRACE_SECONDS`."""
    end = time.monotonic() + GRACE_SECONDS
    while (held := try_lock(path)) is None and time.monotonic() < end:
        time.sleep(_GRACE_POLL_SECONDS)
    return held


def is_locked(path: Path) -> bool | None:
    """Whether somebody has the lock on `path`, a file or a folder, in this process or another.

    Makes and changes nothing. Those who ask do so with a shared lock, so that they do not take
    each other for its holder; for an instant it keeps `try_lock` from having it.

    Returns:
      None if that is unknown: there is no such file or it is a link, it cannot be read,
      its disk knows no locks, or the system has no shared ones (Windows).
    """
    if os.name == "nt":
        return None
    import fcntl

    try:
        # A pipe in its place would keep us waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | NO_LINKS)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    else:
        return False
    finally:
        os.close(descriptor)


def supports_locks(folder: Path) -> bool:
    """Whether files in a folder can be locked, for all that can be told: its disk may know none."""
    return os.name == "nt" or is_locked(folder) is not None


@contextmanager
def hold_folder_lock(folder: Path, waiting: Callable[[], None]) -> Iterator[bool]:
    """Holds `folder` for this preparation; another one waits here until it is let go.

    The folder itself is locked, so there is no lock file to leave behind. Where it cannot be
    locked (Windows, some network disks) work goes on without: every file is written beside and
    renamed, so two at once only work twice.

    Args:
      folder: an existing folder.
      waiting: called about five times a second while another preparation holds the folder.

    Yields:
      Whether the lock is held, and so no other preparation can be writing here.
    """
    if os.name == "nt":
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield _wait_for_lock(descriptor, waiting)
    finally:
        os.close(descriptor)  # lets go of the lock


def _wait_for_lock(descriptor: int, waiting: Callable[[], None]) -> bool:
    """Waits for the lock; False where the disk knows no locks."""
    while True:
        try:
            if _take_descriptor_lock(descriptor):
                return True
        except OSError:
            return False
        waiting()
        time.sleep(POLL_SECONDS)


def _take_descriptor_lock(descriptor: int) -> bool:
    # Here, for it takes 40 ms to import, and most processes lock nothing.
    from filelock import lock_descriptor

    return lock_descriptor(descriptor, blocking=False)


def _is_same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
