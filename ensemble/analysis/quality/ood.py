"""Whether an ensemble notices what it was never shown: scores, and how well they tell it."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats


@dataclass(frozen=True)
class _OodSeparation:
    """How well a score tells unknown examples from known ones.

    Attributes:
      auroc: the probability that an unknown example scores higher than a known one, a tie
        counting half: 1 where all do, 0.5 where the score says nothing.
      fpr95: the share of the unknown that is taken for known when at least 95 % of the known
        are: 0 where all unknown are noticed. The limit is a quantile of these known themselves.
      aupr: the area under precision over recall, with the unknown to be found: the average
        precision. It depends on how many there are of each.
      aupr_chance: what a score that says nothing gets: the share of the unknown.
    """

    auroc: float
    fpr95: float
    aupr: float
    aupr_chance: float


def ood_separation(known_scores: Floats, unknown: Floats) -> _OodSeparation:
    """How well a score that is high for the unknown tells it from the known.

    Args:
      known_scores: (N,), scores of examples like those of training.
      unknown: (K,), scores of others.

    Raises:
      ValueError: one of the two is empty.

    Source: D. Hendrycks and K. Gimpel, "A baseline for detecting misclassified and
    out-of-distribution examples in neural networks", ICLR 2017 (AUROC); S. Liang, Y. Li and
    R. Srikant, "Enhancing the reliability of out-of-distribution image detection in neural
    networks", ICLR 2018 (FPR at 95 % TPR, where the known are the positives); J. Davis and M.
    Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006 (no line is
    drawn between the points of precision and recall).
    """
    if not len(known_scores) or not len(unknown):
        raise ValueError(f"{len(known_scores)} known and {len(unknown)} unknown: both need an example.")
    ranked = np.sort(known_scores)
    below = np.searchsorted(ranked, unknown, side="left")
    up_to = np.searchsorted(ranked, unknown, side="right")
    auroc = (below + up_to).sum() / (2 * len(known_scores) * len(unknown))
    limit = ranked[-(-19 * len(known_scores) // 20) - 1]  # In whole numbers: 0.95 is not a double.
    return _OodSeparation(
        float(auroc),
        float(np.mean(unknown <= limit)),
        _compute_average_precision(ranked, np.sort(unknown)),
        len(unknown) / (len(unknown) + len(known_scores)),
    )


@dataclass(frozen=True)
class AurocDifference:
    """The AUROC of one score less that of another, on the same examples.

    Attributes:
      first: of the one, in [0, 1].
      second: of the other.
      low, high: the interval of the difference, first − second, in [-1, 1].
    """

    first: float
    second: float
    low: float
    high: float


def compare_aurocs(first: tuple[Floats, Floats], second: tuple[Floats, Floats], level: float = 0.95) -> AurocDifference:
    """How far two scores of the same examples differ in AUROC, by the method of DeLong.

    Args:
      first: of the one score (N,) of known examples and (K,) of unknown ones, N and K at least 2.
      second: of the other, of the same examples in the same order.
      level: of the interval, in (0, 1).

    Raises:
      ValueError: they are not of the same examples, or too few.

    Source: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
    more correlated receiver operating characteristic curves: a nonparametric approach",
    Biometrics 44 (1988): an example's placement is the share of the other kind that it lies on
    the right side of, a tie counting half; AUROC is the mean placement, and the variance of a
    difference that of the differences of placements, of known and unknown ones apart.
    """
    if min(map(len, first)) < 2 or [*map(len, first)] != [*map(len, second)]:
        raise ValueError("Two scores of the same examples, two of each kind at least, are compared.")
    own, others = (compute_placements(*scores) for scores in (first, second))
    differences = [one - other for one, other in zip(own, others, strict=True)]
    error = math.sqrt(sum(float(each.var(ddof=1)) / len(each) for each in differences))
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    one, other = float(own[1].mean()), float(others[1].mean())
    return AurocDifference(one, other, max(one - other - reach, -1.0), min(one - other + reach, 1.0))


def compute_placements(known: Floats, unknown: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(N,) the share of unknown above each known example, and (K,) of known below each unknown."""
    shares = []
    for values, others in ((-known, -unknown), (unknown, known)):
        ranked = np.sort(others)
        below = np.searchsorted(ranked, values, side="left")
        shares.append((below + np.searchsorted(ranked, values, side="right")) / (2 * len(others)))
    return shares[0], shares[1]


def _compute_average_precision(known: Floats, unknown: Floats) -> float:
    """The mean precision at each unknown example, all that score as high or higher being taken.

    Args:
      known: (N,), rising.
      unknown: (K,), rising.
    """
    found = len(unknown) - np.searchsorted(unknown, unknown, side="left")
    mistaken = len(known) - np.searchsorted(known, unknown, side="left")
    return float(np.mean(found / (found + mistaken)))
