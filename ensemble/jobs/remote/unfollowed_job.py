"""A job at a scheduler that no process follows any more: how its task stands, and how it stops."""

import contextlib

from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.task_array import TaskArray, TaskStatus
from ensemble.cluster.task_ends import describe_task_end, find_task_end
from ensemble.errors import ClusterError, ConfigError
from ensemble.jobs.job import LOCK_FILE, STATUS_FILE, STOP_FILE, Job, UnfollowedWork
from ensemble.jobs.placement import create_scheduler_backend, read_placement
from ensemble.jobs.remote.submission import ONLY_TASK
from ensemble.jobs.remote.task_process import TASK_FOLDER
from ensemble.jobs.remote.task_record import read_task_record
from ensemble.jobs.status import JobStatus, is_worker_alive
from ensemble.storage.atomic_files import read_json
from ensemble.storage.file_lock import is_locked
from ensemble.storage.records.field_checks import parse_dataclass


def read_unfollowed_job(job: Job) -> UnfollowedWork | None:
    """How a job stands by what its task writes, where nobody follows it; None if it has none."""
    if (array := _find_task(job)) is None:
        return None
    task = _poll_task(array)
    status = _read_task_status(job)
    alive = task.state != "ended"
    if status and status.state in job.kind.ended_states and not (status.state == "stopped" and alive):
        return UnfollowedWork(status.state, status.message)
    if task.state == "waiting":
        why = f" ({task.reason})" if task.reason else ""
        return UnfollowedWork("queued", f"Queued on {array.title}{why}.")
    beats = status is not None and is_worker_alive(status, is_locked(job.path / TASK_FOLDER / LOCK_FILE))
    if alive or (beats and not task.word):
        state = status.state if status and status.state in job.kind.active_states else "starting"
        message = f"Its task on {array.title} goes on; the same command follows it again."
        return UnfollowedWork("starting" if state == "queued" else state, message)
    kept = job.kind.describe_kept_work(job.path)
    if find_task_end(task.word).cancelled:
        return UnfollowedWork("stopped", f"Its task was cancelled in {array.title}. {kept}")
    if sentence := describe_task_end(task.word, array.title):
        return UnfollowedWork("failed", f"{sentence[0].upper()}{sentence[1:]} {kept}")
    return None


def stop_unfollowed_job(job: Job, again: bool) -> None:
    """Have the task of such a job stop: by a file, and by the scheduler if it waits."""
    if (array := _find_task(job)) is None:
        return
    with contextlib.suppress(OSError):
        (job.path / TASK_FOLDER / STOP_FILE).touch()
    state = _poll_task(array).state
    if state == "waiting" or (again and state == "running"):
        array.try_to_cancel(ONLY_TASK)


def _find_task(job: Job) -> TaskArray | None:
    try:
        record, placement = read_task_record(job.path), read_placement(job.path)
        if record is None or placement is None or placement.on not in SCHEDULERS:
            return None
        backend = create_scheduler_backend(placement, job.path / TASK_FOLDER)
    except (OSError, ValueError, ClusterError, ConfigError):
        return None
    return TaskArray(backend, record.name, {ONLY_TASK: record.task_status}, sure=1)


def _poll_task(array: TaskArray) -> TaskStatus:
    """The task as it stands; ended where there is no such scheduler here to ask."""
    return array.poll_tasks()[ONLY_TASK] if array.is_available() else TaskStatus("ended")


def _read_task_status(job: Job) -> JobStatus | None:
    try:
        return parse_dataclass(JobStatus, read_json(job.path / TASK_FOLDER / STATUS_FILE))
    except (OSError, ValueError):
        return None
