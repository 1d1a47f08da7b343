"""Turns that count only where nobody else used the machine meanwhile.

How well a program uses all cores shows only while it has them: beside other work one thread gets a
core sooner than two do. So a turn is kept if the processor time of everybody else in it was small,
and the turns go on until there are enough of each competitor, or time is up.
"""

import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.turns import Competitor

TICKS = os.sysconf("SC_CLK_TCK")
MOST_OTHERS = 0.06  # of all cores
PAUSE = 0.3


def busy_seconds() -> float:
    """Processor seconds that this machine has worked since it was started, of all cores."""
    fields = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / TICKS


def process_seconds(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def turn(competitor: Competitor, seconds: float) -> tuple[float, float]:
    """What a competitor did per second, and the others' share of the machine meanwhile."""

    def theirs() -> float:
        return busy_seconds() - sum(process_seconds(child.pid) for child in competitor.children)

    before, began = theirs(), time.perf_counter()
    rate = competitor.turn(seconds)
    wall = time.perf_counter() - began
    return rate, (theirs() - before) / wall / (os.cpu_count() or 1)


def wait_for_quiet(until: float) -> None:
    """Come back once nobody has worked for a moment, or when time is up."""
    while time.monotonic() < until:
        before = busy_seconds()
        time.sleep(PAUSE)
        if busy_seconds() - before < MOST_OTHERS * PAUSE * (os.cpu_count() or 1):
            return


def quiet_turns(competitors: Sequence[Competitor], rounds: int, seconds: float, patience: float, most: float) -> None:
    """Fill in `slices`: `rounds` undisturbed turns of each, or as many as `patience` (s) allows.

    `most` is the share of the machine that others may have in a turn, 1 where they do not matter.
    """
    until = time.monotonic() + patience
    while time.monotonic() < until and min(len(competitor.slices) for competitor in competitors) < rounds:
        least_measured = min(competitors, key=lambda competitor: len(competitor.slices))
        if most < 1:
            wait_for_quiet(until)
        rate, other_share = turn(least_measured, seconds)
        if other_share <= most:
            least_measured.slices.append(rate)
        print(f"{least_measured.name}: {rate:.0f}, others {other_share:.0%}", file=sys.stderr, flush=True)


def median(competitor: Competitor) -> float:
    """The median of its turns; not a number where none was undisturbed."""
    return statistics.median(competitor.slices) if competitor.slices else float("nan")
