"""A run at a scheduler that no process follows any more: how it stands, and how it is stopped.

Its tasks outlive whoever submitted them. How far they are is in their own files; whether those
that say nothing wait, or have ended, the scheduler knows.
"""

import contextlib
from collections.abc import Sequence

from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.task_array import TaskArray, TaskStatus
from ensemble.cluster.task_ends import describe_task_end, find_task_end
from ensemble.errors import ClusterError, ConfigError, RunError
from ensemble.jobs.job import STOP_FILE, Job, UnfollowedWork
from ensemble.jobs.placement import create_scheduler_backend, read_placement
from ensemble.runs.groups.group import GROUPS_FOLDER, Group, list_run_groups
from ensemble.runs.groups.tasks import describe_cancelled_groups, describe_waiting_groups, read_group_tasks
from ensemble.runs.store import Run, find_run

ENDED_STATES = ("finished", "diverged", "failed", "stopped")


def read_unfollowed_run(job: Job) -> UnfollowedWork | None:
    """How a run stands by what its tasks write, where nobody follows it; None if it has none."""
    if (found := _find_tasks(job)) is None:
        return None
    run, groups, array = found
    tasks = _poll_tasks(array)
    title = array.title
    if working := [group for group in groups if _is_at_work(group, tasks)]:
        state = "training" if any(group.status.step for group in groups) else "starting"
        first = working[0].status.host
        return UnfollowedWork(state, f"Its tasks on {title} go on: the one on {first} is about to tell of them all.")
    if waiting := [task for task in tasks.values() if task.state == "waiting"]:
        return UnfollowedWork("queued", describe_waiting_groups(waiting, len(groups), title))
    if any(task.state == "running" for task in tasks.values()):
        if all(group.status.state == "finished" for group in groups):
            return UnfollowedWork("training", f"Its groups have finished: a task on {title} is about to merge them.")
        return UnfollowedWork("starting", f"Its tasks on {title} are starting.")
    return _describe_ended_groups(run, groups, tasks, title)


def stop_unfollowed_run(job: Job, again: bool) -> None:
    """Have the tasks of such a run stop: what works by a file, what waits at once."""
    if (found := _find_tasks(job)) is None:
        return
    _, groups, array = found
    for group in groups:
        if group.status.state not in ENDED_STATES and group.path.is_dir():
            with contextlib.suppress(OSError):
                (group.path / STOP_FILE).touch()
    tasks = _poll_tasks(array)
    states = ("waiting", "running") if again else ("waiting",)
    if numbers := [number for number, task in tasks.items() if task.state in states]:
        array.try_to_cancel(*numbers)


def _find_tasks(job: Job) -> tuple[Run, list[Group], TaskArray] | None:
    try:
        run = find_run(job.path.name)
        placement, groups = read_placement(run.path), list_run_groups(run)
        if placement is None or placement.on not in SCHEDULERS or not groups:
            return None
        backend = create_scheduler_backend(placement, run.path / GROUPS_FOLDER)
    except (RunError, ClusterError, ConfigError, OSError, ValueError):
        return None
    return run, groups, TaskArray(backend, run.id, read_group_tasks(run.path), sure=1)


def _poll_tasks(array: TaskArray) -> dict[int, TaskStatus]:
    """The tasks as they stand; none where there is no such scheduler here to ask."""
    if not array.is_available():
        return {}
    return array.poll_tasks()


def _is_at_work(group: Group, tasks: dict[int, TaskStatus]) -> bool:
    task = tasks.get(group.number)
    if group.status.pid is None or (task and task.state == "ended" and task.word):
        return False
    return group.active


def _describe_ended_groups(
    run: Run, groups: Sequence[Group], tasks: dict[int, TaskStatus], title: str
) -> UnfollowedWork:
    words = {
        group.number: tasks[group.number].word
        for group in groups
        if group.number in tasks and group.status.state not in ("finished", "diverged", "failed")
    }
    cancelled = [group for group in groups if find_task_end(words.get(group.number, "")).cancelled]
    for group in groups:
        if group in cancelled or group.state not in ("failed", "diverged"):
            continue
        end = describe_task_end(words.get(group.number, ""), title)
        return UnfollowedWork("failed", f"{group.title}: {end or group.message}")
    if cancelled:
        return UnfollowedWork("stopped", describe_cancelled_groups(cancelled, title))
    if all(group.status.state == "finished" for group in groups):
        return UnfollowedWork("stopped", "Its groups have finished: resume merges what they have learnt.")
    if any(group.status.step for group in groups):
        return UnfollowedWork("stopped", "Stopped. Resume continues from here.")
    return UnfollowedWork("stopped", f"Stopped while queued on {title}.")
