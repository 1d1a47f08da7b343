"""Competitors that take turns: processes that train only while it is theirs.

Each competitor is one process, or several that train at once, started and warmed up before the
first slice. A line with a number of seconds on its standard input is a slice; it answers with
what it did per second in it. While it is not a competitor's turn it waits for that line and
takes nothing of the machine.
"""

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import common

READY = "ready"
# Where several keep up with the best of their group at first sight, all of them stay.
CLOSE = 0.85


def answer(unit: Callable[[], float], clock: Callable[[], float] = time.perf_counter) -> None:
    """Be a competitor: warm up, say so, then do a slice for every line on standard input.

    Args:
      unit: does some work, to its end, and returns how much it was.
      clock: what seconds are: of the day, or `time.process_time` on a machine that others use.
    """
    unit()
    unit()
    print(READY, flush=True)
    for line in sys.stdin:
        limit, did, began = float(line), 0.0, clock()
        while (seconds := clock() - began) < limit:
            did += unit()
        print(did / seconds, flush=True)


@dataclass
class Competitor:
    """One training loop; its speed is the sum of its processes'.

    Attributes:
      name: what it is called in the results.
      group: competitors of which the best counts.
      words: what `python -m` is given to start each process.
      processes: how many train at once.
      slices: what each of its turns measured.
    """

    name: str
    group: str
    words: tuple[str, ...]
    processes: int = 1
    slices: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Start its processes, which warm up."""
        # A child's warnings are its own: what it prints is what it is asked.
        log = None if os.environ.get("BENCHMARK_LOG") else subprocess.DEVNULL
        self.children = [
            subprocess.Popen(
                [sys.executable, "-m", *self.words],
                stdin=subprocess.PIPE,
                stderr=log,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
                cwd=common.ROOT,
            )
            for _ in range(self.processes)
        ]

    def wait_until_ready(self) -> None:
        """Come back when all of its processes have warmed up."""
        if {self.read(child) for child in self.children} != {READY}:
            raise SystemExit(f"{self.name} did not start. BENCHMARK_LOG=1 shows why.")

    def turn(self, seconds: float) -> float:
        """One slice: what all of its processes did per second."""
        for child in self.children:
            child.stdin.write(f"{seconds}\n")
        return sum(float(self.read(child)) for child in self.children)

    def read(self, child: "subprocess.Popen[str]") -> str:
        line = child.stdout.readline().strip()
        if not line:
            raise SystemExit(f"{self.name} ended. BENCHMARK_LOG=1 shows why.")
        return line

    def stop(self) -> None:
        for child in self.children:
            child.stdin.close()
            child.wait()


def best_of(competitors: Iterable[Competitor], value: Callable[[Competitor], float]) -> dict[str, Any]:
    """The competitor of each group whose `value` is the largest."""
    best: dict[str, Competitor] = {}
    for competitor in competitors:
        if competitor.group not in best or value(competitor) > value(best[competitor.group]):
            best[competitor.group] = competitor
    return best


def start_all(competitors: list[Competitor]) -> None:
    """Group after group: those of a group import and compile side by side, to be quick."""
    began = time.perf_counter()
    for name, some in itertools.groupby(competitors, lambda entrant: entrant.group):
        group = list(some)
        for competitor in group:
            competitor.start()
        for competitor in group:
            competitor.wait_until_ready()
        print(f"{time.perf_counter() - began:.0f} s: {name} ready", file=sys.stderr, flush=True)


def take_turns(competitors: list[Competitor], rounds: int, seconds: float) -> dict[str, float]:
    """Let all of them have one slice, then those that are near their group's best `rounds` more.

    The first slice is a look and does not count: who reaches less than 85 % of the best of its
    group in it is left out of the rounds, so that the whole takes minutes. `slices` of the
    competitors is filled in.

    Returns:
      What each did per second at that first look.
    """
    start_all(competitors)
    look = {entrant.name: entrant.turn(seconds) for entrant in competitors}
    best = best_of(competitors, lambda entrant: look[entrant.name])
    stay = [entrant for entrant in competitors if look[entrant.name] >= CLOSE * look[best[entrant.group].name]]
    for competitor in competitors:
        if competitor not in stay:
            competitor.stop()
    for number in range(rounds):
        # There and back: a machine that grows slower then favours nobody.
        for competitor in stay if number % 2 else stay[::-1]:
            competitor.slices.append(competitor.turn(seconds))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    for competitor in stay:
        competitor.stop()
    return look


def ratio(competitor: Competitor, other: Competitor) -> float:
    """How many times as fast as the other: the median over the rounds."""
    pairs = zip(competitor.slices, other.slices, strict=True)
    return statistics.median(rate / other_rate for rate, other_rate in pairs)
