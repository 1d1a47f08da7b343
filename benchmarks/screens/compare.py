"""Comparing 50 runs of 10 epochs on MNIST: python -m benchmarks.screens.compare

Runs of 4 members as workers leave them, of drawn numbers: 10 learning rates, 5 seeds each. The
times of listing, groups, curves, table and points in a fresh process whose imports are done, with
nothing cached (first), with what was cached on disk (server), and once more in the same process
(again), as a page asks when one of its controls is moved. Earlier epochs of a run are links to one
file: only the epoch that is compared is read.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.screens.drawn_runs import probabilities
from benchmarks.screens.long_run import LINES_AN_EPOCH, figures

RUNS, EPOCHS, MEMBERS, SEEDS = 50, 10, 4, 5


def write_runs() -> list[str]:
    """The ids of RUNS finished runs."""
    from ensemble import datasets

    labels = np.asarray(datasets.load_dataset("mnist").test_labels)
    return [write_run(number, labels) for number in range(RUNS)]


def write_run(number: int, labels: np.ndarray) -> str:
    """The id of one finished run: its rate by the tens, its seed by the ones."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig
    from ensemble.jobs.status import write_status
    from ensemble.runs.epoch_files import locate_epoch_file
    from ensemble.runs.history import write_predictions
    from ensemble.storage.records.json_lines import append_line

    run = runs.create_run(
        EnsembleConfig(
            dataset="mnist",
            members=MEMBERS,
            epochs=EPOCHS,
            seed=number % SEEDS,
            learning_rate=round(0.01 * 1.5 ** (number // SEEDS), 5),
        )
    )
    write_predictions(run.path, 1, probabilities(labels, MEMBERS, seed=number))
    for epoch in range(2, EPOCHS + 1):
        os.link(locate_epoch_file(run.path, "predictions", 1), locate_epoch_file(run.path, "predictions", epoch))
    draws, seconds = np.random.default_rng(number), 0.0
    for epoch in range(1, EPOCHS + 1):
        for part in range(LINES_AN_EPOCH + 1):
            seconds += 1.0 + 0.1 * draws.random()
            line = {**figures(draws, MEMBERS, epoch, part), "seconds": seconds}
            append_line(run.path / "history.jsonl", line)
    write_status(
        run.path,
        replace(
            run.status, state="finished", epoch=EPOCHS, seconds=seconds, img_member_per_s=6_000.0, best_epoch=EPOCHS
        ),
    )
    return run.id


def times() -> dict[str, float]:
    """Seconds of each part, one after the other, and of all."""
    from ensemble import runs
    from ensemble.comparison.comparison_table import build_comparison_table
    from ensemble.comparison.group_curves import compute_group_curves
    from ensemble.comparison.run_groups import group_runs
    from ensemble.comparison.run_points import build_run_points

    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        seconds[name] = round(time.perf_counter() - began, 4)
        return result

    every = timed("list", runs.list_runs)
    groups = timed("groups", lambda: group_runs(every))
    timed("curves, test", lambda: compute_group_curves(groups, band="interval"))
    timed("curves, train over seconds", lambda: compute_group_curves(groups, split="train", x="seconds"))
    timed("table", lambda: build_comparison_table(groups, every[0].id))
    single = group_runs(every, ["learning_rate", "seed"])
    timed("table of single runs", lambda: build_comparison_table(single, every[0].id))
    timed("points", lambda: build_run_points(every))
    seconds["all"] = round(sum(seconds.values()), 3)
    return seconds


def in_a_fresh_process() -> dict[str, Any]:
    """The times of a process that has read nothing yet, and of the same once more."""
    words = [sys.executable, "-m", "benchmarks.screens.compare", "times"]
    output = subprocess.run(words, check=True, capture_output=True, text=True, cwd=common.ROOT)
    timings: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    return timings


def main() -> None:
    """Write the runs, measure, and keep the figures."""
    common.isolated_folders()
    write_runs()
    first, server = in_a_fresh_process(), in_a_fresh_process()
    common.keep(
        "compare",
        {
            "runs": RUNS,
            "epochs": EPOCHS,
            "members": MEMBERS,
            "images": 10_000,
            "seconds_first": first["fresh"],
            "seconds_server": server["fresh"],
            "seconds_again": server["again"],
        },
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["times"]:
        # What a page has imported already.
        import ensemble.comparison.comparison_table
        import ensemble.comparison.run_points  # noqa: F401

        print(json.dumps({"fresh": times(), "again": times()}))
    else:
        main()
