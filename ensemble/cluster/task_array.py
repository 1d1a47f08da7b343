"""The tasks of one job, wherever they run: submitted, looked at again and again, taken back.

What tasks do is read from the files that their commands write, not asked of who runs them.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ensemble.cluster.scheduler import QueueEntry, Scheduler, TaskState
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError

# A scheduler has to say so often in a row that a task has ended, or is not known to it.
_END_CONFIRMATIONS = 3


@dataclass(frozen=True)
class TaskStatus:
    """What is known of a task beside what it says of itself.

    Attributes:
      state: "waiting" for a place, "running", or "ended", however.
      id: a scheduler's word for it; of a process of this machine its number.
      node: the machine, where a scheduler chose one.
      reason: why it waits, or stands still, in a scheduler's words.
      word: a scheduler's own for how it ended, as `task_ends` has them; "" where it has not, or
        nobody says.
    """

    state: TaskState
    id: str = ""
    node: str = ""
    reason: str = ""
    word: str = ""


class _TaskBackend(Protocol):
    """Runs the tasks of a job: a scheduler, or this machine."""

    @property
    def title(self) -> str:
        """What people call it."""

    def submit(
        self, commands: Sequence[Sequence[str]], name: str, environment: Mapping[str, str], logs: Sequence[Path] | None
    ) -> list[str]:
        """Take `ensemble` with these words, each as a task; returns a word for each."""

    def queue(self) -> Mapping[str, QueueEntry]:
        """The tasks that it knows of by these words, also those of others."""

    def cancel(self, ids: Iterable[str]) -> None:
        """End tasks by these words: at once where they wait."""

    def read_end_word(self, task_id: str, word: str) -> str:
        """The word for how a task ended, more exactly than its list has it, where that is known."""


@dataclass(frozen=True)
class SchedulerBackend:
    """A scheduler that runs the tasks of a job.

    Attributes:
      scheduler: which.
      config: what each task asks for.
      folder: for their logs and the scheduler's own files, on a disk that the nodes share.
    """

    scheduler: Scheduler
    config: SlurmConfig
    folder: Path

    @property
    def title(self) -> str:
        """As the scheduler is called."""
        return self.scheduler.title

    def submit(
        self, commands: Sequence[Sequence[str]], name: str, environment: Mapping[str, str], logs: Sequence[Path] | None
    ) -> list[str]:
        """As `_TaskBackend` has it; ConfigError where the settings do not fit this cluster."""
        return self.scheduler.submit(commands, self.folder, self.config, name, environment, logs=logs)

    def queue(self) -> Mapping[str, QueueEntry]:
        """The tasks of whoever submitted the job's, as of some seconds ago.

        Raises:
          ClusterError: the scheduler does not answer, or does not show them to this user.
        """
        try:
            owner = self.folder.stat().st_uid
        except OSError:  # Nothing was submitted yet.
            owner = os.getuid()
        entries = self.scheduler.queue(owner)
        if not entries and owner != os.getuid():
            raise ClusterError(f"{self.title} does not show this user the tasks of another.")
        return entries

    def cancel(self, ids: Iterable[str]) -> None:
        """End tasks."""
        self.scheduler.cancel(ids)

    def read_end_word(self, task_id: str, word: str) -> str:
        """As `_TaskBackend` has it."""
        return self.scheduler.end_word(self.log_file(task_id), word)

    def log_file(self, task_id: str) -> Path:
        """Where a task writes what it prints."""
        return self.scheduler.log_file(self.folder, task_id)


class TaskArray:
    """The tasks of one job, by numbers that the job gives them.

    At a scheduler they outlive this process, and another one finds them by what this one noted.
    The scheduler itself puts back a task that it took its node from.

    Args:
      backend: who runs them.
      name: what they are called there. One of another name is none of ours, and never to be
        canceled: another cluster, another time or the job that this one's folder was copied from
        may have had the same id.
      tasks_by_number: what was last noted of tasks that were submitted before; one without an id is found by
        its name, which it then shares with no other.
      sure: how often in a row it has to be said that a task has ended.

    Attributes:
      tasks: how each stands, as was last heard.
      refusal: why nothing was heard at the last look; "" if something was.
    """

    def __init__(
        self,
        backend: _TaskBackend,
        name: str,
        tasks_by_number: Mapping[int, TaskStatus] | None = None,
        sure: int = _END_CONFIRMATIONS,
    ) -> None:
        self._backend, self._name, self._sure = backend, name, sure
        self.tasks, self.refusal = dict(tasks_by_number or {}), ""
        # The words by which the backend knows them.
        self._ids = {number: task.id for number, task in self.tasks.items()}
        self._gone: dict[int, int] = {}
        self._taken_back = False

    @property
    def title(self) -> str:
        """What people call who runs them."""
        return self._backend.title

    def find_alive(self) -> list[int]:
        """The numbers of the tasks that wait or work, as is said just now.

        Raises:
          ClusterError: the scheduler does not say.
        """
        there = self._backend.queue() if self.tasks else {}
        alive = []
        for number in self.tasks:
            if (entry := self._find_entry(number, there)) and entry.state != "ended":
                self._record_entry(number, entry)
                alive.append(number)
        return alive

    def find_ended(self) -> list[int]:
        """The numbers of the tasks that have ended by a word of the scheduler's, now or before.

        Raises:
          ClusterError: the scheduler does not say.
        """
        there = self._backend.queue() if self.tasks else {}
        ended = []
        for number, task in self.tasks.items():
            entry = self._find_entry(number, there)
            # What it has forgotten ended as was noted; what it has put back works again.
            state, word = (entry.state, entry.word) if entry else (task.state, task.word)
            if state == "ended" and word:
                ended.append(number)
        return ended

    def submit(
        self,
        commands: Mapping[int, Sequence[str]],
        environment: Mapping[str, str],
        logs: Mapping[int, Path] | None = None,
    ) -> None:
        """Have tasks for those of these commands that have none which waits or works.

        Args:
          commands: the words behind `ensemble`, by the tasks' numbers.
          environment: variables that the commands need.
          logs: files at whose ends goes what they write, if not where the scheduler puts it.

        Raises:
          ClusterError: the scheduler does not answer, or refuses.
          ConfigError: what is asked for does not fit the cluster.
        """
        self._taken_back = False
        alive = self.find_alive()
        missing = [number for number in commands if number not in alive]
        if not missing:
            return
        ids = self._backend.submit(
            [commands[number] for number in missing],
            self._name,
            environment,
            [logs[number] for number in missing] if logs else None,
        )
        for number, task_id in zip(missing, ids, strict=True):
            self.tasks[number], self._ids[number] = TaskStatus("waiting", task_id), task_id
            self._gone.pop(number, None)

    def poll_tasks(self) -> dict[int, TaskStatus]:
        """How they stand; as they stood where the scheduler says nothing, which ends no task."""
        try:
            there = self._backend.queue()
        except ClusterError as error:
            self.refusal = str(error)
            return dict(self.tasks)
        self.refusal = ""
        for number in self.tasks:
            self._update_task(number, self._find_entry(number, there))
        if self._taken_back:
            self._cancel_waiting()
        return dict(self.tasks)

    def cancel(self, *numbers: int) -> None:
        """End these tasks; those that work are asked first.

        Raises:
          ClusterError: the scheduler does not answer, or refuses.
        """
        self._backend.cancel([self._ids[number] for number in numbers])

    def take_back_waiting(self) -> None:
        """Cancel those that wait; also what the scheduler puts back into its queue yet."""
        self._taken_back = True
        self._cancel_waiting()

    def _cancel_waiting(self) -> None:
        waiting = [number for number, task in self.tasks.items() if task.state == "waiting"]
        if waiting:
            self.try_to_cancel(*waiting)

    def try_to_cancel(self, *numbers: int) -> None:
        """As `cancel`, but it is only noted in the log that it cannot be done."""
        try:
            self.cancel(*numbers)
        except ClusterError as error:
            print(f"Tasks could not be canceled: {error}", file=sys.stderr, flush=True)

    def _find_entry(self, number: int, there: Mapping[str, QueueEntry]) -> QueueEntry | None:
        if self._ids[number]:
            entry = there.get(self._ids[number])
            return entry if entry and entry.name == self._name else None
        called = (queue_entry for queue_entry in there.values() if queue_entry.name == self._name)
        return next((queue_entry for queue_entry in called if queue_entry.state != "ended"), None)

    def _update_task(self, number: int, entry: QueueEntry | None) -> None:
        """Take down what a task comes to by what is said of it: the one place where it ends."""
        task = self.tasks[number]
        if entry and entry.state != "ended":
            self._gone[number] = 0
            self._record_entry(number, entry)
            return
        self._gone[number] = self._gone.get(number, 0) + 1
        if task.state != "ended" and self._gone[number] >= self._sure:
            word = self._backend.read_end_word(task.id, entry.word if entry else "")
            self.tasks[number] = TaskStatus("ended", task.id, task.node, word=word)

    def _record_entry(self, number: int, entry: QueueEntry) -> None:
        self._ids[number] = self._ids[number] or entry.id
        self.tasks[number] = TaskStatus(entry.state, entry.id, entry.nodes, entry.reason)


def describe_waiting_tasks(tasks: Iterable[TaskStatus], total: int, where: str, noun: str) -> str:
    """Describe what the waiting ones of a job's tasks wait for.

    Args:
      tasks: those that wait.
      total: how many tasks the job has.
      where: what people call the scheduler.
      noun: what a task does, "group" or "worker".
    """
    waiting = list(tasks)
    reasons = ", ".join(sorted({task.reason for task in waiting if task.reason}))
    if total == 1:
        return f"Queued on {where}{f' ({reasons})' if reasons else ''}."
    verb = "waits" if len(waiting) == 1 else "wait"
    return f"{len(waiting)} of {total} {noun}s {verb} for {where}{f' ({reasons})' if reasons else ''}."


def describe_paused_tasks(tasks: Iterable[TaskStatus], total: int, noun: str) -> str:
    """Describe those of a job's running tasks that are suspended; "" if none is."""
    paused = [task for task in tasks if task.state == "running" and task.reason]
    if not paused:
        return ""
    reasons = ", ".join(sorted({task.reason for task in paused}))
    verb = "is" if len(paused) == 1 else "are"
    return f"Its task is {reasons}." if total == 1 else f"{len(paused)} of {total} {noun}s {verb} {reasons}."
