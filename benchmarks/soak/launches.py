"""Many launches at once: all end, each in its turn, none twice, none lost."""

import itertools
import random
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.soak import results
from benchmarks.soak.place import MOST_SECONDS, SETTINGS, Place, python, wait_until
from benchmarks.soak.rows import Row, expect

# One press of Launch, in a process of its own.
LAUNCH = """
import sys
from ensemble import runs
from ensemble.config import EnsembleConfig
print(runs.launch_run(EnsembleConfig({settings}, seed=int(sys.argv[1]))).id)
"""


@dataclass(frozen=True)
class Span:
    """When a run was asked for, begun and done; unix seconds."""

    id: str
    queued: float
    began: float
    ended: float


def launches(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many runs of an epoch, launched by as many processes at once.

    Args:
      place: where.
      rng: draws their seeds.
      count: how many.
    """
    row = Row("launches at once")
    words = ", ".join(f"{name}={value}" for name, value in SETTINGS.items()) + ", epochs=1"
    code, began = LAUNCH.format(settings=words), time.monotonic()
    with place.part("launches") as runs:
        children = [python("-c", code, str(rng.randrange(2**31))) for _ in range(count)]
        said = [child.communicate(timeout=MOST_SECONDS) for child in children]
        ids = [out.strip() for out, _ in said]
        wait_until(lambda: not active(ids), count * MOST_SECONDS / 4)
        row.seconds, spans = time.monotonic() - began, list[Span]()
        for (_, err), name in zip(said, ids, strict=True):
            with row.attempt(name):
                expect(name and ids.count(name) == 1, f"no run of its own: {name!r} {err[-300:]!r}")
                spans.append(checked(runs / name))
        order = Row("launches: order")
        with order.attempt():
            in_order(spans)
        with order.attempt():
            there = {path.parent.name for path in runs.glob("*/config.json")}
            expect(there == set(ids), f"there are {sorted(there)}")
    return [row, order]


def active(ids: list[str]) -> bool:
    """Whether any of them is still at it or waits."""
    from ensemble import runs

    return any(runs.find_run(one).active for one in ids if one)


def checked(run: Path) -> Span:
    """When a run waited and worked; a loss unless it has ended, once and whole."""
    from ensemble import runs

    found = runs.find_run(run.name)
    expect(found.state == "finished", f"{found.state}: {found.message}")
    lines = results.lines(run)
    expect(sum(line["kind"] == "epoch" for line in lines) == 1, "not one line of one epoch")
    steps = [line["step"] for line in lines if line["kind"] == "steps"]
    expect(steps == sorted(set(steps)), f"trained twice: steps {steps}")
    status = found.status
    return Span(run.name, status.queued, status.started, status.updated)


def in_order(spans: list[Span]) -> None:
    """A loss unless each began when the one before it had ended, in the order of asking."""
    by_turn = sorted(spans, key=lambda one: (one.queued, one.id))
    for one, after in itertools.pairwise(by_turn):
        expect(one.began < after.began, f"{after.id} began before {one.id}, asked for earlier")
        expect(one.ended <= after.began, f"{after.id} began while {one.id} was at it")
