"""Who starts the tasks of groups, and says how they stand: this machine, or a scheduler."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ensemble.jobs import slots
from ensemble.jobs.folders import changing
from ensemble.jobs.launch import worker_environment
from ensemble.machine.python_command import build_command
from ensemble.runs.groups.part import FOLDER, Group
from ensemble.runs.groups.worker import CORES, PARENT
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.reading import opened_to_append
from ensemble.storage.records.fields import odd, read_as

STATES = ("waiting", "running", "ended")
FILE = "tasks.json"


@dataclass(frozen=True)
class Task:
    """What is known of a group's task beside what it says of itself.

    Attributes:
      state: "waiting" for a place, "running", or "ended", however.
      id: a scheduler's word for it; of a process of this machine its number.
      node: the machine, where a scheduler chose one.
      reason: why it waits, in a scheduler's words.
    """

    state: str
    id: str = ""
    node: str = ""
    reason: str = ""


class Tasks(Protocol):
    """Starts tasks of groups. What they do is read from the groups' files, not asked of it."""

    where: str
    """What people call the place: "this machine", "Slurm"."""

    def start(self, groups: Sequence[Group]) -> None:
        """See to it that these groups, which have no task, get one as soon as there is room."""

    def look(self) -> Mapping[int, Task]:
        """How the tasks of groups stand, by the groups' numbers; those it knows of."""

    def end(self) -> None:
        """Take back what has not begun. Whatever works is told by a file, and ends by itself."""

    def kill(self, group: Group) -> None:
        """End the task of a group that does not answer, from its last checkpoint on."""


class LocalTasks:
    """Tasks on this machine: each has processor cores, or cards, of its own.

    As many work at a time as there are cores or cards; the others wait, in the groups' order.
    They end with this process.

    Args:
      cards: the accelerators that the run has, by name; none on a processor.
      cores: the processor cores that this process may use, by number.
    """

    where = "this machine"

    def __init__(self, cards: Sequence[str], cores: Sequence[int]) -> None:
        self._cards, self._cores = list(cards), list(cores)
        self._queue: list[Group] = []
        self._found: dict[int, Task] = {}
        self._at_work: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        self._places = 0

    def start(self, groups: Sequence[Group]) -> None:
        """Put them in the queue, and start those for which there is room."""
        self._queue += groups
        self._found |= {one.number: Task("waiting") for one in groups}
        self._fill()

    def look(self) -> Mapping[int, Task]:
        """How they stand; starts the next where one has ended."""
        for number, (_, child) in list(self._at_work.items()):
            if child.poll() is not None:
                self._found[number] = Task("ended", str(child.pid))
                del self._at_work[number]
        self._fill()
        return dict(self._found)

    def end(self) -> None:
        """Forget those that wait."""
        for group in self._queue:
            self._found[group.number] = Task("ended")
        self._queue = []

    def kill(self, group: Group) -> None:
        """End its process, if it is one of these."""
        if group.number in self._at_work:
            self._at_work[group.number][1].kill()

    def _fill(self) -> None:
        units = self._cards or [str(core) for core in self._cores]
        wanted = len(self._at_work) + len(self._queue)
        # Fixed by the first start: cores are not shared out anew while tasks are at work.
        self._places = places = self._places or max(1, min(len(units), wanted))
        taken = {place for place, _ in self._at_work.values()}
        for place in range(places):
            if place not in taken and self._queue:
                group = self._queue.pop(0)
                child = self._child(group, units[place::places])
                self._at_work[group.number] = place, child
                self._found[group.number] = Task("running", str(child.pid))

    def _child(self, group: Group, units: list[str]) -> "subprocess.Popen[bytes]":
        own = slots.VISIBLE if self._cards else CORES
        environment = {**worker_environment(), PARENT: str(os.getpid()), own: ",".join(units)}
        with changing(group.path), opened_to_append(group.path / "log.txt") as log:
            return subprocess.Popen(
                build_command(group.kind.command, group.id),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )


def over(tasks: Mapping[int, Task], groups: Sequence[Group]) -> dict[int, Task]:
    """Tasks, those of groups that have said their last word as ended before a scheduler says so."""
    done = {one.number for one in groups if one.status.state in ("finished", "diverged")}
    return {
        number: replace(task, state="ended", reason="") if number in done else task
        for number, task in tasks.items()
    }


def write_tasks(run_folder: Path, tasks: Mapping[int, Task]) -> None:
    """Note how the tasks of a run stand, for whoever shows them."""
    values = {str(number): asdict(task) for number, task in sorted(tasks.items())}
    write_json(run_folder / FOLDER / FILE, values)


def read_tasks(run_folder: Path) -> dict[int, Task]:
    """How the tasks of a run stood last, by their groups' numbers; what cannot be read is not."""
    try:
        found = read_json(run_folder / FOLDER / FILE)
        return {int(number): _task(values) for number, values in found.items()}
    except (OSError, ValueError):
        return {}


def said_of_lost(where: str) -> str:
    """What is to be said of a task that ended again and again before it said anything."""
    if where == "this machine":
        return "its task ended without a word: see its log."
    return (
        f"its task on {where} ended without a word. See that the folder of runs is on a disk that "
        "all machines share and has room, and what the logs say."
    )


def said_of_waiting(waiting: Sequence[Task], of: int, where: str) -> str:
    """What so many of a run's groups wait for: a place for their tasks."""
    reasons = ", ".join(sorted({task.reason for task in waiting if task.reason}))
    many = len(waiting)
    who = "The run waits" if many == of == 1 else (
        f"{many} of {of} groups wait" if many > 1 else f"1 of {of} groups waits"
    )  # fmt: skip
    return f"{who} for {where}{f' ({reasons})' if reasons else ''}."


def _task(values: Any) -> Task:
    task = read_as(Task, values)
    if task.state not in STATES:
        raise odd("state", task.state)
    return task
