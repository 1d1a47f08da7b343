"""Every verdict in every setting, many times over, on several processor cores."""

import math
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.verdicts import trials
from benchmarks.verdicts.trials import Setting, Told, Trial

SIZES, MEMBERS = (500, 10_000), (2, 4, 10)
# Each verdict, the true losses (in margins) it is tried with, and whether it counts. Committees
# lose some NLL on average whatever the images (Jensen), so there a tenth stands for nothing.
VERDICTS: dict[str, tuple[Trial, tuple[float, ...], bool]] = {
    "enough, accuracy": (trials.enough_by_accuracy, (0, 2), True),
    "enough, NLL": (trials.enough_by_nll, (0.1, 2), True),
    "loses, accuracy": (trials.loses_accuracy, (0, 2), True),
    "loses, NLL": (trials.loses_nll, (0.1, 2), True),
    "calibrated": (trials.calibrated, (0,), True),
    "temperature helps": (trials.temperature_helps, (0,), True),
    "gain": (trials.gain_in_accuracy, (0, 2), True),
    "better run": (trials.better_run, (0, 2), True),
    "better run, images in copies": (trials.better_run_of_copies, (0,), True),
    "better run, images by writer": (trials.better_run_of_writers, (0,), True),
    "calibrated, images in copies": (trials.calibrated_copies, (0,), True),
    "better without a member": (trials.better_without, (0, 2), True),
    "best of 20 noise trials": (trials.worse_trials, (0,), True),
    "interval of the gain": (trials.interval_of_the_gain, (0, 2), True),
    "interval of the difference": (trials.interval_of_the_difference, (0, 2), True),
    "interval of the NLL": (trials.interval_of_nll, (0, 2), True),
    "bootstrap of the difference": (trials.bootstrap_of_the_difference, (0, 2), False),
}
# How many test sets of 500 are drawn, and of 10,000; --quick draws a tenth.
DRAWS = {500: 1_000, 10_000: 400}
SLOW = 100  # of what judges a thousand committees on 10,000 images
PARTS = 2  # of the draws of one setting, side by side


def draws(name: str, setting: Setting, quick: bool) -> int:
    """How many test sets are drawn."""
    committees = name.startswith(("enough", "loses"))
    many = SLOW if committees and setting.members * setting.n > 50_000 else DRAWS[setting.n]
    return max(20, many // 10) if quick else many


def tried(name: str, setting: Setting, count: int, part: int) -> list[Told]:
    """One part of the draws of one setting, from a seed of their own."""
    trial = VERDICTS[name][0]
    rng = np.random.default_rng(
        [trials.SEED, setting.n, setting.members, int(10 * setting.loss), part, *map(ord, name)]
    )
    return [trial(setting, rng) for _ in range(count)]


def row(name: str, setting: Setting, verdicts: list[Told]) -> dict[str, Any]:
    """What the draws of one setting come to."""
    rate = sum(verdict.wrong for verdict in verdicts) / len(verdicts)
    return {
        "verdict": name,
        **setting._asdict(),
        "draws": len(verdicts),
        "claimed": sum(verdict.claimed for verdict in verdicts) / len(verdicts),
        "wrong": rate,
        "standard_error": math.sqrt(max(rate * (1 - rate), 1 / len(verdicts) ** 2) / len(verdicts)),
    }


def simulated(quick: bool, processes: int) -> list[dict[str, Any]]:
    """Every verdict in every setting, each printed when it is done."""
    wanted = [
        (name, Setting(n, members, loss))
        for name, (_, losses, _) in VERDICTS.items()
        for n in SIZES
        for members in MEMBERS
        for loss in losses
    ]
    rows = []
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of each process
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting = [
            [pool.submit(tried, *pair, draws(*pair, quick) // PARTS, part) for part in range(PARTS)]
            for pair in wanted
        ]
        for (name, setting), parts in zip(wanted, waiting, strict=True):
            figures = row(name, setting, [verdict for part in parts for verdict in part.result()])
            rows.append(figures)
            print(
                f"{name:30} N {setting.n:6,}  M {setting.members:2}  loss {setting.loss:3} margins "
                f"claimed {figures['claimed']:6.1%}  wrong {figures['wrong']:6.2%} "
                f"± {figures['standard_error']:.2%}  of {figures['draws']:,}",
                flush=True,
            )
    return rows
