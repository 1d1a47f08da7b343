"""Records the run that screens show before there is one: python -m benchmarks.screens.example

A real run of the settings that a first launch has, in a folder of its own; what of it the screens
draw is written to ensemble/ui/train/example/recorded/: none of its figures is written by hand.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks import common
from ensemble import runs
from ensemble.ui.train.example.recording import FOLDER
from ensemble.ui.train.presets import PRESETS

FIGURES = 5
# Of a float32's 23 bits after the point so many are kept: 1 part in 8,000. Half precision has no
# room for probabilities below 10⁻⁷: whoever is sure and wrong would be so without bounds.
BITS = 12
# What a status says of the machine that it was recorded on is nobody's business.
MACHINE = {"pid", "pid_created", "pid_ticks", "host", "updated", "created", "started"}


def shorter(value: Any) -> Any:
    """A history's figures to five significant places: what a screen shows, in half the room."""
    if isinstance(value, dict):
        return {name: shorter(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shorter(item) for item in value]
    return float(f"{value:.{FIGURES}g}") if isinstance(value, float) else value


def rougher(values: np.ndarray) -> np.ndarray:
    """Float32 values with fewer bits after the point, so that they take less room compressed."""
    off = 23 - BITS
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(1 << (off - 1))) >> np.uint32(off) << np.uint32(off)
    return rounded.view(np.float32)


def train(folder: str) -> runs.Run:
    """A run with the settings of the first launch, trained by the command line."""
    config = PRESETS["Quick look"]
    os.environ["ENSEMBLE_RUNS"] = folder
    words = ["--dataset", config.dataset, "--members", str(config.members)]
    words += ["--epochs", str(config.epochs), "--seed", str(config.seed)]
    done = subprocess.run(
        [sys.executable, "-m", "ensemble", "train", *words],
        cwd=common.ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return runs.find_run(json.loads(done.stdout.splitlines()[-1])["run_id"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = train(folder)
        rows = runs.read_history(run.id)
        kept = [runs.read_run_predictions(run.id, epoch) for epoch in runs.list_prediction_epochs(run.id)]
    FOLDER.mkdir(exist_ok=True)
    status = {name: value for name, value in dataclasses.asdict(run.status).items() if name not in MACHINE}
    about = {"settings": run.config.as_dict(), "status": shorter(status)}
    (FOLDER / "run.json").write_text(json.dumps(about, separators=(",", ":")) + "\n")
    lines = [json.dumps(shorter(row), separators=(",", ":")) + "\n" for row in rows]
    (FOLDER / "history.jsonl").write_text("".join(lines))
    np.savez_compressed(FOLDER / "predictions.npz", probabilities=rougher(np.stack(kept)))
    print({file.name: file.stat().st_size for file in sorted(FOLDER.iterdir())})


if __name__ == "__main__":
    main()
