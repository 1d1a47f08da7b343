"""How long the preset for a class takes, and whether it disagrees: benchmarks.screens.classroom

    python -m benchmarks.screens.classroom

Trains it as the command line does, from nothing compiled: seconds by the clock and of the
processor (on a machine that has other work only the latter mean something), how many test images
the members dispute, and what the ensemble gains.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks import common
from ensemble import datasets, runs
from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.config import EnsembleConfig
from ensemble.ui.train.presets import CLASS_PRESET, PRESETS

# Where a run, what it has compiled and its turn among others are kept.
PLACES = ("ENSEMBLE_RUNS", "ENSEMBLE_DATA", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")


def words(config: EnsembleConfig) -> list[str]:
    """The options of the command line that make these settings."""
    return [
        "--dataset",
        config.dataset,
        "--members",
        str(config.members),
        "--epochs",
        str(config.epochs),
        "--seed",
        str(config.seed),
    ]


def main() -> None:
    config = PRESETS[CLASS_PRESET]
    with tempfile.TemporaryDirectory() as folder:
        # Turns with other runs on this machine, and what they have compiled, are not of this.
        os.environ |= dict.fromkeys(PLACES, folder)
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "ensemble", "train", *words(config)],
            cwd=common.ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        run = runs.find_run(json.loads(done.stdout.splitlines()[-1])["run_id"])
        labels = datasets.load_dataset(config.dataset).test_labels
        predictions = evaluate_predictions(runs.read_run_predictions(run.id, config.epochs), labels)
    gain = gain_over_mean_member(predictions)
    spent = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    print(
        json.dumps(
            {
                "members": config.members,
                "epochs": config.epochs,
                "clock_seconds": round(clock, 1),
                "processor_seconds": round(spent, 1),
                "on_two_cores_at_least": round(spent / 2, 1),
                "compile_seconds": run.status.compile_seconds,
                "training_seconds": run.status.seconds,
                "test_images": len(labels),
                "disputed": int(predictions.split.sum()),
                "wrong": int((~predictions.right).sum()),
                "wrong_and_disputed": int((predictions.split & ~predictions.right).sum()),
                "gain_in_images": round(gain.digits, 1),
                "gain_low": round(gain.digits_low, 1),
                "gain_high": round(gain.digits_high, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
