"""The tasks of a run at a scheduler, found again by whoever does not follow them."""

from collections.abc import Mapping, Sequence

from ensemble.cluster.task_array import TaskArray, TaskStatus
from ensemble.cluster.task_ends import summarize_task_ends
from ensemble.errors import RunError
from ensemble.jobs.job import Job, UnfollowedWork
from ensemble.jobs.remote.job_tasks import JobTasks, find_backend
from ensemble.runs.groups.group import GROUPS_FOLDER, Group, list_run_groups
from ensemble.runs.groups.tasks import KEPT_SENTENCE, read_group_tasks
from ensemble.runs.store import find_run


def find_run_tasks(job: Job) -> JobTasks | None:
    """Find the tasks of a run's groups; None if it has none at a scheduler."""
    try:
        run = find_run(job.path.name)
        groups = list_run_groups(run)
    except RunError:
        return None
    backend = find_backend(run.path, run.path / GROUPS_FOLDER)
    if backend is None or not groups:
        return None
    return JobTasks(
        TaskArray(backend, run.id, read_group_tasks(run.path), sure=1),
        {group.number: group for group in groups},
        lambda tasks: _describe_end(groups, tasks, backend.title, backend.config.memory),
        noun="group",
    )


def _describe_end(groups: Sequence[Group], tasks: Mapping[int, TaskStatus], title: str, memory: int) -> UnfollowedWork:
    words = {
        group.number: tasks[group.number].word
        for group in groups
        if group.number in tasks and group.status.state not in ("finished", "diverged", "failed")
    }
    for group in groups:
        if group.state in ("failed", "diverged") and not words.get(group.number):
            return UnfollowedWork("failed", f"{group.title}: {group.message}")
    summary = summarize_task_ends(
        words,
        len(groups),
        title,
        KEPT_SENTENCE,
        memory=memory,
        noun="group",
        find_title=lambda number: groups[number - 1].title if len(groups) > 1 else "",
    )
    if summary:
        return UnfollowedWork(*summary)
    if all(group.status.state == "finished" for group in groups):
        return UnfollowedWork("stopped", "Its groups have finished: resume merges what they have learned.")
    if any(group.status.step for group in groups):
        return UnfollowedWork("stopped", "Stopped. Resume continues from here.")
    return UnfollowedWork("stopped", f"Stopped while queued on {title}.")
