"""Whose vote decides: members without whom the ensemble says something else, and minorities."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints, average_probabilities, most_likely_classes


def find_swing_votes(predictions: EnsemblePredictions) -> NDArray[np.bool_]:
    """Where the average of all members but one says another class than that of all.

    Args:
      predictions: the predictions.

    Returns:
      (M, N), True where the verdict hangs on that member. One alone decides nothing: False.

    Source: J. F. Banzhaf, "Weighted voting doesn't work: a mathematical analysis", Rutgers Law
    Review 19 (1965), 317-343, whose swing voters these are, with averaged probabilities.
    """
    is_swing = np.zeros(predictions.votes.shape, bool)
    if predictions.members > 1:
        M, N, C = predictions.probabilities.shape
        for rows in iterate_blocks(N, M * C):
            part = predictions.probabilities[:, rows]
            for member in range(M):
                others = np.delete(part, member, axis=0)
                is_swing[member, rows] = most_likely_classes(average_probabilities(others)) != predictions.said[rows]
    return is_swing


def find_correct_minorities(predictions: EnsemblePredictions) -> Ints:
    """The examples that the ensemble has wrong and at least one member right, rising.

    Args:
      predictions: the predictions.

    Returns:
      (K,), their numbers; those where most members were right and still overruled come too.
    """
    return np.flatnonzero(~predictions.right & (predictions.votes == predictions.labels).any(axis=0))
