"""Records the run that Train's first screen shows: python -m benchmarks.screens.example

A real run of the settings that a first launch has, in a folder of its own; what of it the screen
draws is written to ensemble/ui/train/example/, so that none of its figures is written by hand.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks import common
from ensemble import datasets, runs
from ensemble.analysis.predictions import chosen, judge, ordered
from ensemble.ui.train.example import FOLDER
from ensemble.ui.train.presets import PRESETS

DISPUTED, FIGURES = 8, 5


def shorter(value: Any) -> Any:
    """A history's figures to five significant places: what a screen shows, in half the room."""
    if isinstance(value, dict):
        return {name: shorter(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shorter(one) for one in value]
    return float(f"{value:.{FIGURES}g}") if isinstance(value, float) else value


def train(folder: str) -> runs.Run:
    """A run with the settings of the first launch, trained by the command line."""
    config = PRESETS["Quick look"]
    os.environ["ENSEMBLE_RUNS"] = folder
    words = ["--dataset", config.dataset, "--members", str(config.members)]
    words += ["--epochs", str(config.epochs), "--seed", str(config.seed)]
    done = subprocess.run(
        [sys.executable, "-m", "ensemble", "train", *words],
        cwd=common.ROOT, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return runs.find(json.loads(done.stdout.splitlines()[-1])["run_id"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = train(folder)
        rows = runs.read_history(run.id)
        probabilities = runs.read_predictions(run.id, run.config.epochs)
    known = datasets.load(run.config.dataset)
    made = judge(probabilities, known.test_labels)
    numbers = ordered(made, chosen(made, "split"), "split")[:DISPUTED]
    FOLDER.mkdir(exist_ok=True)
    kept = {"settings": run.config.as_dict(), "rows": shorter(rows)}
    (FOLDER / "history.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    np.savez_compressed(
        FOLDER / "predictions.npz", probabilities=probabilities.astype(np.float16),
        labels=known.test_labels.astype(np.uint8), numbers=numbers.astype(np.uint16),
        images=known.test_images[numbers],
    )  # fmt: skip
    print({file.name: file.stat().st_size for file in sorted(FOLDER.iterdir())})


if __name__ == "__main__":
    main()
