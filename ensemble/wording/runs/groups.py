"""A run in groups in words: what each group is doing, where, and how many are at what."""

import socket
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.cluster.schedulers import EXECUTION_TARGETS
from ensemble.jobs.placement import read_place_name
from ensemble.runs import Run
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.tasks import TaskStatus, read_group_tasks
from ensemble.wording import formats
from ensemble.wording.jobs import describe_silence

# What a group may be at: how that is said of one, and of several, in the order of a summary.
_ACTIVITY_VERBS = {
    "training": ("trains", "train"),
    "starting": ("starts", "start"),
    "waiting": ("queued", "queued"),
    "finished": ("finished", "finished"),
    "stopped": ("stopped", "stopped"),
    "diverged": ("diverged", "diverged"),
    "failed": ("failed", "failed"),
    "not begun": ("has not begun", "have not begun"),
}


@dataclass(frozen=True)
class GroupStanding:
    """How a group stands, beside what is known of its task.

    Attributes:
      group: as it was read.
      task: None where nobody has asked for one.
      place: who runs it, "Slurm"; "" for this machine.
      activity: what it is at, one of `_ACTIVITY_VERBS`.
    """

    group: Group
    task: TaskStatus | None
    place: str
    activity: str


def list_group_standings(run: Run) -> list[GroupStanding]:
    """How the groups of a run stand, in order; none of a run without.

    Raises:
      RunError: a group's status cannot be read.
    """
    if not (groups := list_run_groups(run)):
        return []
    place = find_scheduler_title(run)
    # Of a place elsewhere tasks may outlive whoever follows them; here they end with that.
    tasks = read_group_tasks(run.path) if place or run.active else {}
    return [
        GroupStanding(group, task := tasks.get(group.number), place, _select_group_activity(group, task))
        for group in groups
    ]


def _select_group_activity(group: Group, task: TaskStatus | None) -> str:
    """One of `_ACTIVITY_VERBS`."""
    state = group.state
    if state in ("finished", "diverged"):
        return state
    if task and task.state == "waiting" and not (group.active and group.status.pid is not None):
        return "waiting"
    if state == "queued":
        return "starting" if task and task.state == "running" else "not begun"
    return state


def find_scheduler_title(run: Run) -> str:
    """Who runs it, where that is not this machine: "Slurm"; else ""."""
    place = EXECUTION_TARGETS.get(read_place_name(run.path))
    return place.title if place else ""


def format_queue_name(place: str) -> str:
    """ "Slurm's queue", "Kubernetes' queue"."""
    return place + ("' queue" if place.endswith("s") else "'s queue")


def format_group_name(group: Group) -> str:
    """ "Group 2 · members 3–4"."""
    last = group.first_member + group.member_count
    which = f"members {group.first_member + 1}–{last}" if group.member_count > 1 else f"member {last}"
    return f"Group {group.number} · {which}"


def describe_group_activity(standing: GroupStanding) -> str:
    """What a group is at: "epoch 3 of 10", "queued on Slurm: no node is free"."""
    group, status = standing.group, standing.group.status
    match standing.activity:
        case "training":
            at = min(status.epoch + 1, status.epochs)
            return f"epoch {at} of {status.epochs}{describe_silence(status)}"
        case "waiting":
            return _describe_task_wait(standing.place, [standing.task] if standing.task else [])
        case "stopped":
            return f"stopped after {formats.format_count(status.epoch, 'epoch')} of {status.epochs}"
        case "failed":
            return f"failed: {group.message}" if group.message else "failed"
        case "not begun":
            return "has not begun"
    return standing.activity


def _describe_task_wait(place: str, tasks: Sequence[TaskStatus]) -> str:
    """What tasks wait for: a place of a cluster, with its reason, or room on this machine."""
    if not place:
        return "queued on this machine"
    reasons = _format_wait_reasons(tasks)
    return f"queued on {place}{f': {reasons}' if reasons else ''}"


def _format_wait_reasons(tasks: Sequence[TaskStatus]) -> str:
    """Why those of these tasks wait that do: "no node is free, others come first"."""
    return ", ".join(sorted({task.reason for task in tasks if task.state == "waiting"} - {""}))


def describe_group_host(standing: GroupStanding) -> str:
    """On which machine, and the scheduler's number for it: "node2 · job 1234_0"."""
    status, task = standing.group.status, standing.task
    if not standing.place:
        begun = standing.activity in ("training", "starting")
        elsewhere = status.host not in ("", socket.gethostname())
        return status.host if elsewhere else "this machine" if begun else ""
    node = "" if standing.activity == "waiting" else (task.node if task else "") or status.host
    return " · ".join(filter(None, (node, f"job {task.id}" if task and task.id else "")))


def describe_group(standing: GroupStanding) -> str:
    """All of it in a line: "Group 2 · members 3–4 · epoch 3 of 10 · node2 · job 7_1 · …"."""
    return " · ".join(
        filter(
            None,
            (
                format_group_name(standing.group),
                describe_group_activity(standing),
                describe_group_host(standing),
                format_group_speed(standing),
            ),
        )
    )


def format_group_speed(standing: GroupStanding) -> str:
    """Of one that trains; else ""."""
    rate = standing.group.status.img_member_per_s
    return formats.format_throughput(rate) if rate and standing.activity == "training" else ""


def summarize_group_activities(every: Sequence[GroupStanding]) -> str:
    """How many groups are at what: "28 train, 3 queued (no node is free), 1 finished"."""
    counts = Counter(standing.activity for standing in every)
    why = _format_wait_reasons(
        [standing.task for standing in every if standing.task and standing.activity == "waiting"]
    )
    parts = []
    for at, (alone, several) in _ACTIVITY_VERBS.items():
        if count := counts[at]:
            because = f" ({why})" if at == "waiting" and why else ""
            parts.append(f"{count} {alone if count == 1 else several}{because}")
    return ", ".join(parts)


def describe_cluster_wait(run: Run) -> str:
    """Of a run that waits in a cluster's queue: "Queued on Slurm: no node is free"."""
    task_wait = _describe_task_wait(find_scheduler_title(run), list(read_group_tasks(run.path).values()))
    return task_wait[0].upper() + task_wait[1:]


def compute_queue_seconds(run: Run) -> float | None:
    """How long a run that is placed elsewhere waited until its first task began, or has by now.

    None where it did not wait there, or an earlier attempt is all that is known to have begun.
    """
    status = run.status
    if not find_scheduler_title(run):
        return None
    if status.started is not None and status.started >= status.queued:
        return status.started - status.queued
    return max(0.0, time.time() - status.queued) if run.state == "queued" else None


def describe_working_groups(run: Run) -> str:
    """ "2 of 4 groups" of a run that is at work with some of them; else ""."""
    if not run.in_groups or run.settings is None:
        return ""
    every = run.settings.groups
    waiting = sum(task.state == "waiting" for task in read_group_tasks(run.path).values())
    return f"{every - waiting} of {formats.format_count(every, 'group')}" if waiting else ""
