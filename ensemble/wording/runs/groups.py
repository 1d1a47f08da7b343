"""A run in groups in words: what each group is doing, where, and how many are at what."""

import socket
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.cluster.schedulers import PLACES
from ensemble.jobs.placement import placed_on
from ensemble.runs import Run
from ensemble.runs.groups.part import Group, groups_of
from ensemble.runs.groups.tasks import Task, read_tasks
from ensemble.wording import formats
from ensemble.wording.jobs import no_news

# What a group may be at: how that is said of one, and of several, in the order of a summary.
COUNTED = {
    "training": ("trains", "train"),
    "starting": ("starts", "start"),
    "waiting": ("waits", "wait"),
    "finished": ("finished", "finished"),
    "stopped": ("stopped", "stopped"),
    "diverged": ("diverged", "diverged"),
    "failed": ("failed", "failed"),
    "not begun": ("has not begun", "have not begun"),
}


@dataclass(frozen=True)
class Standing:
    """How a group stands, beside what is known of its task.

    Attributes:
      group: as it was read.
      task: None where nobody has asked for one.
      place: who runs it, "Slurm"; "" for this machine.
      at: what it is at, one of `COUNTED`.
    """

    group: Group
    task: Task | None
    place: str
    at: str


def standings(run: Run) -> list[Standing]:
    """How the groups of a run stand, in order; none of a run without.

    Raises:
      RunError: a group's status cannot be read.
    """
    if not (groups := groups_of(run)):
        return []
    place = placed(run)
    # Of a place elsewhere tasks may outlive whoever follows them; here they end with that.
    tasks = read_tasks(run.path) if place or run.active else {}
    return [
        Standing(group, task := tasks.get(group.number), place, what_it_is_at(group, task))
        for group in groups
    ]


def what_it_is_at(group: Group, task: Task | None) -> str:
    """One of `COUNTED`."""
    state = group.state
    if state in ("finished", "diverged"):
        return state
    if task and task.state == "waiting" and not (group.active and group.status.pid is not None):
        return "waiting"
    if state == "queued":
        return "starting" if task and task.state == "running" else "not begun"
    return state


def placed(run: Run) -> str:
    """Who runs it, where that is not this machine: "Slurm"; else ""."""
    place = PLACES.get(placed_on(run.path))
    return place.title if place else ""


def queue(place: str) -> str:
    """ "Slurm's queue", "Kubernetes' queue"."""
    return place + ("' queue" if place.endswith("s") else "'s queue")


def named(group: Group) -> str:
    """ "Group 2 · members 3–4"."""
    last = group.first + group.count
    which = f"members {group.first + 1}–{last}" if group.count > 1 else f"member {last}"
    return f"Group {group.number} · {which}"


def doing(one: Standing) -> str:
    """What a group is at: "epoch 3 of 10", "waits in Slurm's queue: no node is free"."""
    group, status = one.group, one.group.status
    match one.at:
        case "training":
            at = min(status.epoch + 1, status.epochs)
            return f"epoch {at} of {status.epochs}{no_news(status)}"
        case "waiting":
            return waits(one.place, [one.task] if one.task else [])
        case "stopped":
            return f"stopped after {formats.count(status.epoch, 'epoch')} of {status.epochs}"
        case "failed":
            return f"failed: {group.message}" if group.message else "failed"
        case "not begun":
            return "has not begun"
    return one.at


def waits(place: str, tasks: Sequence[Task]) -> str:
    """What tasks wait for: a place of a cluster, with its reason, or room on this machine."""
    if not place:
        return "waits for room on this machine"
    reasons = reason(tasks)
    return f"waits in {queue(place)}{f': {reasons}' if reasons else ''}"


def reason(tasks: Sequence[Task]) -> str:
    """Why those of these tasks wait that do: "no node is free, others come first"."""
    return ", ".join(sorted({one.reason for one in tasks if one.state == "waiting"} - {""}))


def where(one: Standing) -> str:
    """On which machine, and the scheduler's number for it: "node2 · job 1234_0"."""
    status, task = one.group.status, one.task
    if not one.place:
        begun = one.at in ("training", "starting")
        elsewhere = status.host not in ("", socket.gethostname())
        return status.host if elsewhere else "this machine" if begun else ""
    node = "" if one.at == "waiting" else (task.node if task else "") or status.host
    return " · ".join(filter(None, (node, f"job {task.id}" if task and task.id else "")))


def line(one: Standing) -> str:
    """All of it in a line: "Group 2 · members 3–4 · epoch 3 of 10 · node2 · job 7_1 · …"."""
    return " · ".join(filter(None, (named(one.group), doing(one), where(one), speed(one))))


def speed(one: Standing) -> str:
    """Of one that trains; else ""."""
    rate = one.group.status.img_member_per_s
    return formats.throughput(rate) if rate and one.at == "training" else ""


def summary(every: Sequence[Standing]) -> str:
    """How many groups are at what: "28 train, 3 wait (no node is free), 1 finished"."""
    counts = Counter(one.at for one in every)
    why = reason([one.task for one in every if one.task and one.at == "waiting"])
    said = []
    for at, (alone, several) in COUNTED.items():
        if count := counts[at]:
            because = f" ({why})" if at == "waiting" and why else ""
            said.append(f"{count} {alone if count == 1 else several}{because}")
    return ", ".join(said)


def in_queue(run: Run) -> str:
    """Of a run that waits in a cluster's queue: "Waits in Slurm's queue: no node is free"."""
    said = waits(placed(run), list(read_tasks(run.path).values()))
    return said[0].upper() + said[1:]


def seconds_in_queue(run: Run) -> float | None:
    """How long a run that is placed elsewhere waited until its first task began, or has by now.

    None where it did not wait there, or an earlier attempt is all that is known to have begun.
    """
    status = run.status
    if not placed(run):
        return None
    if status.started is not None and status.started >= status.queued:
        return status.started - status.queued
    return max(0.0, time.time() - status.queued) if run.state == "queued" else None


def at_work(run: Run) -> str:
    """ "2 of 4 groups" of a run that is at work with some of them; else ""."""
    if not run.in_groups or run.trained is None:
        return ""
    every = run.trained.groups
    waiting = sum(task.state == "waiting" for task in read_tasks(run.path).values())
    return f"{every - waiting} of {formats.count(every, 'group')}" if waiting else ""
