"""One run is worked at, at a time, on a machine; others wait in the order they came.

The lock is a file lock in the machine's temporary folder: the system takes it back from a
process however that ends. The order among those that wait is that of their `queued` time.
"""

from __future__ import annotations

import getpass
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ensemble.errors import RunError
from ensemble.storage.lock import Held as Turn
from ensemble.storage.lock import try_lock

if TYPE_CHECKING:
    from ensemble.race.status import RaceJob
    from ensemble.regression.store import Solve
    from ensemble.runs.store import Run
    from ensemble.shift.status import StressStatus

    Job = Run | Solve | RaceJob
else:
    Job = object

POLL_SECONDS = 0.3


class Place(NamedTuple):
    """A place in the order: who came first goes first."""

    queued: float
    run_id: str
    job: str

    @classmethod
    def to_train(cls, run: Run) -> Place:
        """The place of a run that is to be trained."""
        return cls(run.status.queued, run.id, "training")

    @classmethod
    def to_measure(cls, run_id: str, status: StressStatus) -> Place:
        """The place of a run that is to be measured under shift."""
        return cls(status.queued, run_id, "stress")

    @classmethod
    def to_solve(cls, solve: Solve) -> Place:
        """The place of a regression."""
        return cls(solve.status.queued, solve.id, "solving")

    @classmethod
    def to_race(cls, job: RaceJob) -> Place:
        """The place of the race that measures this machine."""
        return cls(job.status.queued, job.id, "race")


def ahead_of(run: Run) -> list[Job]:
    """The runs that are worked at, or wait for it, before this one trains, in order."""
    return before(Place.to_train(run))


def before(mine: Place) -> list[Job]:
    """The runs whose training, measuring or solving comes before a place, in order."""
    return [job for place, job in in_order() if place < mine]


def in_order() -> list[tuple[Place, Job]]:
    """Everyone who works or waits on this machine's runs, in the order of their turns."""
    return sorted(_places(), key=lambda one: one[0])


def wait_for_turn(
    mine: Place, stopped: Callable[[], bool], waiting: Callable[[], None]
) -> Turn | None:
    """Wait until nobody works and nobody older waits; None if asked to stop meanwhile.

    `waiting` is called once, when the turn is not there at once.
    """
    told = False
    while not stopped():
        if turn := try_lock(_machine_lock()):
            if not before(mine):
                return turn
            turn.__exit__()
        if not told:
            waiting()
            told = True
        time.sleep(POLL_SECONDS)
    return None


def _places() -> Iterator[tuple[Place, Job]]:
    """Everyone who works or waits."""
    # Here, for each of these imports what this module is a part of.
    from ensemble.race.status import read_race_job
    from ensemble.regression.store import list_solves
    from ensemble.runs.status import ACTIVE
    from ensemble.runs.store import list_runs
    from ensemble.shift.status import read_stress_status

    for run in list_runs():
        if run.status.state in ACTIVE and run.active:
            yield Place.to_train(run), run
        if (job := read_stress_status(run.path)) and job.alive:
            yield Place.to_measure(run.id, job), run
    for solve in list_solves():
        if solve.active:
            yield Place.to_solve(solve), solve
    if (race := read_race_job()) and race.active:
        yield Place.to_race(race), race


def hold(folder: Path, what: str) -> Turn:
    """The right to be the worker in `folder`, which only one process has at a time.

    Raises:
      RunError: another process has it: two tabs asked for the same at once, say.
    """
    if turn := try_lock(folder / "worker.lock"):
        return turn
    raise RunError(f"{what} has a worker already: there is nothing to start.")


def _machine_lock() -> Path:
    folder = Path(tempfile.gettempdir()) / f"ensemble-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / "training.lock"
