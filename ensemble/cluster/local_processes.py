"""Tasks as processes of this machine: what a scheduler is to a cluster."""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from ensemble.cluster.scheduler import QueueEntry, TaskState
from ensemble.machine.python_command import build_python_command
from ensemble.storage.plain_files import open_plain_append


class LocalProcesses:
    """Runs commands on this machine: each has processor cores, or cards, of its own.

    As many work at a time as there are cores or cards; the others wait, in their order. They begin
    while somebody looks at the queue, and are children of this process.

    Args:
      units: the cores or cards that may be used.
      variable: the environment variable that says to a process which of them are its own.
      environment: what each process is given.
    """

    title = "this machine"

    def __init__(self, units: Sequence[str], variable: str, environment: Mapping[str, str]) -> None:
        self._units, self._variable, self._environment = list(units), variable, environment
        # What starts each that waits, on units of its own.
        self._waiting: dict[str, Callable[[Sequence[str]], subprocess.Popen[bytes]]] = {}
        self._at_work: dict[str, tuple[int, subprocess.Popen[bytes]]] = {}
        self._entries: dict[str, QueueEntry] = {}
        self._places = 0

    def submit(
        self, commands: Sequence[Sequence[str]], name: str, environment: Mapping[str, str], logs: Sequence[Path] | None
    ) -> list[str]:
        """Put commands in the queue.

        Raises:
          OSError: a log cannot be written.
        """
        for file in logs or ():
            open_plain_append(file).close()
        first = len(self._entries) + 1
        ids = [str(number) for number in range(first, first + len(commands))]
        for number, task_id in enumerate(ids):
            log = logs[number] if logs else None
            self._waiting[task_id] = partial(self._start_process, commands[number], environment, log)
            self._entries[task_id] = QueueEntry("", "waiting", "", "", name)
        return ids

    def queue(self) -> Mapping[str, QueueEntry]:
        """How they stand; starts those for which there is room."""
        for task_id, (_, child) in list(self._at_work.items()):
            if child.poll() is not None:
                self._record_state(task_id, "ended", str(child.pid))
                del self._at_work[task_id]
        wanted = len(self._at_work) + len(self._waiting)
        # Fixed by the first start: units are not shared out again while processes are at work.
        self._places = places = self._places or max(1, min(len(self._units), wanted))
        used_places = {place for place, _ in self._at_work.values()}
        for place in range(places):
            if place not in used_places and self._waiting:
                task_id = next(iter(self._waiting))
                child = self._waiting.pop(task_id)(self._units[place::places])
                self._at_work[task_id] = place, child
                self._record_state(task_id, "running", str(child.pid))
        return dict(self._entries)

    def cancel(self, ids: Iterable[str]) -> None:
        """Forget those that wait, and kill those that work."""
        for task_id in ids:
            if self._waiting.pop(task_id, None):
                self._record_state(task_id, "ended", "")
            elif task_id in self._at_work:
                self._at_work[task_id][1].kill()

    def read_end_word(self, task_id: str, word: str) -> str:
        """The word as it is: nobody else says how a process ended."""
        return word

    def _record_state(self, task_id: str, state: TaskState, process: str) -> None:
        self._entries[task_id] = replace(self._entries[task_id], state=state, id=process)

    def _start_process(
        self, words: Sequence[str], environment: Mapping[str, str], file: Path | None, units: Sequence[str]
    ) -> "subprocess.Popen[bytes]":
        with open_plain_append(file) if file else nullcontext() as log:
            return subprocess.Popen(
                build_python_command(*words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **environment, self._variable: ",".join(units)},
                start_new_session=True,
            )
