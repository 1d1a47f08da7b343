"""Runs in groups on this machine: their processes killed in turn, and Stop where nobody follows."""

import contextlib
import itertools
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.soak import results
from benchmarks.soak.place import Place, end_workers, ended, kill, resume, start, wait_until
from benchmarks.soak.rows import Row, expect, say

SETTINGS = ("--members=4", "--network=mlp", "--width=32", "--batch-size=64", "--epochs=20")
IN_GROUPS = (*SETTINGS, "--groups=2")
GROUPS = 2
# Within so long the groups of a run that nobody follows any more have stopped.
STOP_SECONDS = 60.0
# At most so long before or after the run's process is killed Stop is pressed.
PRESS_SECONDS = 1.0
Moment = list[object]


@dataclass(frozen=True)
class GroupProcesses:
    """A run in groups at work: its folder, the process that follows the groups, and theirs."""

    run: Path
    follower: "subprocess.Popen[str]"
    workers: list[psutil.Process]


class GroupKilling:
    """Which processes of a run in groups are killed, and what has to come of it.

    Args:
      place: where it works; the process is within it.
      runs: the folder of runs.

    Attributes:
      rng: draws the moments of the next kill.
      seconds: how long the undisturbed run took.
    """

    def __init__(self, place: Place, runs: Path) -> None:
        self._runs, self.rng = runs, random.Random()
        self._true, self.seconds = place.train_undisturbed("groups", *IN_GROUPS)
        self._longest: dict[str, float] = {}

    def coordinator(self, details: Moment) -> None:
        """The process that follows the groups is killed: they stop, and resume goes on."""
        work = self._begin("coordinator", details)
        kill(work.follower)
        self._resume_to_same_bits(work.run)

    def worker(self, details: Moment) -> None:
        """A group's process is killed: it is started again without being asked for."""
        work, number = self._begin("worker", details), self.rng.randrange(GROUPS)
        details.append(f"group {number + 1}")
        work.workers[number].kill()
        done = ended(work.follower)
        expect(done.code == 0, f"it ended with {done.code}: {done.err[-300:]!r}")
        results.same_run(work.run, self._true)

    def both(self, details: Moment) -> None:
        """All processes of a run are killed, in any order."""
        work = self._begin("both", details)
        kills = [work.follower.kill, *(worker.kill for worker in work.workers)]
        for kill_process in self.rng.sample(kills, len(kills)):
            with contextlib.suppress(psutil.NoSuchProcess):
                kill_process()
        work.follower.communicate()
        self._resume_to_same_bits(work.run)

    def stop(self, details: Moment) -> None:
        """Stop is pressed just before or after who would tell the groups is killed: all end."""
        from ensemble.jobs.job import STOP_FILE

        work, moment = self._begin("stop", details), self.rng.uniform(0, PRESS_SECONDS)
        if self.rng.randrange(2):
            (work.run / STOP_FILE).touch()
            time.sleep(moment)
            kill(work.follower)
            details.append(f"{1000 * moment:.0f} ms after Stop")
        else:
            kill(work.follower)
            time.sleep(moment)
            (work.run / STOP_FILE).touch()
            details.append(f"{1000 * moment:.0f} ms before Stop")
        over = wait_until(lambda: not find_group_workers(work.run.name), STOP_SECONDS)
        expect(over, f"groups are still at work {STOP_SECONDS:.0f} s after Stop")
        self._resume_to_same_bits(work.run)

    def _resume_to_same_bits(self, run: Path) -> None:
        resume(run.name)
        results.same_run(run, self._true)

    def _begin(self, kind: str, details: Moment) -> GroupProcesses:
        """A new run, at any moment of its groups' work: all of its processes are there."""
        while True:
            before = set(self._runs.iterdir())
            child = start("train", *IN_GROUPS)
            workers = wait_for_workers(child)
            moment = self.rng.uniform(0, self._longest.get(kind, self.seconds))
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(moment)
            if child.poll() is None and all(map(is_alive, workers)):
                details.append(f"at {moment:.2f} s")
                (run,) = set(self._runs.iterdir()) - before
                return GroupProcesses(run, child, workers)
            # It had come to its end: the next is disturbed sooner.
            self._longest[kind] = moment
            ended(child)


def wait_for_workers(follower: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The processes of the groups of a run that was just begun; a loss where it has none."""
    workers = list[psutil.Process]()

    def are_there() -> bool:
        workers[:] = list_group_workers(follower.pid)
        return len(workers) == GROUPS or follower.poll() is not None

    wait_until(are_there, every=0.05)
    expect(len(workers) == GROUPS, f"{len(workers)} groups began, not {GROUPS}")
    return workers


def list_group_workers(follower: int) -> list[psutil.Process]:
    """The processes of the groups that the process of this number follows, in their order."""
    workers = dict[str, psutil.Process]()
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(follower).children():
            if "work-group" in (words := child.cmdline()):
                workers[words[-1]] = child
    return [workers[name] for name in sorted(workers)]


def find_group_workers(run_id: str, number: int | None = None) -> list[psutil.Process]:
    """The processes of a run's groups, or of one, that there are on this machine."""
    names = [f"{run_id}:{which}" for which in ([number] if number else range(1, GROUPS + 1))]
    workers = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if "work-group" in words and words[-1] in names and is_alive(process):
                workers.append(process)
    return workers


def is_alive(process: psutil.Process) -> bool:
    """Whether a process has not ended: one that nobody has waited for has."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


KINDS = ("coordinator", "worker", "both", "stop")
TITLES = {
    "coordinator": "groups: coordinator killed",
    "worker": "groups: a group's worker killed",
    "both": "groups: coordinator and workers killed",
    "stop": "groups: stopped with nobody following",
}


def groups(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many kills of processes of runs in groups, of each kind in turn.

    Args:
      place: where.
      rng: draws the moments.
      count: how many.
    """
    rows = {kind: Row(TITLES[kind]) for kind in KINDS[:count]}
    with place.part("groups") as runs:
        killing = GroupKilling(place, runs)
        say(f"the undisturbed run in groups took {killing.seconds:.0f} s")
        for kind, _ in zip(itertools.cycle(rows), range(count)):
            # One of its own for each: how often it draws depends on the clock.
            killing.rng = random.Random(rng.getrandbits(64))
            with rows[kind].attempt() as details:
                try:
                    getattr(killing, kind)(details)
                finally:
                    end_workers(runs)
    return list(rows.values())
