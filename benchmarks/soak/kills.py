"""SIGKILL at any moment; what is gone on with afterwards has to end in the same bits."""

import contextlib
import functools
import itertools
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from benchmarks.soak import results
from benchmarks.soak.place import MOST_SECONDS, SETTINGS, Place, call, end_workers, kill, resume, start, wait_until
from benchmarks.soak.rows import Row, expect, say

IMAGES = 40
SOLVE = (
    "lbfgs",
    "--json",
    "--samples=2000",
    "--features=20",
    "--classes=3",
    "--iterations=12",
    "--devices=2",
    "--no-sweep",
)
IN_A_QUEUE = 3
# At most so long after it has begun: to save, to wait or to train.
SAVING_SECONDS, IN_STATE_SECONDS = 0.15, 0.7
Moment = list[object]


class Killing:
    """What is killed, each kind with what it is compared to, made when first asked for.

    Args:
      place: where it works; the process is within it.
      runs: the folder of runs.

    Attributes:
      rng: draws the moments of the next kill.
    """

    def __init__(self, place: Place, runs: Path) -> None:
        self._place, self._runs, self.rng = place, runs, random.Random()
        self._numbers = itertools.count(1)
        self._longest: dict[str, float] = {}

    def training(self, details: Moment) -> None:
        """Killed at any moment from its start on, then resumed."""
        true, before = self._place.undisturbed, self._found()
        self._kill("training", lambda: start("train", *self._place.train_options), self._place.train_seconds, details)
        self._end_of_killed(before, true)

    def checkpointing(self, details: Moment) -> None:
        """Killed while a checkpoint is being written: the first, or a later one."""
        true, before, skip = self._place.undisturbed, self._found(), self.rng.randrange(2)
        child = start("train", *self._place.train_options)
        wait_until(lambda: self._found() - before, every=0.02)
        (run,) = self._found() - before
        saving = set[str]()

        def at_it() -> bool:
            with contextlib.suppress(OSError):
                saving.update(path.name for path in (run / "checkpoints").iterdir() if not path.name.isdigit())
            return len(saving) > skip or child.poll() is not None

        wait_until(at_it, every=0.001)
        moment = self.rng.uniform(0, SAVING_SECONDS)
        time.sleep(moment)
        expect(kill(child), "it ended before it could be killed")
        details.append(f"{1000 * moment:.0f} ms into checkpoint {len(saving)}")
        self._end_of_killed(before, true)

    def resuming(self, details: Moment) -> None:
        """A stopped run that is killed while it goes on, then resumed once more."""
        true, stopped = self._place.undisturbed, self._stopped
        copies = list[Path]()

        def again() -> "subprocess.Popen[str]":
            copies.append(self._copy(stopped))
            return start("train", "--resume", copies[-1].name)

        self._kill("resuming", again, self._place.train_seconds, details)
        resume(copies[-1].name)
        results.same_run(copies[-1], true)

    def stress(self, details: Moment) -> None:
        """Measuring under shift that is killed, then started again."""
        true, seconds = self._measured
        copies = list[Path]()

        def measure() -> "subprocess.Popen[str]":
            copies.append(self._copy(self._place.undisturbed))
            return start("stress", copies[-1].name, f"--limit={IMAGES}")

        self._kill("stress", measure, seconds, details)
        done = call("stress", copies[-1].name, f"--limit={IMAGES}")
        expect(done.code == 0, done.err[-300:])
        results.same_stress(copies[-1], true)

    def regression(self, details: Moment) -> None:
        """A regression that is killed: what it had is kept, and a new one comes out the same."""
        (true, seconds), before = self._solved, self._found()
        self._kill("regression", lambda: start(*SOLVE), seconds, details)
        for run in self._found() - before:
            results.same_solve(run, true, whole=False)
        done = call(*SOLVE)
        expect(done.code == 0, done.err[-300:])
        results.same_solve(self._runs / done.result()["run_id"], true, whole=True)

    def queue(self, details: Moment) -> None:
        """One of several runs in a queue is killed: the others end, and it can be resumed."""
        from ensemble import runs
        from ensemble.config import EnsembleConfig

        true = self._place.undisturbed
        config = EnsembleConfig(**SETTINGS, epochs=self._place.epochs)
        ids = [runs.launch_run(config).id for _ in range(IN_A_QUEUE)]
        number = self.rng.randrange(IN_A_QUEUE)
        states = ("starting", "training") if number == 0 else ("queued", "training")
        state = self.rng.choice(states)
        wait_until(lambda: said_by(runs.find_run(ids[number])) in (state, "finished"), every=0.01)
        time.sleep(self.rng.uniform(0, IN_STATE_SECONDS))
        victim = runs.find_run(ids[number])
        details.append(f"number {number + 1}, {victim.state}")
        expect(victim.active, "it had ended before it could be killed")
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(victim.status.pid).kill()
        ended = wait_until(
            lambda: not any(runs.find_run(queued_id).active for queued_id in ids), IN_A_QUEUE * MOST_SECONDS
        )
        expect(ended, "they did not come to their end")
        for run_id in ids:
            if run_id == victim.id:
                resume(run_id)
            results.same_run(self._runs / run_id, true)
        end_workers(self._runs)

    @functools.cached_property
    def _stopped(self) -> Path:
        """A run that was asked to stop after its first epoch."""
        before = self._found()
        child = start("train", *self._place.train_options)
        wait_until(
            lambda: any(
                line["kind"] == "epoch" for run_path in self._found() - before for line in whole_lines(run_path)
            ),
            every=0.02,
        )
        child.terminate()
        child.communicate(timeout=MOST_SECONDS)
        (run,) = self._found() - before
        expect(child.returncode == 130, f"a run that was to stop ended with {child.returncode}")
        return run

    @functools.cached_property
    def _measured(self) -> tuple[Path, float]:
        run, began = self._copy(self._place.undisturbed), time.monotonic()
        done = call("stress", run.name, f"--limit={IMAGES}")
        expect(done.code == 0, done.err[-300:])
        return run, time.monotonic() - began

    @functools.cached_property
    def _solved(self) -> tuple[Path, float]:
        done, began = call(*SOLVE), time.monotonic()
        done = call(*SOLVE)
        expect(done.code == 0, done.err[-300:])
        return self._runs / done.result()["run_id"], time.monotonic() - began

    def _kill(self, kind: str, begin: Callable[[], "subprocess.Popen[str]"], most: float, details: Moment) -> None:
        """Begin it, and kill it at any moment before its end."""
        while True:
            most = self._longest.get(kind, most)
            child, moment = begin(), self.rng.uniform(0, most)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(moment)
            if kill(child):
                break
            # What compiled nothing any more ends sooner than the one before it.
            self._longest[kind] = moment
        details.append(f"at {moment:.2f} s")

    def _end_of_killed(self, before: set[Path], true: Path) -> None:
        """Bring what was killed to its end; where it had not even a folder, begin anew."""
        if new := self._found() - before:
            run = new.pop()
            resume(run.name)
        else:
            done = call("train", *self._place.train_options)
            expect(done.code == 0, done.err[-300:])
            run = self._runs / done.result()["run_id"]
        results.same_run(run, true)

    def _found(self) -> set[Path]:
        return {path.parent for path in self._runs.glob("*/config.json")}

    def _copy(self, run: Path) -> Path:
        """The same run once more, under another id."""
        copy = self._runs / f"digits-0101-{next(self._numbers):06d}"
        shutil.copytree(run, copy)
        return copy


def said_by(run: Any) -> str:
    """The state that a run's worker has written; "" while it has none."""
    return str(run.state) if run.status.pid else ""


def whole_lines(run: Path) -> list[results.Line]:
    """The lines so far of a run that is at it."""
    try:
        return results.lines(run)
    except ValueError:  # The last one is being written.
        return []


KINDS = ("training", "checkpointing", "resuming", "stress", "regression", "queue")


def kills(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many kills, spread over all kinds.

    Args:
      place: where.
      rng: draws the moments.
      count: how many.
    """
    rows = {kind: Row(f"kill: {kind}") for kind in KINDS[:count]}
    say(f"the undisturbed run: {place.undisturbed.name}")
    with place.part("kills") as runs:
        killing = Killing(place, runs)
        for kind, _ in zip(itertools.cycle(rows), range(count)):
            # One of its own for each: how often it draws depends on the clock.
            killing.rng = random.Random(rng.getrandbits(64))
            with rows[kind].attempt() as details:
                getattr(killing, kind)(details)
    return list(rows.values())
