"""Runs of every kind, trained by the command line: what the runs of a month are copied from."""

import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common

OWN_DATASET = "leaves_00"
OWN_CLASSES, OWN_SIDE, OWN_IMAGES = 5, 12, 300
# Words of `ensemble train`; small, so that all of them are a minute's work.
TRAININGS = {
    "digits": "--dataset digits --network mlp --width 32 --members 4 --epochs 3",
    "chosen": "--dataset digits --network logistic --members 2 --epochs 5 --validation 0.1",
    "cnn": "--dataset digits --network cnn --width 8 --members 3 --epochs 2",
    "mnist": "--dataset mnist --network mlp --width 32 --members 4 --epochs 3",
    "own": f"--dataset {OWN_DATASET} --network logistic --members 3 --epochs 3",
}
NUMBERS = "--task regression --target yield --members 3 --epochs 5"
SOLVE = "--dataset digits --iterations 20 --devices 1"


@dataclass(frozen=True)
class Recordings:
    """The ids of what was trained.

    Attributes:
      trained: ensembles, by the names in `TRAININGS`; the first was measured under shift too.
      numeric: a run that predicts numbers.
      solve: a regression.
    """

    trained: dict[str, str]
    numeric: str
    solve: str


def record_examples(folder: Path) -> Recordings:
    """Train one of each kind.

    Args:
      folder: where a table to learn from is written.
    """
    add_own_dataset(0)
    trained = {name: str(run_command("train", *words.split())["run_id"]) for name, words in TRAININGS.items()}
    run_command("stress", trained["digits"], "--limit", "100")
    table = write_table(folder / "field.csv")
    numeric = run_command("train", "--table", str(table), *NUMBERS.split())
    solve = run_command("lbfgs", *SOLVE.split())
    return Recordings(trained, str(numeric["run_id"]), str(solve["run_id"]))


def add_own_dataset(number: int) -> str:
    """Add a dataset of drawn images, of which each class has its own bright row; its name."""
    from ensemble.api.dataset_addition import add_dataset

    draws, name = np.random.default_rng(number), f"leaves_{number:02}"
    labels = np.arange(OWN_IMAGES) % OWN_CLASSES
    images = draws.integers(0, 60, (OWN_IMAGES, OWN_SIDE, OWN_SIDE), np.uint8)
    images[np.arange(OWN_IMAGES), 2 * labels + 1] += draws.integers(90, 190, (OWN_IMAGES, 1), np.uint8)
    tests = OWN_IMAGES // 5
    add_dataset(
        name,
        images[tests:],
        labels[tests:],
        test_images=images[:tests],
        test_labels=labels[:tests],
        title=f"Leaves {number}",
        noun="leaf",
    )
    return name


def write_table(path: Path) -> Path:
    """A table of 400 fields with their harvest, a plane with noise."""
    draws = np.random.default_rng(0)
    values = draws.normal(size=(400, 3))
    harvest = values @ [2.0, -1.0, 0.5] + draws.normal(scale=0.3, size=400)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("rain", "wind", "sun", "yield"))
        rows.writerows(zip(*values.T.round(4), harvest.round(4), strict=True))
    return path


def run_command(*words: str) -> dict[str, Any]:
    """`ensemble` with these words, to its end; the JSON object on its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "ensemble", *words], cwd=common.ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    record: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return record
