"""Sweeps whose workers are killed at any moment: no trial is lost, none is trained twice.

Samplers are asked that learn nothing from other trials, so what a sweep comes to is determined: one
that was killed and resumed has the trials of one to which nothing happened, to the bit.
"""

import contextlib
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.soak import results
from benchmarks.soak.place import Place, call, ended, find_workers, kill, kill_processes, put, resume, start, wait_until
from benchmarks.soak.rows import Row, expect
from ensemble.sweeps.settings import STORAGE_VARIABLE
from tests.services.postgres import AbsentError, cluster

EPOCHS = 2
# Two members a device, as beside other trials: so a trial has the same bits alone.
SHARED = ("--network=logistic", "--members=4", f"--epochs={EPOCHS}", "--workers=2", "--json")
# Trials of several batch sizes are trained one after the other, those of several rates at once.
OPTIONS = {
    "grid": ("--sampler=grid", "--space=learning_rate=0.05,0.2", "--space=batch_size=64,128"),
    "random": (
        "--sampler=random",
        "--sampler-seed=3",
        "--trials=4",
        "--space=learning_rate=0.01..0.5:log",
        "--space=momentum=0.5..0.95",
    ),
}
DATABASE = "PostgreSQL"
STORAGES = ("sqlite", "journal", DATABASE)
LEADER, HELPER, ALL, AGAIN = "the leader", "the other worker", "both", "both, and as it resumes"
VICTIMS = (LEADER, ALL, HELPER, AGAIN)
# Of a trial in the JSON line: what neither the clock nor the id of a run has a part in.
DETERMINED = ("number", "state", "params", "values")
Begun = Callable[[Path, "subprocess.Popen[str]"], bool]


class Search:
    """A sweep to be made again and again, and what comes of it where nothing happens.

    Args:
      place: where that is done, at once.
      name: of its `OPTIONS`.

    Attributes:
      name: as given.
      trial_count: how many trials it has.
      seconds: that it takes at most.
      nbytes: that its folder and those of its runs take.
    """

    def __init__(self, place: Place, name: str) -> None:
        self.name = name
        with place.part(f"undisturbed-{name}") as runs:
            began = time.monotonic()
            done = ended(self.start())
            self.seconds = time.monotonic() - began
            expect(done.code == 0, done.err[-300:])
            record = done.result()
            self._trials, self._best = select_determined(record), record["best"]["number"]
            self.trial_count = len(self._trials)
            self.nbytes = sum(file.stat().st_size for file in runs.rglob("*") if file.is_file())
            self.check(runs, record)

    def start(self) -> "subprocess.Popen[str]":
        """Begin one; its process leads it, and starts the other worker."""
        return start("sweep", *OPTIONS[self.name], *SHARED)

    def resume(self, runs: Path) -> None:
        """Resume one that was cut off, or begin it anew where it had no folder, and check it."""
        if folder := find_sweep_folder(runs):
            resume(folder.name, command="sweep")
            done = call("sweep", folder.name)
        else:
            done = ended(self.start())
        expect(done.code == 0, done.err[-300:])
        self.check(runs, done.result())

    def check(self, runs: Path, record: dict[str, Any]) -> None:
        """A loss unless it has finished, with the trials that it should have, each trained once.

        Args:
          runs: the folder of runs, in which there is no other sweep.
          record: what a command says of it.
        """
        expect(record["state"] == "finished", f"{record['study']} is {record['state']}")
        mine, best = select_determined(record), record["best"]["number"]
        expect(mine == self._trials, f"other trials: {mine} instead of {self._trials}")
        expect(best == self._best, f"the best is {best}, not {self._best}")
        trained = sorted(run_id for trial in record["trials"] for run_id in trial["run_ids"])
        there = sorted(file.parent.name for file in runs.glob("digits-*/config.json"))
        expect(trained == there, f"the trials have the runs {trained}, there are {there}")
        for run_id in trained:
            lines = results.lines(runs / run_id)
            epochs = [line["epoch"] for line in lines if line["kind"] == "epoch"]
            expect(epochs == [*range(1, EPOCHS + 1)], f"{run_id} trained the epochs {epochs}")
            steps = [line["step"] for line in lines if line["kind"] == "steps"]
            expect(steps == sorted(set(steps)), f"{run_id} trained twice: steps {steps}")


def select_determined(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials of a sweep without what depends on the clock."""
    return [{name: trial[name] for name in DETERMINED} for trial in record["trials"]]


def find_sweep_folder(runs: Path) -> Path | None:
    """The folder of the one sweep that there is; None while there is none."""
    return next((file.parent for file in runs.glob("sweep-*/config.json")), None)


def has_process(runs: Path, leader: "subprocess.Popen[str]") -> bool:
    """Whether a sweep has a process: from its start on."""
    return True


def has_folder(runs: Path, leader: "subprocess.Popen[str]") -> bool:
    """Whether a sweep has been made."""
    return find_sweep_folder(runs) is not None


def has_helper(runs: Path, leader: "subprocess.Popen[str]") -> bool:
    """Whether a sweep has another worker."""
    return bool(find_helpers(runs, leader))


def find_helpers(runs: Path, leader: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The workers of a sweep beside the one that was begun with it."""
    return [process for process in find_workers(runs) if process.pid != leader.pid]


@contextmanager
def choose_storage(address: str) -> Iterator[None]:
    """Sweeps that are made within this store their trials there."""
    before = os.environ.get(STORAGE_VARIABLE)
    put(STORAGE_VARIABLE, address)
    try:
        yield
    finally:
        put(STORAGE_VARIABLE, before)


def kill_sweeps(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many sweeps whose workers are killed, in every kind of storage.

    Args:
      place: where.
      rng: draws the moments.
      count: how many.
    """
    rows = {storage: Row(f"kill: sweep in {storage}") for storage in STORAGES[:count]}
    addresses = {storage: storage for storage in rows}
    names = tuple(OPTIONS)[: 1 + (count - 1) // len(VICTIMS)]
    searches = [Search(place, name) for name in names]
    with ExitStack() as stack:
        if DATABASE in rows:
            try:
                addresses[DATABASE] = stack.enter_context(cluster()).address
            except AbsentError as reason:
                rows[DATABASE].skipped = str(reason)
        for number in range(count):
            storage, own = STORAGES[number % len(STORAGES)], random.Random(rng.getrandbits(64))
            turn, kind = divmod(number, len(VICTIMS))
            search, victim = searches[turn % len(searches)], VICTIMS[kind]
            if rows[storage].skipped:
                continue
            with rows[storage].attempt(search.name, victim) as details, choose_storage(addresses[storage]):
                begun = {HELPER: has_helper}.get(victim, has_process)
                with interrupt_search(place, own, search, begun) as (runs, leader, seconds):
                    details.append(f"at {seconds:.2f} s")
                    end_killed_sweep(runs, own, leader, search, victim)
    return list(rows.values())


@contextmanager
def interrupt_search(
    place: Place, rng: random.Random, search: Search, begun: Begun = has_process
) -> Iterator[tuple[Path, "subprocess.Popen[str]", float]]:
    """A sweep in a folder of its own, at any moment before its end.

    Args:
      place: where.
      rng: draws the moment.
      search: which.
      begun: asked, from its start on, whether the moment may be now.

    Yields:
      The folder of runs, the process that leads the sweep, and the seconds since its start.
    """
    while True:
        with place.part("sweeps") as runs:
            began, leader = time.monotonic(), search.start()
            wait_until(partial(is_begun_or_ended, runs, leader, begun), every=0.02)
            with contextlib.suppress(subprocess.TimeoutExpired):
                leader.wait(rng.uniform(0, max(0.0, began + search.seconds - time.monotonic())))
            seconds = time.monotonic() - began
            if leader.poll() is None:
                yield runs, leader, seconds
                return
            # What compiled nothing any more ended sooner than the first one.
            done = ended(leader)
            expect(done.code == 0, done.err[-300:])
            search.seconds = seconds


def is_begun_or_ended(runs: Path, leader: "subprocess.Popen[str]", begun: Begun) -> bool:
    """Whether a sweep need not be waited for any longer."""
    return leader.poll() is not None or begun(runs, leader)


def end_killed_sweep(
    runs: Path, rng: random.Random, leader: "subprocess.Popen[str]", search: Search, victim: str
) -> None:
    """Kill workers now, see what the others do, then resume what is left, and check it."""
    helpers = find_helpers(runs, leader)
    if victim != HELPER:
        kill(leader)
    if victim != LEADER:
        kill_processes(helpers)
    if victim == HELPER:
        return search.check(runs, ended(leader).result())
    if victim == LEADER and helpers:
        check_succession(runs, search)
    folder = find_sweep_folder(runs)
    if victim == AGAIN and folder:
        child = start("sweep", "--resume", folder.name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(rng.uniform(0, search.seconds))
        kill(child)
        kill_processes(find_workers(runs))
    search.resume(runs)


def check_succession(runs: Path, search: Search) -> None:
    """A loss unless who is left of a sweep's workers does all that there is to do."""
    folder = find_sweep_folder(runs)
    wait_until(lambda: not find_workers(runs), every=0.1)
    if folder:
        left = call("sweep", folder.name).result()
        states = [trial["state"] for trial in left["trials"]]
        # One that had no more to do may have gone before the leader could say how it ended.
        whole = states == ["complete"] * search.trial_count
        expect(whole, f"the other worker left it {left['state']}: {states}")
