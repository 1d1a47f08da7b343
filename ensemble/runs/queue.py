"""One run trains at a time on a machine; the others wait in the order they came.

The lock is a file lock in the machine's temporary folder: the system takes it back from a
process however that ends. The order among waiting runs is that of their `queued` time.
"""

import fcntl
import getpass
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ensemble.errors import RunError
from ensemble.runs.status import ACTIVE
from ensemble.runs.store import Run, list_runs

POLL_SECONDS = 0.3


class Turn:
    """The right to train, held until it is closed or the process ends."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._handle)


def ahead_of(run: Run) -> list[Run]:
    """The active runs that come before this one, in order."""
    return sorted((one for one in list_runs() if _before(one, run)), key=_place)


def wait_for_turn(
    run: Run, stopped: Callable[[], bool], waiting: Callable[[], None]
) -> Turn | None:
    """Wait until nothing trains and no older run waits; None if asked to stop meanwhile.

    `waiting` is called once, when the turn is not there at once.
    """
    told = False
    while not stopped():
        if turn := _try_lock(_machine_lock()):
            if not ahead_of(run):
                return turn
            turn.__exit__()
        if not told:
            waiting()
            told = True
        time.sleep(POLL_SECONDS)
    return None


def _place(run: Run) -> tuple[float, str]:
    return run.status.queued, run.id


def _before(one: Run, run: Run) -> bool:
    return (
        one.id != run.id and one.status.state in ACTIVE and one.active and _place(one) < _place(run)
    )


def hold(run: Run) -> Turn:
    """The right to be this run's worker, which only one process has at a time.

    Raises:
      RunError: another process has it: two tabs asked for the same at once, say.
    """
    if turn := _try_lock(run.path / "worker.lock"):
        return turn
    raise RunError(f"The run “{run.id}” has a worker already: there is nothing to start.")


def _machine_lock() -> Path:
    folder = Path(tempfile.gettempdir()) / f"ensemble-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / "training.lock"


def _try_lock(path: Path) -> Turn | None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return Turn(handle)
