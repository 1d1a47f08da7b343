"""The map of members by epochs, from the files on: python -m benchmarks.screens.members_for_epochs

M = 8 members, E = 10 epochs, N = 10,000 images, C = 10 classes, as surely and as often right as
networks are on MNIST, from their first epoch to their last. At first nothing is cached; then what
was cached on disk is read; then a budget is moved. It has to take at most 3 s.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.screens.drawn_runs import EXAMPLES, ROUNDS, probabilities

MEMBERS, EPOCHS, MOST_SECONDS = 8, 10, 3.0


def write_run() -> str:
    """The id of a new run that has kept the predictions of all its epochs."""
    from ensemble import datasets, runs
    from ensemble.config import EnsembleConfig
    from ensemble.runs.history import write_predictions

    run = runs.create_run(EnsembleConfig(dataset="mnist", members=MEMBERS, epochs=EPOCHS))
    labels = np.asarray(datasets.load_dataset("mnist").test_labels[:EXAMPLES])
    last = probabilities(labels, MEMBERS)
    for epoch in range(1, EPOCHS + 1):
        sure = last ** (0.3 + 0.7 * epoch / EPOCHS)  # of early epochs nothing is clear
        distributions = sure / sure.sum(axis=-1, keepdims=True)
        write_predictions(run.path, epoch, distributions.astype(np.float32))
    return run.id


def measure(run_id: str) -> dict[str, float]:
    """Seconds of each step, the median of ROUNDS."""
    from ensemble import runs
    from ensemble.analysis.planning.plan_choice import choose_best_plan
    from ensemble.planning.plan_grids import load_plan_grids
    from ensemble.storage.folders import data_folder

    run, seconds = runs.find_run(run_id), dict[str, list[float]]()

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        seconds.setdefault(name, []).append(time.perf_counter() - began)
        return result

    for _ in range(ROUNDS):
        for file in (data_folder() / "kept").glob("plan-*.npz"):
            file.unlink()
        timed("map, nothing cached", lambda: load_plan_grids(run))
        maps = timed("map, cached on disk", lambda: load_plan_grids(run))
        half = partial(choose_best_plan, maps.test, MEMBERS * EPOCHS // 2)
        timed("a budget's best plan", half)
    return {name: round(statistics.median(each), 3) for name, each in seconds.items()}


def main() -> None:
    common.isolated_folders()
    timings = measure(write_run())
    for name, seconds in timings.items():
        print(f"{name:<24} {seconds:6.3f} s")
    held = timings["map, nothing cached"] <= MOST_SECONDS
    print(f"at most {MOST_SECONDS:g} s: {'held' if held else 'missed'}")
    common.keep("members_for_epochs", {"seconds": timings, "most": MOST_SECONDS})


if __name__ == "__main__":
    main()
