"""Several ensembles in one program: whose members are whose, and the metrics of each.

T ensembles of as many members each are the M members of a layout, one ensemble after the other.
Members never meet but in the average of their own ensemble.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ensemble.engine.metrics import Evaluation, EvaluationAccumulator, TrainingMetrics, mask_frozen_members

_AverageMetricsFunction = Callable[[Any, Any, np.ndarray], tuple[Any, Any]]


def _slice_members_by_ensemble(members: int, ensembles: int) -> list[slice]:
    size = members // ensembles
    return [slice(first, first + size) for first in range(0, members, size)]


def map_over_ensembles(ensembles: int, metrics: _AverageMetricsFunction) -> _AverageMetricsFunction:
    """Two metrics of the average, (…) each, as those of T ensembles' own averages: (T, …) each.

    Args:
      ensembles: T; of one they stay as they are.
      metrics: makes them of probabilities, labels, and who counts, bool (M,).
    """
    if ensembles == 1:
        return metrics

    def compute_each(probabilities: Any, labels: Any, active: np.ndarray) -> tuple[Any, Any]:
        metrics_by_ensemble = []
        for own in _slice_members_by_ensemble(len(active), ensembles):
            mask = np.zeros_like(active)
            mask[own] = active[own]
            metrics_by_ensemble.append(metrics(probabilities, labels, mask))
        first, second = zip(*metrics_by_ensemble, strict=True)
        return np.stack(first), np.stack(second)

    return compute_each


def split_metrics_by_ensemble(metrics: TrainingMetrics, aside: np.ndarray, ensembles: int) -> TrainingMetrics:
    """The metrics of steps with NaN for members that diverged, and with those of each.

    Args:
      metrics: as a form gives them: those of averages are (T, S) where there are several.
      aside: bool (M,).
      ensembles: T.
    """
    if ensembles == 1:
        return mask_frozen_members(aside, metrics)
    nll, right = metrics.ensemble_nll, metrics.ensemble_accuracy
    each = tuple(
        mask_frozen_members(
            aside[own],
            TrainingMetrics(
                metrics.loss[own],
                metrics.accuracy[own],
                None if nll is None else nll[place],
                None if right is None else right[place],
            ),
        )
        for place, own in enumerate(_slice_members_by_ensemble(len(aside), ensembles))
    )
    whole = mask_frozen_members(aside, TrainingMetrics(metrics.loss, metrics.accuracy, None, None))
    return TrainingMetrics(
        loss=whole.loss,
        accuracy=whole.accuracy,
        ensemble_nll=None,
        ensemble_accuracy=None,
        active=whole.active,
        by_ensemble=each,
    )


class MultiEnsembleAccumulator:
    """A `EvaluationAccumulator` of each of several ensembles.

    Args:
      ensembles: T.
      active, labels, classes: as of a Tally, of all M members.
    """

    def __init__(self, ensembles: int, active: np.ndarray, labels: np.ndarray, classes: int):
        self._places = _slice_members_by_ensemble(len(active), ensembles)
        self._each = [EvaluationAccumulator(active[own], labels, classes) for own in self._places]

    def add_batch(self, log_p: np.ndarray, nll: Any, accuracy: Any) -> None:
        """`EvaluationAccumulator.add_batch` with metrics of each ensemble, (T,), or () of one."""
        both = np.atleast_1d(nll), np.atleast_1d(accuracy)
        for tally, own, *metrics in zip(self._each, self._places, *both, strict=True):
            tally.add_batch(log_p[own], *map(float, metrics))

    def add_and_average(self, log_p: np.ndarray) -> None:
        """As `EvaluationAccumulator.add_and_average`."""
        for tally, own in zip(self._each, self._places, strict=True):
            tally.add_and_average(log_p[own])

    def compute_evaluation(self) -> Evaluation:
        """The whole, once every image has come."""
        each = tuple(tally.compute_evaluation() for tally in self._each)
        if len(each) == 1:
            return each[0]
        loss, right = (np.concatenate(values) for values in zip(*((e.loss, e.accuracy) for e in each), strict=True))
        probabilities = np.concatenate([evaluation.probabilities for evaluation in each])
        return Evaluation(probabilities, loss, right, np.nan, np.nan, by_ensemble=each)
