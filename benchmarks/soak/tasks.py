"""Runs on a real Slurm: their follower, tasks and nodes lost, cancelled, or out of memory."""

import contextlib
import itertools
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.common import ROOT
from benchmarks.soak import results
from benchmarks.soak.groups import GROUPS, IN_GROUPS, Moment, find_group_workers
from benchmarks.soak.place import Place, call, end_workers, ended, kill, put, resume, start, wait_until
from benchmarks.soak.rows import Row, expect, say
from tests.cluster import mini
from tests.cluster.mini import MiniSlurm

ON_SLURM = ("--on=slurm", "--cpus=2", "--time=10")
MEMORY_GB = 2
# Submitted again, a task would be there within so long: the follower looks several times.
AGAIN_SECONDS = 6.0
# What was requeued waits in Slurm for two minutes, with this reason, unless it is told not to.
HELD_REASON = "BeginTime"
# Read by every Python that finds it on its path: one group's worker takes memory at some moment.
BALLOON_VARIABLE = "SOAK_BALLOON"
BALLOON = f"""
import os, sys, threading, time

name, seconds, gigabytes = (os.environ.get("{BALLOON_VARIABLE}") or "- 0 0").split()
words = getattr(sys, "orig_argv", ())

def swell():
    time.sleep(float(seconds))
    held = []
    for _ in range(10 * int(gigabytes)):
        held.append(b"x" * 10**8)
    time.sleep(60)

if "work-group" in words and words[-1].endswith(name):
    threading.Thread(target=swell, daemon=True).start()
"""


@dataclass(frozen=True)
class FollowedRun:
    """A run whose tasks are at Slurm: its folder, and the process that follows them."""

    path: Path
    follower: "subprocess.Popen[str]"

    @property
    def id(self) -> str:
        """The run's id, which is also what its tasks are called."""
        return self.path.name


class TaskDisturbance:
    """What befalls the tasks of a run, and what has to come of it.

    Args:
      place: where it works; the process is within it.
      runs: the folder of runs.
      slurm: where the tasks go.

    Attributes:
      rng: draws the moments of the next try.
      seconds: how long the undisturbed run took.
    """

    def __init__(self, place: Place, runs: Path, slurm: MiniSlurm) -> None:
        self._place, self._runs, self._slurm = place, runs, slurm
        self.rng = random.Random()
        self._true, self.seconds = place.train_undisturbed("tasks", *IN_GROUPS, *ON_SLURM)
        self._longest: dict[str, float] = {}

    def follower(self, details: Moment) -> None:
        """The process on the login node is killed: the tasks bring the run to its end alone."""
        run = self._begin("follower", details, submitted=False)
        kill(run.follower)
        time.sleep(AGAIN_SECONDS / 3)  # What it had just begun to submit is there by now.
        if not self._list_tasks(run):
            details.append("before its tasks were submitted")
            resume(run.id)
        self._wait_for_end(run, "finished")
        results.same_run(run.path, self._true)

    def task(self, details: Moment) -> None:
        """A task's process is killed, alone or with the one around it: it is started again."""
        number = 1 + self.rng.randrange(GROUPS)
        run = self._begin("task", details, number)
        (worker,) = find_group_workers(run.id, number)[:1]
        processes = [worker]
        if self.rng.randrange(2) and (around := worker.parent()):
            processes.insert(0, around)
        details.append(f"group {number}, {len(processes)} of its processes")
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._expect_finished(run)

    def node(self, details: Moment) -> None:
        """A node loses its power with all that works on it: its task goes on elsewhere."""
        number = 1 + self.rng.randrange(GROUPS)
        run = self._begin("node", details, number)
        node = self._slurm.run("squeue", "-h", "-j", self._find_task(run, number), "-o", "%N").strip()
        details.append(f"group {number} on {node}")
        self._slurm.kill_node(node, told=True)
        try:
            self._expect_finished(run)
        finally:
            self._slurm.start_node(node)

    def one_cancelled(self, details: Moment) -> None:
        """One group's task is cancelled: it stays so, and the run says it is stopped."""
        number = 1 + self.rng.randrange(GROUPS)
        run = self._begin("one_cancelled", details, number)
        details.append(f"group {number}")
        self._expect_cancelled(run, details, self._find_task(run, number))

    def all_cancelled(self, details: Moment) -> None:
        """All tasks are cancelled, followed or not: nothing is submitted again."""
        run = self._begin("all_cancelled", details, *range(1, GROUPS + 1))
        self._expect_cancelled(run, details, *self._list_tasks(run))

    def stop(self, details: Moment) -> None:
        """Stop is pressed where nobody follows the tasks any more: all end, and none comes back."""
        run = self._begin("stop", details, *range(1, GROUPS + 1))
        kill(run.follower)
        done = call("runs", "stop", run.id)
        too_late = "is finished: there is nothing to stop" in done.err
        expect(done.code == 0 or too_late, f"Stop was refused: {done.err[-300:]!r}")
        self._expect_stopped(run, details)

    def memory(self, details: Moment) -> None:
        """A task takes more memory than it asked for: Slurm's word is kept, none comes again."""
        from ensemble.runs.groups.tasks import read_group_tasks

        number, most = 1 + self.rng.randrange(GROUPS), self._longest.get("memory", self.seconds)
        while True:
            moment = self.rng.uniform(0, most)
            with balloon(self._runs.parent, f":{number} {moment} {MEMORY_GB}"):
                run = self._start("train", *IN_GROUPS, *ON_SLURM, f"--memory={MEMORY_GB}")
                done = ended(run.follower)
            if done.result()["state"] != "finished":
                break
            most = self._longest["memory"] = moment
        details.append(f"group {number} at {moment:.2f} s")
        word = read_group_tasks(run.path)[number].word
        expect(word == "OUT_OF_MEMORY", f"Slurm's word is {word!r}: {done.err[-300:]!r}")
        expect(done.result()["state"] == "failed", f"it is {done.out}")
        expect("(OUT_OF_MEMORY). Give each task more with --memory" in done.err, done.err[-300:])
        self._expect_no_more_tasks(run)
        self._resume_to_same_bits(run, f"--memory={MEMORY_GB + 1}")

    def clear(self) -> None:
        """End all that is left of a try."""
        self._slurm.run("scancel", "--user=root")
        end_workers(self._runs)
        wait_until(lambda: not self._slurm.run("squeue", "-h"))

    def _begin(self, kind: str, details: Moment, *numbers: int, submitted: bool = True) -> FollowedRun:
        """A new run, at any moment of the work of these groups.

        Args:
          kind: of the try.
          details: take up the moment.
          numbers: the groups whose processes have to be there.
          submitted: whether all tasks have to be at Slurm.
        """
        while True:
            run = self._start("train", *IN_GROUPS, *ON_SLURM)
            if submitted:
                self._wait(run, lambda run=run: self._are_at_work(run, numbers))
            moment = self.rng.uniform(0, self._longest.get(kind, self.seconds))
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.follower.wait(moment)
            alive = run.follower.poll() is None
            if alive and (not submitted or self._are_at_work(run, numbers)):
                details.append(f"at {moment:.2f} s")
                return run
            # It had come to its end: the next is disturbed sooner.
            self._longest[kind] = moment
            ended(run.follower)

    def _start(self, *words: str) -> FollowedRun:
        before, new = set(self._runs.glob("*/config.json")), set[Path]()
        child = start(*words)

        def is_there() -> bool:
            new.update(set(self._runs.glob("*/config.json")) - before)
            return bool(new) or child.poll() is not None

        wait_until(is_there, every=0.02)
        expect(new, f"no run began: {child.poll()}")
        return FollowedRun(new.pop().parent, child)

    def _are_at_work(self, run: FollowedRun, numbers: tuple[int, ...]) -> bool:
        """Whether all tasks are submitted and noted, and these groups have their processes."""
        from ensemble.runs.groups.tasks import read_group_tasks

        noted = [task for task in read_group_tasks(run.path).values() if task.id]
        return len(noted) == GROUPS and all(find_group_workers(run.id, at) for at in numbers)

    def _wait(self, run: FollowedRun, true: Callable[[], object]) -> None:
        """Until it is true, or the follower has ended."""
        over = wait_until(lambda: true() or run.follower.poll() is not None, every=0.1)
        expect(over, f"its tasks did not begin: {self._slurm.run('squeue')}")

    def _list_tasks(self, run: FollowedRun, states: str = "all", form: str = "%i") -> list[str]:
        """A line for each task of a run at Slurm, those that ended among them."""
        options = ("-h", "--array", f"--name={run.id}", f"--states={states}", f"--format={form}")
        return self._slurm.run("squeue", *options).splitlines()

    def _find_task(self, run: FollowedRun, number: int) -> str:
        """Slurm's id of a group's task."""
        from ensemble.runs.groups.tasks import read_group_tasks

        return read_group_tasks(run.path)[number].id

    def _release_held(self, run: FollowedRun) -> None:
        """Have what Slurm has requeued begin at once, not two minutes later."""
        held = [
            line.partition("|")[0] for line in self._list_tasks(run, "pending", "%i|%r") if line.endswith(HELD_REASON)
        ]
        if held:
            # Within the same second its node takes it for the one that was revoked.
            time.sleep(1.5)
        for task in held:
            with contextlib.suppress(subprocess.CalledProcessError):
                self._slurm.run("scontrol", "update", f"jobid={task}", "StartTime=now")

    def _expect_finished(self, run: FollowedRun) -> None:
        """A loss unless the run is brought to its end, without a person, in the same bits."""

        def is_over() -> bool:
            self._release_held(run)
            return run.follower.poll() is not None

        expect(wait_until(is_over, every=0.5), "it did not come to its end")
        done = ended(run.follower)
        expect(done.code == 0, f"it ended with {done.code}: {done.err[-300:]!r}")
        results.same_run(run.path, self._true)

    def _expect_cancelled(self, run: FollowedRun, details: Moment, *tasks: str) -> None:
        """Cancel tasks: a loss unless the run is stopped, nothing is submitted, and it resumes."""
        if self.rng.randrange(2):
            kill(run.follower)
            details.append("with nobody following")
        self._slurm.run("scancel", *tasks)
        self._expect_stopped(run, details)

    def _expect_stopped(self, run: FollowedRun, details: Moment) -> None:
        """A loss unless the run is stopped, no task comes again, and it resumes to its bits.

        It may have done all there was to do before it heard of that.
        """
        state = self._wait_for_end(run, "stopped", "finished")
        if run.follower.returncode is None:
            done = ended(run.follower)
            fits = done.code == {"stopped": 130, "finished": 0}[state]
            expect(fits, f"it is {state} and ended with {done.code}: {done.err[-300:]!r}")
        self._expect_no_more_tasks(run)
        if state == "finished":
            details.append("too late to stop it")
            results.same_run(run.path, self._true)
        else:
            self._resume_to_same_bits(run)

    def _wait_for_end(self, run: FollowedRun, *states: str) -> str:
        """The state that a run ends in; a loss unless it is one of these."""
        from ensemble import runs

        def has_ended() -> bool:
            self._release_held(run)
            return runs.find_run(run.id).state in states

        wait_until(has_ended, every=0.5)
        found = runs.find_run(run.id)
        expect(found.state in states, f"it is {found.state}: {found.message}")
        return found.state

    def _expect_no_more_tasks(self, run: FollowedRun) -> None:
        """A loss if one of the run's tasks goes on, or another is submitted."""
        over = wait_until(lambda: not self._list_tasks(run, "pending,running"))
        expect(over, f"tasks go on: {self._slurm.run('squeue')}")
        time.sleep(AGAIN_SECONDS)
        tasks = self._list_tasks(run)
        expect(len(tasks) == GROUPS, f"{len(tasks)} tasks were submitted, not {GROUPS}: {tasks}")

    def _resume_to_same_bits(self, run: FollowedRun, *words: str) -> None:
        resume(run.id, *words)
        results.same_run(run.path, self._true)


@contextlib.contextmanager
def balloon(folder: Path, words: str) -> Iterator[None]:
    """Within this, what is started takes memory as `words` say."""
    (folder / "balloon").mkdir(exist_ok=True)
    (folder / "balloon" / "sitecustomize.py").write_text(BALLOON)
    put(BALLOON_VARIABLE, words)
    put("PYTHONPATH", os.pathsep.join((str(folder / "balloon"), str(ROOT))))
    try:
        yield
    finally:
        put(BALLOON_VARIABLE, None)
        put("PYTHONPATH", str(ROOT))


KINDS = ("follower", "task", "node", "one_cancelled", "all_cancelled", "stop", "memory")
TITLES = {
    "follower": "Slurm: follower killed",
    "task": "Slurm: a task's process killed",
    "node": "Slurm: a node lost",
    "one_cancelled": "Slurm: one task cancelled",
    "all_cancelled": "Slurm: all tasks cancelled",
    "stop": "Slurm: stopped with nobody following",
    "memory": "Slurm: out of memory",
}


def tasks(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many accidents of runs on a Slurm of three nodes, of each kind in turn.

    Args:
      place: where.
      rng: draws the moments.
      count: how many.
    """
    rows = {kind: Row(TITLES[kind]) for kind in KINDS[:count]}
    if why := mini.missing():
        return [Row("Slurm", skipped=why)]
    before = os.environ.get("SLURM_CONF")
    with MiniSlurm(mini.new_folder()).running() as slurm, place.part("tasks") as runs:
        put("SLURM_CONF", str(slurm.conf))
        try:
            disturbance = TaskDisturbance(place, runs, slurm)
            say(f"the undisturbed run on Slurm took {disturbance.seconds:.0f} s")
            for kind, _ in zip(itertools.cycle(rows), range(count)):
                # One of its own for each: how often it draws depends on the clock.
                disturbance.rng = random.Random(rng.getrandbits(64))
                with rows[kind].attempt() as details:
                    try:
                        getattr(disturbance, kind)(details)
                    finally:
                        disturbance.clear()
        finally:
            put("SLURM_CONF", before)
    return list(rows.values())
