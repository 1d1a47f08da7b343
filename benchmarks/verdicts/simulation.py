"""Every verdict in every setting, many times over, on several processor cores."""

import math
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.verdicts import trials
from benchmarks.verdicts.chance_trials import CHANCE_VERDICTS
from benchmarks.verdicts.label_trials import LABEL_VERDICTS
from benchmarks.verdicts.numeric_trials import NUMERIC_VERDICTS
from benchmarks.verdicts.trials import Setting, Told, Trial
from benchmarks.verdicts.unlabeled_trials import UNLABELED_VERDICTS

SIZES, MEMBERS = (50, 500, 10_000), (1, 2, 4, 10)
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
    "lower NLL of the surer": (trials.lower_nll_of_the_surer, (0, 2), True),
    "weakest class": (trials.weakest_class, (0,), True),
    "interval of balanced accuracy": (trials.interval_of_balanced_accuracy, (0,), True),
    "interval of macro F1": (trials.interval_of_macro_f1, (0,), True),
    "interval of the gain": (trials.interval_of_the_gain, (0, 2), True),
    "interval of the difference": (trials.interval_of_the_difference, (0, 2), True),
    "interval of the NLL": (trials.interval_of_nll, (0, 2), True),
    "bootstrap of the difference": (trials.bootstrap_of_the_difference, (0, 2), False),
}
# Claims that are tried at every size from 1 on, with so many draws each.
SMALL_SIZES, SMALL_DRAWS, SMALL_MEMBERS = (1, 5, 10, 20, 50, 100, 200), 2_000, (5,)
SMALL_VERDICTS = {**UNLABELED_VERDICTS, **NUMERIC_VERDICTS, **CHANCE_VERDICTS, **LABEL_VERDICTS}
VERDICTS |= {name: (trial, losses, True) for name, (trial, losses) in SMALL_VERDICTS.items()}
# What is said of one member, too; the others compare members or committees.
OF_ONE_MEMBER = (
    "calibrated",
    "temperature helps",
    "better run",
    "lower NLL of the surer",
    "weakest class",
    "interval of balanced accuracy",
    "interval of macro F1",
)
# How many test sets of 50, 500 and 10,000 are drawn; --quick draws a tenth.
DRAWS = {50: 1_000, 500: 1_000, 10_000: 400}
SLOW, FEW = 100, 200  # of what judges committees on 10,000 images, and on 50, where all is silent
PARTS = 2  # of the draws of one setting, side by side


def draws(name: str, setting: Setting, quick: bool) -> int:
    """How many test sets are drawn."""
    committees = name.startswith(("enough", "loses"))
    many = SMALL_DRAWS if name in SMALL_VERDICTS else DRAWS[setting.n]
    if committees and setting.n in (50, 10_000):
        many = FEW if setting.n == 50 else SLOW if setting.members > 5 else many
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


def simulated(
    quick: bool, processes: int, names: list[str] | None = None, sizes: list[int] | None = None
) -> list[dict[str, Any]]:
    """Every verdict in every setting, each printed when it is done; or only those of these."""
    wanted = [
        (name, Setting(n, members, loss))
        for name, (_, losses, _) in VERDICTS.items()
        if not names or name in names
        for n in sizes or (SMALL_SIZES if name in SMALL_VERDICTS else SIZES)
        for members in (SMALL_MEMBERS if name in SMALL_VERDICTS else MEMBERS)
        if members > 1 or name in OF_ONE_MEMBER
        for loss in losses
    ]
    rows = []
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of each process
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting = [
            [pool.submit(tried, *pair, draws(*pair, quick) // PARTS, part) for part in range(PARTS)] for pair in wanted
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
