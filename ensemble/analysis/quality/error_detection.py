"""Whether an uncertainty tells wrong answers from right ones, and confidence still is accuracy."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ensemble.analysis.inference.image_groups import MIN_VARIED_GROUPS, Groups, grouped_mean_interval
from ensemble.analysis.quality.averaging import Floats

HALVINGS = 50  # of an interval of 1: what is left is below a double's rounding
_MIN_ANSWERS = 2  # right, and wrong ones: below, a rank says nothing of the spread


@dataclass(frozen=True)
class AurocEstimate:
    """The probability that a positive scores higher than a negative, a tie counting half.

    Attributes:
      value: in [0, 1]; 0.5 where the score says nothing.
      low: the lower end of its 95 % interval.
      high: the upper end.
      positives: how many examples should score high.
      negatives: how many should score low.
    """

    value: float
    low: float
    high: float
    positives: int
    negatives: int


@dataclass(frozen=True)
class _ConfidenceGap:
    """How much surer than right an ensemble is on average.

    Attributes:
      confidence: its mean confidence, in [0, 1].
      accuracy: the share that is right.
      low: the lower end of the 95 % interval of confidence − accuracy.
      high: the upper end.
    """

    confidence: float
    accuracy: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 where it is shown to be surer than right, −1 where less sure, 0 where neither is."""
        return int(self.low > 0) - int(self.high < 0)


def estimate_auroc(positives: Floats, negatives: Floats, level: float = 0.95, effect: float = 1.0) -> AurocEstimate:
    """The AUROC of a score with its interval: Newcombe's method 5, a score interval.

    Its ends are the values that a test would just not reject, with the variance that each would
    have by Hanley and McNeil; so it does not shrink to a point where all are ranked rightly.

    Args:
      positives: (P,), scores that should be high.
      negatives: (N,), scores that should be low.
      level: of the interval, in (0, 1).
      effect: by how much its variance is larger than of independent examples, at least 1.

    Raises:
      ValueError: there are fewer than two of either.

    Source: R. G. Newcombe, "Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic. Part 2: asymptotic methods and evaluation", Statistics in Medicine 25
    (2006), 559-573; J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a
    receiver operating characteristic (ROC) curve", Radiology 143 (1982), 29-36.
    """
    P, N = len(positives), len(negatives)
    if min(P, N) < _MIN_ANSWERS:
        raise ValueError(f"{P} positives and {N} negatives: an AUROC needs two of either.")
    ranks = rankdata(np.concatenate([positives, negatives]))[:P]
    value = float((ranks.mean() - (P + 1) / 2) / N)
    z = NormalDist().inv_cdf((1 + level) / 2)
    average = (P + N) / 2 - 1

    def is_compatible(truth: float) -> bool:
        within = average * ((1 - truth) / (2 - truth) + truth / (1 + truth))
        variance = effect * truth * (1 - truth) * (1 + within) / (P * N)
        return abs(value - truth) <= z * math.sqrt(variance)

    ends = []
    for outer in (0.0, 1.0):
        inner = value
        for _ in range(HALVINGS):
            middle = (outer + inner) / 2
            if is_compatible(middle):
                inner = middle
            else:
                outer = middle
        ends.append(inner)
    return AurocEstimate(value, ends[0], ends[1], P, N)


def estimate_error_detection(
    uncertainty: Floats, right: NDArray[np.bool_], groups: Groups | None = None
) -> AurocEstimate | None:
    """How well an uncertainty (N,) tells wrong answers from right ones.

    None where fewer than two are wrong, or right: then nothing can be said of it. `groups`, (N,)
    numbers from 0, are of answers that belong together; None where all are independent.
    """
    wrong = uncertainty[~right]
    if min(len(wrong), int(right.sum())) < _MIN_ANSWERS:
        return None
    effect = 1.0 if groups is None else _estimate_auroc_effect(uncertainty, right, groups)
    return estimate_auroc(wrong, uncertainty[right], effect=effect)


def _estimate_auroc_effect(uncertainty: Floats, right: NDArray[np.bool_], groups: Groups) -> float:
    """By how much groups raise the variance of an AUROC: at least 1.

    The cluster-robust variance of its placements in multiples of the independent one. Where few
    groups have a wrong answer, or a right one, it is not known: all answers of a group that are
    wrong then count as one, and so do those that are right.

    Source: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53
    (1997), 567-578.
    """
    wrong_groups, right_groups = groups[~right], groups[right]
    if min(len(np.unique(wrong_groups)), len(np.unique(right_groups))) < MIN_VARIED_GROUPS:
        sizes = (np.bincount(side).astype(np.float64) for side in (wrong_groups, right_groups))
        return max(float((count**2).sum() / count.sum()) for count in sizes)
    # Of each answer the share of the other side that it stands on the due side of.
    ranks = rankdata(uncertainty)
    influence = np.empty(len(right))
    for side, sign in ((~right, 1), (right, -1)):
        placements = sign * (ranks[side] - rankdata(uncertainty[side]))
        influence[side] = (placements - placements.mean()) / (side.sum() * (~side).sum())
    count = int(groups.max()) + 1
    sums = np.bincount(groups, influence)
    clustered = count / (count - 1) * float((sums**2).sum())
    alone = float((influence**2).sum())
    return max(1.0, clustered / alone) if alone else 1.0


def estimate_confidence_gap(
    confidence: Floats, right: NDArray[np.bool_], groups: Groups | None = None
) -> _ConfidenceGap:
    """How much surer than right the answers (N,) are, with an interval.

    `groups`, (N,) numbers from 0, are of answers that belong together.

    Raises:
      ValueError: there is no example.
    """
    gap = confidence.astype(np.float64) - right
    low, high = grouped_mean_interval(gap, groups, bound=1.0)
    return _ConfidenceGap(float(confidence.mean()), float(right.mean()), low, high)
