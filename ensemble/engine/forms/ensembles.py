"""Several ensembles in one program: whose members are whose, and the figures of each.

T ensembles of as many members each are the M members of a layout, one ensemble after the other.
Members never meet but in the average of their own ensemble.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ensemble.engine.metrics import (
    Evaluation,
    EvaluationAccumulator,
    TrainingMetrics,
    mask_frozen_members,
)

AverageMetricsFunction = Callable[[Any, Any, np.ndarray], tuple[Any, Any]]


def slice_members_by_ensemble(members: int, ensembles: int) -> list[slice]:
    """Where each of T ensembles' members are among M."""
    size = members // ensembles
    return [slice(first, first + size) for first in range(0, members, size)]


def map_over_ensembles(ensembles: int, figures: AverageMetricsFunction) -> AverageMetricsFunction:
    """Two figures of the average, (…) each, as those of T ensembles' own averages: (T, …) each.

    Args:
      ensembles: T; of one they stay as they are.
      figures: makes them of probabilities, labels, and who counts, bool (M,).
    """
    if ensembles == 1:
        return figures

    def compute_each(probabilities: Any, labels: Any, active: np.ndarray) -> tuple[Any, Any]:
        figures_by_ensemble = []
        for own in slice_members_by_ensemble(len(active), ensembles):
            mask = np.zeros_like(active)
            mask[own] = active[own]
            figures_by_ensemble.append(figures(probabilities, labels, mask))
        first, second = zip(*figures_by_ensemble, strict=True)
        return np.stack(first), np.stack(second)

    return compute_each


def split_metrics_by_ensemble(
    figures: TrainingMetrics, aside: np.ndarray, ensembles: int
) -> TrainingMetrics:
    """The figures of steps with NaN for members that diverged, and with those of each.

    Args:
      figures: as a form gives them: those of averages are (T, S) where there are several.
      aside: bool (M,).
      ensembles: T.
    """
    if ensembles == 1:
        return mask_frozen_members(aside, figures)
    nll, right = figures.ensemble_nll, figures.ensemble_accuracy
    each = tuple(
        mask_frozen_members(
            aside[own],
            TrainingMetrics(
                figures.loss[own],
                figures.accuracy[own],
                None if nll is None else nll[place],
                None if right is None else right[place],
            ),
        )
        for place, own in enumerate(slice_members_by_ensemble(len(aside), ensembles))
    )
    whole = mask_frozen_members(aside, TrainingMetrics(figures.loss, figures.accuracy, None, None))
    return TrainingMetrics(whole.loss, whole.accuracy, None, None, whole.active, each)


class MultiEnsembleAccumulator:
    """A `EvaluationAccumulator` of each of several ensembles.

    Args:
      ensembles: T.
      active, labels, classes: as of a Tally, of all M members.
    """

    def __init__(self, ensembles: int, active: np.ndarray, labels: np.ndarray, classes: int):
        self._places = slice_members_by_ensemble(len(active), ensembles)
        self._each = [EvaluationAccumulator(active[own], labels, classes) for own in self._places]

    def add_batch(self, log_p: np.ndarray, nll: Any, accuracy: Any) -> None:
        """`EvaluationAccumulator.add_batch` with metrics of each ensemble, (T,), or () of one."""
        both = np.atleast_1d(nll), np.atleast_1d(accuracy)
        for tally, own, *figures in zip(self._each, self._places, *both, strict=True):
            tally.add_batch(log_p[own], *map(float, figures))

    def add_and_average(self, log_p: np.ndarray) -> None:
        """As `EvaluationAccumulator.add_and_average`."""
        for tally, own in zip(self._each, self._places, strict=True):
            tally.add_and_average(log_p[own])

    def compute_evaluation(self) -> Evaluation:
        """The whole, once every image has come."""
        each = tuple(tally.compute_evaluation() for tally in self._each)
        if len(each) == 1:
            return each[0]
        loss, right = (
            np.concatenate(values)
            for values in zip(*((e.loss, e.accuracy) for e in each), strict=True)
        )
        probabilities = np.concatenate([evaluation.probabilities for evaluation in each])
        return Evaluation(probabilities, loss, right, np.nan, np.nan, by_ensemble=each)
