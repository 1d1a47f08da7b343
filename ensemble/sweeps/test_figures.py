"""Figures of a sweep's best trial on the test examples, which had no part in choosing it."""

import functools
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from ensemble import runs
from ensemble.analysis.inference.image_groups import grouped_mean_interval
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.config import REGRESSION
from ensemble.errors import EnsembleError


class TrialTestFigure(NamedTuple):
    """A figure on the test examples, after the epoch that the validation examples chose.

    Attributes:
      metric: "accuracy", "rmse" or "nll".
      mean: over the trainings.
      low, high: of one training, its 95 % interval for new examples; of several, the lowest and the highest.
      trainings: how many.
      examples: how many test examples.
      noun: of one of them.
      unit: "nats", or that of a table's target; "" if there is none.
    """

    metric: str
    mean: float
    low: float
    high: float
    trainings: int
    examples: int
    noun: str
    unit: str = ""


def measure_test_figures(run_ids: Sequence[str]) -> list[TrialTestFigure]:
    """Measure the runs of a trial: accuracy, or RMSE and NLL of numbers; those that cannot be read are left out."""
    measured = [figures for run_id in run_ids if (figures := _measure_run(run_id))]
    if len(measured) < 2:
        return measured[0] if measured else []
    return [
        figures[0]._replace(
            mean=fmean(figure.mean for figure in figures),
            low=min(figure.mean for figure in figures),
            high=max(figure.mean for figure in figures),
            trainings=len(figures),
        )
        for figures in zip(*measured, strict=True)
    ]


def _measure_run(run_id: str) -> list[TrialTestFigure]:
    try:
        run = runs.find_run(run_id)
        epoch = run.status.best_epoch
        if run.settings is None or not epoch:
            return []
        if run.task == REGRESSION:
            return _measure_regression(run, epoch)
    except EnsembleError:
        return []
    share, size = run.status.best_ensemble_test_accuracy, run.data.test_size
    if share is None:
        return []
    low, high = wilson_interval(share * size, size)
    return [TrialTestFigure("accuracy", share, low, high, trainings=1, examples=size, noun=run.data.noun)]


def _measure_regression(run: runs.Run, epoch: int) -> list[TrialTestFigure]:
    from ensemble.analysis.numeric.numeric_diagnosis import estimate_rmse  # They import SciPy.
    from ensemble.runs.numeric.numeric_predictions import read_numeric_predictions, read_numeric_targets

    targets, predicted = read_numeric_targets(run), read_numeric_predictions(run, epoch)
    nll = predicted.compute_losses(targets.values)["nll"]
    of_rows = functools.partial(TrialTestFigure, trainings=1, examples=len(nll), noun="row")
    return [
        of_rows("rmse", *estimate_rmse(targets.values - predicted.compute_mean(), targets.groups), unit=run.unit),
        of_rows("nll", float(nll.mean()), *grouped_mean_interval(nll, targets.groups), unit="nats"),
    ]
