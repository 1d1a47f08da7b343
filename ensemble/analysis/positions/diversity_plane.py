"""How far two classifiers differ, against how accurate they are: between what limits it lies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.analysis.members.diversity import disagreement_matrix
from ensemble.analysis.quality.averaging import Ints

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class PairDiversity:
    """How far the pairs of M members differ on average. All are shares of the examples.

    Attributes:
      disagreement: on how many the members of a pair answer differently.
      independent: on how many they would with the same accuracies, were their answers independent.
      perturbed: on how many, were the less accurate one's answers the other's, some of them changed
        at random; None where no pair is better than chance.
    """

    disagreement: float
    independent: float
    perturbed: float | None


def limit_independent(accuracy: ArrayLike, base: ArrayLike, classes: int) -> Doubles:
    """The share on which two classifiers differ whose answers are independent.

    With a* and a the accuracies and C classes: (1 − a*) a + (1 − a) a* + (1 − a*) (1 − a) (C − 2) /
    (C − 1). One of them right, or both wrong and not the same way, each wrong class as likely.

    Args:
      accuracy: a, of the second, in [0, 1].
      base: a*, of the first, in [0, 1].
      classes: C, at least 2.

    Returns:
      In [0, 1], not divided by 1 − a.

    Source: S. Fort, H. Hu and B. Lakshminarayanan, "Deep ensembles: a loss landscape perspective"
    (2019), arXiv:1912.02757, appendix, on uncorrelated predictions.
    """
    second, first = np.asarray(accuracy, np.float64), np.asarray(base, np.float64)
    apart = (1 - first) * (1 - second) * (classes - 2) / (classes - 1)
    return np.asarray((1 - first) * second + (1 - second) * first + apart)


def limit_perturbed(accuracy: ArrayLike, base: ArrayLike, classes: int) -> Doubles:
    """The share on which a classifier differs from a base whose answers it has, some changed.

    Each answer is changed with probability p to any other class: a = a* (1 − p) + (1 − a*) p /
    (C − 1), solved for p = (C − 1) (a* − a) / (C a* − 1), which is the share that differs.

    Args:
      accuracy: a, of the second, in [0, 1].
      base: a*, of the base, in [0, 1].
      classes: C, at least 2.

    Returns:
      In [0, 1], not divided by 1 − a; NaN where no such change leads from a* to a, as where the
      second is the more accurate one, or the base is no better than chance.

    Source: Fort, Hu and Lakshminarayanan (2019), appendix, on correlated predictions.
    """
    second, first = np.asarray(accuracy, np.float64), np.asarray(base, np.float64)
    better = classes * first - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (classes - 1) * (first - second) / better
    return np.where((better > 0) & (share >= 0) & (share <= 1), share, np.nan)


def normalize_disagreement(disagreement: ArrayLike, accuracy: ArrayLike) -> Doubles:
    """Disagreement divided by 1 − accuracy, the second's; NaN where it makes no mistake."""
    wrong = 1 - np.asarray(accuracy, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(wrong > 0, np.asarray(disagreement, np.float64) / wrong, np.nan)


def compare_pair_diversity(votes: Ints, labels: Ints, classes: int) -> PairDiversity:
    """The mean disagreement of pairs of members beside the means of its two limits.

    Args:
      votes: (M, N), class numbers; M at least 2.
      labels: (N,), class numbers.
      classes: C, at least 2.
    """
    pairs = np.triu_indices(len(votes), 1)
    accuracy = (votes == labels).mean(axis=1)
    low = np.minimum(accuracy[pairs[0]], accuracy[pairs[1]])
    high = np.maximum(accuracy[pairs[0]], accuracy[pairs[1]])
    perturbed = limit_perturbed(low, high, classes)
    return PairDiversity(
        disagreement=float(disagreement_matrix(votes)[pairs].mean()),
        independent=float(limit_independent(low, high, classes).mean()),
        perturbed=float(np.nanmean(perturbed)) if np.isfinite(perturbed).any() else None,
    )
