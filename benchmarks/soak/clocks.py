"""The clock is set while a run trains: it is still seen in training, and left alone."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.soak.place import SETTINGS, Place, end_workers, ended, python, wait_until
from benchmarks.soak.rows import Row, expect

STEPS = (5, 3600, 365 * 24 * 3600)
CASES = [(clock, sign * step) for step in STEPS for sign in (1, -1) for clock in ("both", "boot", "time")]


def clocks(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many readers with their clock moved, of a run in training.

    Args:
      place: where.
      rng: which cases come first, where there are fewer than all.
      count: how many.
    """
    row = Row("clock steps")
    cases = CASES[:1] + rng.sample(CASES[1:], len(CASES) - 1)
    with place.part("clocks") as folder:
        run = None
        for clock, seconds in itertools.islice(itertools.cycle(cases), count):
            with row.attempt(clock, f"{seconds:+d} s"):
                problems = list[str]()
                for action in ("delete", "requeue"):
                    run = in_training(folder, run)
                    problems += amiss(run.name, clock, str(seconds), action)
                expect(not problems, ", ".join(dict.fromkeys(problems)))
    return [row]


def amiss(run_id: str, clock: str, seconds: str, action: str) -> Iterator[str]:
    """What a reader with its clock moved sees, and does, that it should not."""
    words = ("-m", "benchmarks.soak.moved_clock", run_id, clock, seconds, action)
    done = ended(python(*words))
    expect(done.code == 0, done.err[-300:])
    result = done.result()
    if result["state"] != "training":
        yield f"the state was {result['state']}"
    if not result["refused"]:
        yield f"{action} was done"


def in_training(folder: Path, run: Path | None) -> Path:
    """The folder of a run that trains; a new one where the last was taken from its worker."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig

    if run and run.exists() and runs.find_run(run.name).state == "training":
        return run
    end_workers(folder)
    new_run = runs.launch_run(EnsembleConfig(**SETTINGS, epochs=1000))
    expect(wait_until(lambda: runs.find_run(new_run.id).state == "training"), "it did not train")
    return new_run.path
