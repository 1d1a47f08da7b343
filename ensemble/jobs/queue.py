"""Jobs take turns on a machine, in the order they came.

Who works and who waits is read from the status.json of every job there is, of whatever kind:
this is the one place that counts what comes before what. How many work at once is `slots`'
business.
"""

import functools
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from ensemble.errors import RunError
from ensemble.jobs import slots
from ensemble.jobs.folders import (
    build_unreadable_error,
    change_job_files,
    find_run_folder,
    read_run_name,
    read_stored_config,
    require_locks,
)
from ensemble.jobs.job import LOCK_FILE, TRIAL_FILE, Job, clear_stop_request
from ensemble.jobs.kinds import GROUP, TRAINING, JobKind, list_job_kinds, list_nested_kinds
from ensemble.jobs.placement import PLACEMENT_FILE as PLACEMENT
from ensemble.jobs.slots import SlotLease
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.file_lock import HeldLock, lock_within_grace
from ensemble.storage.folder_index import INDEXED_FILES, FolderIndex
from ensemble.storage.records.field_checks import Count, MetricValue, check_json_value, parse_dataclass

AnyJob = TypeVar("AnyJob", bound=Job | None)

POLL_SECONDS = 0.3
_REPORT_INTERVAL_S = 3.0  # between two words on who is waited for


@dataclass(frozen=True)
class QueuedJob(Job):
    """A job of any kind, as the queue sees it.

    Attributes:
      share: how much of it is done, in [0, 1].
      devices: how many it asked for; 0 for all.
      takes_turn_here: whether it takes its turn on this machine: not where another was chosen for
        it, nor as a trial, for which its sweep does.
      task: of a run, "classification" or "regression".
    """

    kind: JobKind
    id: str
    name: str
    path: Path
    status: JobStatus
    share: float = 0.0
    devices: int = 0
    takes_turn_here: bool = True
    task: str = "classification"


class _QueuePosition(NamedTuple):
    """A place in the order: who came first goes first."""

    queued: float
    id: str
    kind: str


def locate_in_queue(job: Job) -> _QueuePosition:
    """The place of a job in the order."""
    return _QueuePosition(job.status.queued, job.id, job.kind.name)


def list_queued_jobs() -> list[QueuedJob]:
    """Everyone who works or waits on this machine, in the order of their turns."""
    return sorted((job for job in iterate_jobs() if job.takes_turn_here and job.active), key=locate_in_queue)


def list_jobs_ahead(job: Job) -> list[QueuedJob]:
    """Those who work, or wait, and come before this job, in order; nobody elsewhere."""
    if job.is_placed:
        return []
    mine = locate_in_queue(job)
    return [queued_job for queued_job in list_queued_jobs() if locate_in_queue(queued_job) < mine]


def list_blocking_jobs() -> list[QueuedJob]:
    """Those that a job launched now would wait for, in order; nobody while a slot is free."""
    every = list_queued_jobs()
    needed_slots = sum(slots.count_needed_slots(job.devices) for job in every)
    return every if needed_slots >= slots.count_slots() else []


def list_run_jobs(folder: Path) -> list[QueuedJob]:
    """The jobs of the run in `folder`: its training, its measuring; none that cannot be read."""
    try:
        return list(_iterate_run_jobs(folder))
    except (OSError, ValueError):
        return []


def list_active_run_jobs(folder: Path) -> list[QueuedJob]:
    """The jobs of the run in `folder` that work or wait, and those of its groups that work.

    For a group that has not begun the run's own worker sees to a task; without that none comes.
    """
    groups = [
        _read_queued_job(GROUP, f"{folder.name}:{path.parent.name}", folder.name, path.parent, 0)
        for path in folder.glob("groups/*/status.json")
    ]
    begun = [job for job in groups if job and job.status.pid is not None]
    return [job for job in (*list_run_jobs(folder), *begun) if job.active]


def wait_for_turn(
    job: Job, stopped: Callable[[], bool], waiting: Callable[[], None], devices: int = 0
) -> SlotLease | None:
    """Wait until there is a slot and nobody older waits for it; None if asked to stop meanwhile.

    Args:
      job: who waits.
      stopped: asked again and again.
      waiting: called when the turn is not there at once, and every few seconds after that.
      devices: how many it will train on; 0 for all.
    """
    said_at, mine = -math.inf, slots.count_needed_slots(devices)
    while not stopped():
        if turn := slots.acquire_slots(mine):
            with ExitStack() as held:  # freed unless it is this job's turn, also after an error
                held.enter_context(turn)
                ahead = sum(slots.count_needed_slots(other_job.devices) for other_job in list_jobs_ahead(job))
                if mine + ahead <= slots.count_slots():
                    held.pop_all()
                    return turn
        if time.monotonic() - said_at > _REPORT_INTERVAL_S:
            waiting()
            said_at = time.monotonic()
        time.sleep(POLL_SECONDS)
    return None


def describe_turn_wait(job: Job) -> str:
    if ahead := list_jobs_ahead(job):
        return f"Queued: {ahead[0].name} is running on this machine."
    return "Queued: a job of another folder of runs, which is not listed here, is running on this machine."


def acquire_worker_lock(folder: Path, what: str) -> HeldLock:
    """The right to be the worker in `folder`, which only one process has at a time.

    Raises:
      RunError: another process has it: two tabs asked for the same at once, say; or the folder
        has been deleted meanwhile, or cannot be locked.
    """
    with change_job_files(folder, f"{what} cannot begin"):
        try:
            if held := lock_within_grace(folder / LOCK_FILE):
                return held
        except FileNotFoundError as error:
            raise RunError(f"{what} has been deleted: there is nothing to start.") from error
    raise RunError(f"{what} is already running: there is nothing to start.")


@contextmanager
def exclude_worker(folder: Path, busy: str) -> Iterator[None]:
    """No worker of this host is in `folder` within this, and none can begin.

    For whoever deletes or changes its files, whatever its status says; what the lock cannot tell is
    `Job.has_pending_or_remote_worker`, to be read within this. Where nothing can be locked (a full
    disk, one that knows no locks, somebody else's folder) that is done without: the caller has
    looked whether the job is active, and what it writes says what is amiss.

    Args:
      folder: of the job.
      busy: what to say where there is a worker.

    Raises:
      RunError: there is one.
    """
    held: AbstractContextManager[object] | None = nullcontext()
    with suppress(OSError):
        held = lock_within_grace(folder / LOCK_FILE)
    if held is None:
        raise RunError(busy)
    with held:
        yield


@contextmanager
def prepare_requeue(folder: Path, busy: str, read: Callable[[], AnyJob]) -> Iterator[AnyJob]:
    """Within this the files of a job, as `read` gave it, are made ready for another worker.

    Args:
      folder: of the job.
      busy: what to say where there is a worker.
      read: the job as it stands; None if there has been none. It may refuse by itself.

    Raises:
      RunError: a worker is running it, or about to be: two tabs asked for the same at once, say;
        or none could lock its files.
    """
    with suppress(FileNotFoundError):  # It has been deleted meanwhile: `read` says so.
        require_locks(folder, "Nothing was begun")
    with exclude_worker(folder, busy):
        job = read()
        if isinstance(job, Job) and job.has_pending_or_remote_worker:
            raise RunError(busy)
        clear_stop_request(folder)
        yield job


def iterate_jobs() -> Iterator[QueuedJob]:
    """Iterate over the jobs of all runs, trials among them, leaving out those that cannot be read."""
    job_lists, _ = _get_job_index().list_items()
    for jobs in job_lists:
        yield from jobs


def _read_run_jobs(name: str) -> list[QueuedJob]:
    folder = find_run_folder(name)
    try:
        return list(_iterate_run_jobs(folder))
    except (OSError, ValueError) as error:
        raise build_unreadable_error(name, folder, error) from error


def _are_all_settled(jobs: list[QueuedJob]) -> bool:
    return not any(job.status.state in job.kind.active_states for job in jobs)


@functools.cache
def _get_job_index() -> FolderIndex[list[QueuedJob]]:
    nested = (f"{kind.subfolder}/status.json" for kind in list_nested_kinds())
    return FolderIndex(_read_run_jobs, (*INDEXED_FILES, *nested, TRIAL_FILE), _are_all_settled)


def _iterate_run_jobs(folder: Path) -> Iterator[QueuedJob]:
    config = read_stored_config(folder)
    settings = config.settings
    own = tuple(kind for kind in list_job_kinds() if kind.config_kind and kind.config_kind == config.kind)
    kinds = own or (TRAINING, *list_nested_kinds())
    name = read_run_name(folder)
    shared = settings.get("base", settings)  # of a sweep, whose trials train
    devices = check_json_value(Count, shared.get("devices") or 0, "devices")
    for kind in kinds:
        if job := _read_queued_job(kind, folder.name, name, folder / kind.subfolder, devices):
            yield replace(job, task=config.task)


def _read_queued_job(kind: JobKind, job_id: str, name: str, folder: Path, devices: int) -> QueuedJob | None:
    """The job of this kind in a folder; None if there is none, or it cannot be read."""
    try:
        values = read_json(folder / "status.json")
        status = parse_dataclass(JobStatus, values)
        for name_of_share in filter(None, (kind.progress_field, kind.total_field)):
            check_json_value(MetricValue | None, values.get(name_of_share), name_of_share)
    except (OSError, ValueError):
        return None
    share = kind.compute_share(values)
    elsewhere = (folder / PLACEMENT).exists() or (folder / TRIAL_FILE).exists()
    here = kind.takes_turns and not elsewhere
    return QueuedJob(
        kind=kind, id=job_id, name=name, path=folder, status=status, share=share, devices=devices, takes_turn_here=here
    )
