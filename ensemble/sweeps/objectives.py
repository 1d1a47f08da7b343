"""What a trial came to, by each objective: at its best epoch, on the images held out."""

import math

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average
from ensemble.analysis.quality.calibration import expected_error
from ensemble.datasets.split import validation_indices
from ensemble.runs.test_set import dataset_of
from ensemble.storage.records.lines import Line


def values_of(run: runs.Run, goals: tuple[str, ...]) -> tuple[float, ...] | None:
    """A finished run's values, one an objective; None where one is no number.

    Args:
      run: with validation, unless nothing but its seconds is asked for.
      goals: names in `settings.OBJECTIVES`.
    """
    best = run.status.best_epoch
    lines = [
        one for one in runs.read_history(run.id) if one["kind"] == "epoch" and one["epoch"] == best
    ]
    found = [
        run.status.seconds
        if goal == "seconds"
        else at_epoch(run, lines[-1], goal)
        if lines
        else math.nan
        for goal in goals
    ]
    return tuple(found) if all(map(math.isfinite, found)) else None


def at_epoch(run: runs.Run, line: Line, goal: str) -> float:
    """The value after an epoch, whose line of the history this is; NaN where it has none."""
    if goal == "ece":
        return calibration_error(run, line["epoch"])
    found = line.get(f"ensemble_validation_{goal}")
    return math.nan if found is None else float(found)


def calibration_error(run: runs.Run, epoch: int) -> float:
    """The ensemble's expected calibration error on the images held out, after an epoch."""
    labels = validation_labels(run)
    averaged = average(runs.read_validation(run.id, epoch))
    right = averaged.argmax(axis=-1) == labels
    return float(expected_error(averaged.max(axis=-1), right))


def validation_labels(run: runs.Run) -> NDArray[np.int32]:
    """The classes (V,) of the images that a run holds out, in the order of its predictions."""
    labels = dataset_of(run).train_labels
    return labels[validation_indices(runs.trained_here(run), labels)]
