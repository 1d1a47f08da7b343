"""Whose vote decides: members without whom the ensemble says something else, and minorities."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints, average_probabilities

_MAX_ROUNDING = 1e-12  # of a sum over members, each; nearer to a tie it is added again in the members' order


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
    M, N, C = predictions.probabilities.shape
    for rows in iterate_blocks(N, C) if M > 1 else ():
        part, said = predictions.probabilities[:, rows], predictions.said[rows]
        total, each = predictions.averaged[rows] * M, np.arange(len(said))
        for member, own in enumerate(part):
            others = total - own
            rivals = others.copy()
            rivals[each, said] = -np.inf
            ahead = others[each, said] - rivals.max(axis=1)
            swung = ahead < 0
            for tie in np.flatnonzero(np.abs(ahead) <= _MAX_ROUNDING * M):
                exact = average_probabilities(np.delete(part[:, tie], member, axis=0))
                swung[tie] = exact.argmax() != said[tie]
            is_swing[member, rows] = swung
    return is_swing


def find_correct_minorities(predictions: EnsemblePredictions) -> Ints:
    """The examples that the ensemble has wrong and at least one member right, rising.

    Args:
      predictions: the predictions.

    Returns:
      (K,), their numbers; those where most members were right and still overruled come too.
    """
    return np.flatnonzero(~predictions.right & (predictions.votes == predictions.labels).any(axis=0))
