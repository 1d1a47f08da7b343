"""A placed job's tasks, found again by whoever does not follow them: how they are, and how they are stopped.

Tasks at a scheduler outlive the process that follows them. Each kind of job names a function that finds
its tasks (`JobKind.tasks_entry`); everything else is the same for runs, sweeps and jobs of one task.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.task_array import SchedulerBackend, TaskArray, TaskStatus, describe_waiting_tasks
from ensemble.cluster.task_ends import summarize_task_ends
from ensemble.errors import ClusterError, ConfigError
from ensemble.jobs.job import STATUS_FILE, STOP_FILE, Job, UnfollowedWork, is_stop_requested
from ensemble.jobs.kinds import JobKind, load_entry_point
from ensemble.jobs.placement import PLACEMENT_FILE, Placement, create_scheduler_backend, read_placement, write_placement
from ensemble.jobs.remote.task_process import TASK_FOLDER
from ensemble.jobs.remote.task_record import read_task_record
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import parse_dataclass

ONLY_TASK = 1  # the number of the task of a job that has one


@dataclass(frozen=True)
class _TaskPart(Job):
    """The part of a job that a task does, as the task itself describes it."""

    kind: JobKind
    id: str
    name: str
    path: Path
    status: JobStatus


@dataclass(frozen=True)
class JobTasks:
    """The tasks of a placed job.

    Attributes:
      array: the tasks, as they were last recorded.
      parts: what each task does, by its number; {} if the tasks share their work, as those of a sweep do.
      describe_end: how the job is once no task waits or runs; called with the tasks.
      noun: what a task does, for people.
      is_final: whether the job has ended once its parts have.
    """

    array: TaskArray
    parts: Mapping[int, Job]
    describe_end: Callable[[Mapping[int, TaskStatus]], UnfollowedWork | None]
    noun: str = "task"
    is_final: bool = False


def find_backend(job_folder: Path, tasks_folder: Path) -> SchedulerBackend | None:
    """Find the scheduler that runs the tasks of a job; None if there is none that can be asked.

    Args:
      job_folder: of the job.
      tasks_folder: where the scheduler's own files of the tasks are.
    """
    try:
        placement = read_placement(job_folder)
        if placement is None or placement.on not in SCHEDULERS:
            return None
        return create_scheduler_backend(placement, tasks_folder)
    except (OSError, ValueError, ClusterError, ConfigError):
        return None


def read_unfollowed_work(job: Job) -> UnfollowedWork | None:
    """Describe a job that no process follows by what its tasks write; None if it has no tasks."""
    if (tasks := _find_tasks(job)) is None:
        return None
    polled, title, total = _poll_tasks(job, tasks), tasks.array.title, len(tasks.array.tasks)
    unknown = f" {title} cannot be asked from here: {tasks.array.refusal}" if tasks.array.refusal else ""
    working = [part for number, part in tasks.parts.items() if _is_at_work(part, polled.get(number))]
    if working or any(task.state == "running" for task in polled.values()):
        begun = not tasks.parts or any(
            job.kind.compute_share(part.status) or part.status.state not in ("queued", "starting")
            for part in tasks.parts.values()
        )
        who = "its task on {} continues" if total == 1 else "its tasks on {} continue"
        message = f"No longer followed: {who.format(title)}.{unknown}"
        return UnfollowedWork(job.kind.working_state if begun else "starting", message)
    if waiting := [task for task in polled.values() if task.state == "waiting"]:
        return UnfollowedWork("queued", describe_waiting_tasks(waiting, total, title, tasks.noun) + unknown)
    return tasks.describe_end(polled)


def stop_unfollowed_work(job: Job, again: bool) -> None:
    """Stop the tasks of a job that no process follows: running ones by a file, waiting ones at once.

    Args:
      job: whose stop file is there already.
      again: whether it was asked to stop before: running tasks are then canceled too.
    """
    if (tasks := _find_tasks(job)) is None:
        return
    for part in tasks.parts.values():
        if part.status.state != "finished" and part.path.is_dir():
            with contextlib.suppress(OSError):
                (part.path / STOP_FILE).touch()
    states = ("waiting", "running") if again else ("waiting",)
    if numbers := [number for number, task in _poll_tasks(job, tasks).items() if task.state in states]:
        tasks.array.try_to_cancel(*numbers)


def set_placement(job_folder: Path, placement: Placement | None, before: Job | None) -> None:
    """Record where a job that is asked for (again) is to run.

    Args:
      job_folder: of the job.
      placement: where it is to run; None for this machine, where a task that works for it elsewhere is ended.
      before: the job as it was; None if there was none.

    Raises:
      OSError: that cannot be written.
    """
    if placement:
        return write_placement(job_folder, placement)
    if before:
        stop_unfollowed_work(before, again=True)
    return (job_folder / PLACEMENT_FILE).unlink(missing_ok=True)


def find_only_task(job: Job) -> JobTasks | None:
    """Find the task of a job that one task does."""
    record, folder = read_task_record(job.path), job.path / TASK_FOLDER
    if record is None or (backend := find_backend(job.path, folder)) is None:
        return None
    try:
        status = parse_dataclass(JobStatus, read_json(folder / STATUS_FILE))
    except (OSError, ValueError):
        status = JobStatus()

    def describe_end(tasks: Mapping[int, TaskStatus]) -> UnfollowedWork | None:
        if status.state in job.kind.ended_states:
            return UnfollowedWork(status.state, status.message)
        kept = job.kind.describe_kept_work(job.path)
        words = {number: task.word for number, task in tasks.items()}
        summary = summarize_task_ends(words, len(words), backend.title, kept, backend.config.memory)
        return UnfollowedWork(*summary) if summary else None

    array = TaskArray(backend, record.name, {ONLY_TASK: record.task_status}, sure=1)
    return JobTasks(
        array, {ONLY_TASK: _TaskPart(job.kind, job.id, job.name, folder, status)}, describe_end, is_final=True
    )


def _find_tasks(job: Job) -> JobTasks | None:
    tasks: JobTasks | None = load_entry_point(job.kind.tasks_entry)(job)
    return tasks


def _poll_tasks(job: Job, tasks: JobTasks) -> dict[int, TaskStatus]:
    """Return how the tasks are: by the scheduler, or by what they wrote if it cannot be asked.

    Once a job was asked to stop, a task that waits where nobody can look ends as soon as it starts.
    """
    polled, stops = tasks.array.poll_tasks(), is_stop_requested(job)

    def is_over(number: int) -> bool:
        part = tasks.parts.get(number)
        has_ended = part is not None and part.status.state in part.kind.ended_states
        if tasks.array.refusal:
            return has_ended or (stops and not (part and _is_at_work(part, None)))
        # A stopped task may have been told to make room, and be back in the queue.
        return has_ended and tasks.is_final and part is not None and part.status.state != "stopped"

    return {number: replace(task, state="ended") if is_over(number) else task for number, task in polled.items()}


def _is_at_work(part: Job, task: TaskStatus | None) -> bool:
    """Whether a process works on a part: not if the scheduler says that its task has ended."""
    has_ended = task is not None and task.state == "ended" and bool(task.word)
    return part.status.pid is not None and not has_ended and part.active
