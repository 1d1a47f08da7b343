"""What a trial came to, by each objective: at its best epoch, on the images held out."""

import math

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.calibration import expected_calibration_error
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.runs.history import iterate_history_from_end
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.records.json_lines import Line


def read_objective_values(run: runs.Run, goals: tuple[str, ...]) -> tuple[float, ...] | None:
    """A finished run's values, one an objective; None if one is not a number.

    Args:
      run: with validation, unless nothing but its seconds is asked for.
      goals: names in `settings.OBJECTIVES`.
    """
    best = run.status.best_epoch
    lines = iterate_history_from_end(run.id)
    line = next((line for line in lines if line["kind"] == "epoch" and line["epoch"] == best), None)
    values = [
        run.status.seconds if goal == "seconds" else read_epoch_value(run, line, goal) if line else math.nan
        for goal in goals
    ]
    return tuple(values) if all(map(math.isfinite, values)) else None


def read_epoch_value(run: runs.Run, line: Line, goal: str) -> float:
    """The value after an epoch, whose line of the history this is; NaN where it has none."""
    if goal == "ece":
        return compute_validation_ece(run, line["epoch"])
    value = line.get(f"ensemble_validation_{goal}")
    return math.nan if value is None else float(value)


def compute_validation_ece(run: runs.Run, epoch: int) -> float:
    """The ensemble's expected calibration error on the images held out, after an epoch."""
    labels = load_validation_labels(run)
    averaged = average_probabilities(runs.read_validation_predictions(run.id, epoch))
    right = averaged.argmax(axis=-1) == labels
    return float(expected_calibration_error(averaged.max(axis=-1), right))


def load_validation_labels(run: runs.Run) -> NDArray[np.int32]:
    """The classes (V,) of the images that a run holds out, in the order of its predictions."""
    data = load_run_dataset(run)
    return data.train_labels[select_validation_indices(runs.require_training_config(run), data)]
