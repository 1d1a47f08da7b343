"""Whether folds come to as many wrong labels each, as folds that are drawn at random should.

Each fold has judges of its own. What is wrong with the labels is in all folds alike, but for
chance; what is wrong with the judges is not: where the shares lie further apart than by chance,
they are mistakes of judges, and say nothing of the labels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.label_errors import find_label_errors

_CHANCE = 0.001  # of folds that are alike, so many are said to be apart
_INTERVAL_WIDTH = 2 * 1.96  # of 95 %, in standard errors


@dataclass(frozen=True, eq=False)
class FoldShares:
    """The share of wrong labels by each fold alone.

    Attributes:
      shares: (K,), from 0 to 1.
      p_value: the probability that such folds as are alike lie so far apart.
    """

    shares: Floats
    p_value: float

    @property
    def are_apart(self) -> bool:
        """Whether they lie further apart than by chance."""
        return self.p_value < _CHANCE


def estimate_fold_shares(predictions: EnsemblePredictions, folds: Ints) -> FoldShares:
    """The share of wrong labels that the judges of each fold find, and whether these are alike.

    By the chi-squared test of equal means (Cochran's Q), each with the standard error that its
    interval says, and no less than that of counting so many wrong labels in so many.

    Args:
      predictions: of N examples, by judges that have not learnt them.
      folds: (N,), the fold of each, from 0.
    """
    from scipy.stats import chi2

    estimates: list[Any] = []
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        groups = predictions.groups
        own = evaluate_predictions(
            np.ascontiguousarray(predictions.probabilities[:, rows]),
            predictions.labels[rows],
            None if groups is None else np.unique(groups[rows], return_inverse=True)[1],
        )
        errors = find_label_errors(own)
        estimates.append((errors.share, errors.high - errors.low, len(rows)))
    shares, widths, sizes = np.array(estimates).T
    mean = float(np.average(shares, weights=sizes))
    # Where none of so many is wrong, one of them might be.
    counted = np.maximum(mean * (1 - mean), 1 / sizes) / sizes
    variances = np.maximum((widths / _INTERVAL_WIDTH) ** 2, counted)
    weights = 1 / variances
    center = float((weights * shares).sum() / weights.sum())
    distance = float((weights * (shares - center) ** 2).sum())
    return FoldShares(shares, float(chi2.sf(distance, max(1, len(shares) - 1))))
