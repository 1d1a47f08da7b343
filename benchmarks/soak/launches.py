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
        outputs = [child.communicate(timeout=MOST_SECONDS) for child in children]
        ids = [out.strip() for out, _ in outputs]
        wait_until(lambda: not active(ids), count * MOST_SECONDS / 4)
        row.seconds, spans = time.monotonic() - began, list[Span]()
        for (_, err), name in zip(outputs, ids, strict=True):
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

    return any(runs.find_run(run_id).active for run_id in ids if run_id)


def checked(run: Path) -> Span:
    """When a run waited and worked; a loss unless it has ended, once and whole."""
    from ensemble import runs

    stored_run = runs.find_run(run.name)
    expect(stored_run.state == "finished", f"{stored_run.state}: {stored_run.message}")
    lines = results.lines(run)
    expect(sum(line["kind"] == "epoch" for line in lines) == 1, "not one line of one epoch")
    steps = [line["step"] for line in lines if line["kind"] == "steps"]
    expect(steps == sorted(set(steps)), f"trained twice: steps {steps}")
    status = stored_run.status
    return Span(run.name, status.queued, status.started, status.updated)


def in_order(spans: list[Span]) -> None:
    """A loss unless each began when the one before it had ended, in the order of asking."""
    by_turn = sorted(spans, key=lambda span: (span.queued, span.id))
    for before, after in itertools.pairwise(by_turn):
        expect(before.began < after.began, f"{after.id} began before {before.id}, asked for earlier")
        expect(before.ended <= after.began, f"{after.id} began while {before.id} was at it")
