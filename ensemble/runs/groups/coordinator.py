"""The worker of a run in groups: sees to their tasks, merges what they write, tells how it ends."""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ensemble.errors import RunError
from ensemble.jobs.job import STOP_FILE, forget_stop
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.runs.groups.hearing import Hearing, said_of_silent
from ensemble.runs.groups.merging import Merger
from ensemble.runs.groups.part import Group, groups_of, make
from ensemble.runs.groups.tasks import (
    THIS_MACHINE,
    Task,
    Tasks,
    over,
    said_of_lost,
    said_of_waiting,
    write_tasks,
)
from ensemble.runs.status import Status, blank_best, how_it_ended
from ensemble.runs.store import Run, trained_here

POLL_SECONDS = 0.3
# How often a task that ended without a word is started again, of each group.
RESTARTS = 3
ENDED = "finished", "diverged", "failed"
AT_END = "finished", "diverged"
MOST_UNREAD = 10  # looks in a row: a shared disk may have a file that is replaced gone meanwhile
LAST_EPOCH = ("ensemble_test_accuracy", "ensemble_test_nll", "member_test_accuracy")


class Coordinator:
    """Follows the groups of a run to their end.

    Args:
      run: the run, whose worker this process is.
      status: the hold on its status.json.
      stop: asked whether to stop.
      report: called with each new status.
      tasks: who starts the groups' tasks.
    """

    def __init__(
        self,
        run: Run,
        status: StatusWriter[Status],
        stop: Callable[[], bool],
        report: Callable[[Status], None],
        tasks: Tasks,
    ) -> None:
        self._run, self._config = run, trained_here(run)
        self._status, self._stop, self._report, self._tasks = status, stop, report, tasks
        self._starts: dict[int, int] = {}
        self._told: tuple[Any, ...] = ()
        self._noted: Mapping[int, Task] = {}
        self._stopping, self._unread = False, 0
        self._hearing = Hearing()
        # Of training, by whichever groups were at it.
        self._seconds, self._looked = status.status.seconds, time.monotonic()

    def follow(self) -> Outcome:
        """Go on until every group has ended, or the run is stopped.

        Raises:
          RunError: a group is missing, or its files belong to another run or are damaged.
        """
        self._groups = make(self._run)
        self._merger = Merger(self._run, self._groups)
        try:
            self._begin()
            while not self._look():
                time.sleep(POLL_SECONDS)
        finally:
            self._end_all()
        self._merger.merge(hold=0.0)
        self._tell()
        return self._outcome()

    def _begin(self) -> None:
        """Have a task for each group that is not at its end and has none."""
        for group in self._groups:
            forget_stop(group.path)
        self._hearing.listen(self._groups)
        at_work = self._hearing.at_work
        missing = [
            one for one in self._groups if one.status.state not in AT_END and not at_work(one)
        ]
        for group in missing:
            now = time.time()
            again = replace(
                group.status,
                state="queued",
                message="",
                pid=None,
                queued=now,
                updated=now,
                seconds_left=None,
            )
            write_status(group.path, again)
        self._groups = groups_of(self._run)
        self._tasks.start(missing)

    def _read(self) -> list[Group]:
        """The groups as they stand; as they stood where the disk fails for a moment."""
        try:
            found, self._unread = groups_of(self._run), 0
        except RunError:
            self._unread += 1
            if self._unread > MOST_UNREAD:
                raise
            return self._groups
        return found

    def _look(self) -> bool:
        """One look at everything; whether all is over."""
        self._groups = self._read()
        self._hearing.listen(self._groups)
        before, self._looked = self._looked, time.monotonic()
        if any(one.status.state == "training" for one in self._working):
            self._seconds += self._looked - before
        tasks = over(self._tasks.look(), self._groups)
        if tasks != self._noted:
            write_tasks(self._run.path, tasks)
            self._noted = dict(tasks)
        self._merger.merge()
        self._tell()
        if not self._stopping and (self._stop() or self._merger.early or self._diverged):
            self._end_all()
        for group in self._groups:
            if self._stopping and self._hearing.silent(group):
                self._tasks.kill(group)
        ended = [self._is_over(one, tasks) for one in self._groups]
        return all(ended)

    def _is_over(self, group: Group, tasks: Mapping[int, Task]) -> bool:
        """Whether nothing is at a group any more; a task that was lost is started again."""
        task = tasks.get(group.number)
        if self._hearing.at_work(group):
            return False
        if group.status.state in AT_END or (task and task.state != "ended"):
            return group.status.state in AT_END  # One that failed may be put back by Slurm.
        if group.status.state in ENDED or self._stopping:
            return True
        # Whoever looked at the file before the task ended has not seen its last word.
        group = self._read()[group.number - 1]
        if group.status.state in ENDED or self._hearing.at_work(group):
            return group.status.state in ENDED
        times = self._starts.get(group.number, 0)
        if times >= RESTARTS:
            return True
        self._starts[group.number] = times + 1
        print(f"{group.title}: its task ended without a word; it is started again.", flush=True)
        self._tasks.start([group])
        return False

    @property
    def _working(self) -> list[Group]:
        return [one for one in self._groups if self._hearing.at_work(one)]

    @property
    def _diverged(self) -> bool:
        return any(one.status.state == "diverged" for one in self._groups)

    def _end_all(self) -> None:
        """Ask every group to stop; each does within about a second of training."""
        self._stopping = True
        for group in self._groups:
            if group.status.state not in ENDED and group.path.is_dir():
                with contextlib.suppress(OSError):  # The others are to be told all the same.
                    (group.path / STOP_FILE).touch()
        self._tasks.end()

    def _outcome(self) -> Outcome:
        groups = self._groups = groups_of(self._run)
        if self._merger.over:
            epochs = len(self._merger.closed)
            return Outcome("finished", how_it_ended(self._merger.status, self._config, epochs))
        for state in ("diverged", "failed"):
            for group in groups:
                if group.state == state and (state == "diverged" or not self._stop()):
                    return Outcome(state, self._said_of(group))
        if self._stop():
            return Outcome("stopped", "Stopped. Resume continues from here.")
        for group in groups:
            if group.status.state != "finished":
                return Outcome("failed", self._said_of(group))
        return Outcome("failed", self._merger.what_is_lacking())

    def _said_of(self, group: Group) -> str:
        if group.status.state == "diverged":
            return group.message
        said = group.message if group.state == "failed" else said_of_lost(self._tasks.where)
        if group.of == 1:
            return f"{said[0].upper()}{said[1:]}"
        rest = "resume trains those that are not at their end."
        return f"{group.title}: {said} What the other groups learnt is kept; {rest}"

    def _tell(self) -> None:
        """Write the run's status, where anything has changed."""
        changes = {**self._place(), **self._best()}
        now = tuple((name, str(value)) for name, value in changes.items())
        if now != self._told:
            self._told = now
            self._status.update(**changes)
            self._report(self._status.status)

    def _best(self) -> dict[str, Any]:
        names = (*blank_best(self._config), *LAST_EPOCH)
        return {name: getattr(self._merger.status, name) for name in names}

    def _place(self) -> dict[str, Any]:
        """How far the run has come: as its groups together."""
        every = [one.status for one in self._groups]
        left = [one.seconds_left for one in every if one.state not in ENDED]
        known = [one for one in left if one is not None]
        return {
            "state": self._state(),
            "message": self._message(),
            "started": min((one.started for one in every if one.started), default=None),
            "epoch": len(self._merger.closed),
            "epochs": self._config.epochs,
            "step": sum(one.step for one in every) // len(every),
            "steps": max(one.steps for one in every),
            "seconds": round(max(self._seconds, *(one.seconds for one in every)), 3),
            "compile_seconds": max(one.compile_seconds or 0.0 for one in every),
            "img_member_per_s": self._rate(self._working),
            "seconds_left": max(known) if known and len(known) == len(left) else None,
        }

    def _rate(self, working: list[Group]) -> float | None:
        """Images times members a second: of those at work; at the end, over all the time."""
        if working:
            rates = [one.status.img_member_per_s or 0.0 for one in working]
            return round(sum(rates), 1) or None
        members = sum(one.status.step * len(one.numbers) for one in self._groups)  # times steps
        seconds = max(self._seconds, *(one.status.seconds for one in self._groups))
        return round(members * self._config.batch_size / seconds, 1) if seconds else None

    def _state(self) -> str:
        states = {one.status.state for one in self._working}
        waits = any(task.state == "waiting" for task in self._noted.values())
        if waits and not states and not self._stopping and self._tasks.where != THIS_MACHINE:
            return "queued"  # however far it had come before
        if "training" in states or any(one.status.step for one in self._groups):
            return "training"
        return "starting" if states or self._tasks.where == THIS_MACHINE else "queued"

    def _message(self) -> str:
        """What holds groups up: the wait of their tasks for a place, or that they are stopped."""
        for group in filter(self._hearing.silent, self._groups):
            if self._noted.get(group.number, Task("running")).state == "running":
                return said_of_silent(group)
        # A node that is cut off goes on at what waits for another.
        busy = {one.number for one in self._groups if one.status.state in ENDED}
        busy |= {one.number for one in self._working}
        tasks = [task for number, task in self._noted.items() if number not in busy]
        waiting = [task for task in tasks if task.state == "waiting"]
        if not waiting or self._stopping:
            return ""
        return said_of_waiting(waiting, len(self._groups), self._tasks.where)
