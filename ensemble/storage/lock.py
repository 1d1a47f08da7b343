"""One preparation at a time per dataset, across processes and threads."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_one(folder: Path, waiting: Callable[[], None]) -> Iterator[bool]:
    """Holds `folder` for this preparation; another one waits here until it is let go.

    The folder itself is locked, so there is no lock file to leave behind, and the system lets
    go when a process dies. Where it cannot be locked (Windows, some network disks) work goes
    on without: every file is written beside and renamed, so two at once only work twice.

    Args:
      folder: an existing folder.
      waiting: called about five times a second while another preparation holds the folder.

    Yields:
      Whether the lock is held, and so no other preparation can be writing here.
    """
    if fcntl is None:
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield acquire(descriptor, waiting)
    finally:
        os.close(descriptor)  # lets go of the lock


def acquire(descriptor: int, waiting: Callable[[], None]) -> bool:
    """Waits for the lock; False where the disk knows no locks."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            time.sleep(0.2)
        except OSError:
            return False
        else:
            return True
