"""Jobs take turns on a machine, in the order they came.

Who works and who waits is read from the status.json of every job there is, of whatever kind:
this is the one place that counts what comes before what. How many work at once is `slots`'
business.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from ensemble.errors import RunError
from ensemble.jobs import slots
from ensemble.jobs.folders import (
    changing,
    folder_of,
    not_readable,
    race_folder,
    read_config,
    read_name,
)
from ensemble.jobs.job import LOCK_FILE, TRIAL_FILE, Job, forget_stop
from ensemble.jobs.kinds import GROUP, KINDS, RACE, STRESS, TRAINING, Kind
from ensemble.jobs.placement import FILE as PLACEMENT
from ensemble.jobs.slots import Turn
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic import read_json
from ensemble.storage.folder_index import FILES, FolderIndex
from ensemble.storage.lock import Held, lock_soon
from ensemble.storage.records.fields import Count, Figure, checked, read_as

AnyJob = TypeVar("AnyJob", bound=Job | None)

POLL_SECONDS = 0.3
THIS_MACHINE = "the measuring of this machine"


@dataclass(frozen=True)
class QueuedJob(Job):
    """A job of any kind, as the queue sees it.

    Attributes:
      share: how much of it is done, in [0, 1].
      devices: how many it asked for; 0 for all.
      here: whether it takes its turn on this machine: not where another was chosen for it, nor
        as a trial, for which its sweep does.
    """

    kind: Kind
    id: str
    name: str
    path: Path
    status: JobStatus
    share: float = 0.0
    devices: int = 0
    here: bool = True


class Place(NamedTuple):
    """A place in the order: who came first goes first."""

    queued: float
    id: str
    kind: str


def place_of(job: Job) -> Place:
    """The place of a job in the order."""
    return Place(job.status.queued, job.id, job.kind.name)


def in_order() -> list[QueuedJob]:
    """Everyone who works or waits on this machine, in the order of their turns."""
    return sorted((job for job in every_job() if job.here and job.active), key=place_of)


def ahead_of(job: Job) -> list[QueuedJob]:
    """Those who work, or wait, and come before this job, in order; nobody elsewhere."""
    if job.placed:
        return []
    mine = place_of(job)
    return [one for one in in_order() if place_of(one) < mine]


def comes_first() -> list[QueuedJob]:
    """Those that a job launched now would wait for, in order; nobody while a slot is free."""
    every = in_order()
    taken = sum(slots.wanted(job.devices) for job in every)
    return every if taken >= slots.count() else []


def jobs_in(folder: Path) -> list[QueuedJob]:
    """The jobs of the run in `folder`: its training, its measuring; none that cannot be read."""
    try:
        return list(_jobs_in(folder))
    except (OSError, ValueError):
        return []


def active_in(folder: Path) -> list[QueuedJob]:
    """The jobs of the run in `folder` that work or wait, and those of its groups that work.

    For a group that has not begun the run's own worker sees to a task; without that none comes.
    """
    groups = [
        _job(GROUP, f"{folder.name}:{path.parent.name}", folder.name, path.parent, 0)
        for path in folder.glob("groups/*/status.json")
    ]
    begun = [job for job in groups if job and job.status.pid is not None]
    return [job for job in (*jobs_in(folder), *begun) if job.active]


def wait_for_turn(
    job: Job, stopped: Callable[[], bool], waiting: Callable[[], None], devices: int = 0
) -> Turn | None:
    """Wait until there is a slot and nobody older waits for it; None if asked to stop meanwhile.

    Args:
      job: who waits.
      stopped: asked again and again.
      waiting: called once, when the turn is not there at once.
      devices: how many it will train on; 0 for all.
    """
    told, mine = False, slots.wanted(devices)
    while not stopped():
        if turn := slots.take(mine):
            if mine + sum(slots.wanted(one.devices) for one in ahead_of(job)) <= slots.count():
                return turn
            turn.close()
        if not told:
            waiting()
            told = True
        time.sleep(POLL_SECONDS)
    return None


def hold(folder: Path, what: str) -> Held:
    """The right to be the worker in `folder`, which only one process has at a time.

    Raises:
      RunError: another process has it: two tabs asked for the same at once, say; or the folder
        has been deleted meanwhile, or cannot be locked.
    """
    with changing(folder, f"{what} cannot begin"):
        try:
            if held := lock_soon(folder / LOCK_FILE):
                return held
        except FileNotFoundError as error:
            raise RunError(f"{what} has been deleted: there is nothing to start.") from error
    raise RunError(f"{what} has a worker already: there is nothing to start.")


@contextmanager
def without_worker(folder: Path, busy: str) -> Iterator[None]:
    """No worker of this host is in `folder` within this, and none can begin.

    For whoever deletes its files or puts its job into the queue again, whatever its status says;
    what the lock cannot tell is `Job.awaited`, to be read within this. Where nothing can be locked
    (a full disk, one that knows no locks, somebody else's folder) that is done without: the
    caller has looked whether the job is active, and what it writes says what is amiss.

    Args:
      folder: of the job.
      busy: what to say where there is a worker.

    Raises:
      RunError: there is one.
    """
    held: AbstractContextManager[object] | None = nullcontext()
    with suppress(OSError):
        held = lock_soon(folder / LOCK_FILE)
    if held is None:
        raise RunError(busy)
    with held:
        yield


@contextmanager
def queueing(folder: Path, busy: str, read: Callable[[], AnyJob]) -> Iterator[AnyJob]:
    """Within this the files of a job, as `read` gave it, are made ready for another worker.

    Args:
      folder: of the job.
      busy: what to say where there is a worker.
      read: the job as it stands; None where there has been none. It may refuse by itself.

    Raises:
      RunError: a worker is at it, or about to be: two tabs asked for the same at once, say.
    """
    with without_worker(folder, busy):
        job = read()
        if isinstance(job, Job) and job.awaited:
            raise RunError(busy)
        forget_stop(folder)
        yield job


def every_job() -> Iterator[QueuedJob]:
    """The jobs of all runs, trials among them, and the race; none that cannot be read."""
    found, _ = _index.look()
    for jobs in found:
        yield from jobs
    if race := _job(RACE, "race", THIS_MACHINE, race_folder(), 0):
        yield race


def _read(name: str) -> list[QueuedJob]:
    folder = folder_of(name)
    try:
        return list(_jobs_in(folder))
    except (OSError, ValueError) as error:
        raise not_readable(name, folder, error) from error


_index = FolderIndex(_read, (*FILES, f"{STRESS.part}/status.json", TRIAL_FILE))


def _jobs_in(folder: Path) -> Iterator[QueuedJob]:
    kept_as, settings = read_config(folder)
    own = tuple(kind for kind in KINDS if kind.kept_as and kind.kept_as == kept_as)
    kinds = own or (TRAINING, STRESS)
    name = read_name(folder)
    shared = settings.get("base", settings)  # of a sweep, whose trials train
    devices = checked(Count, shared.get("devices") or 0, "devices")
    for kind in kinds:
        if job := _job(kind, folder.name, name, folder / kind.part, devices):
            yield job


def _job(kind: Kind, job_id: str, name: str, folder: Path, devices: int) -> QueuedJob | None:
    """The job of this kind in a folder; None where there is none, or it cannot be read."""
    try:
        values = read_json(folder / "status.json")
        status = read_as(JobStatus, values)
        for name_of_share in filter(None, (kind.step, kind.steps)):
            checked(Figure | None, values.get(name_of_share), name_of_share)
    except (OSError, ValueError):
        return None
    share = kind.share(values)
    elsewhere = (folder / PLACEMENT).exists() or (folder / TRIAL_FILE).exists()
    here = kind.takes_turns and not elsewhere
    return QueuedJob(kind, job_id, name, folder, status, share, devices, here)
