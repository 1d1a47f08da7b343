"""How far aleatoric and epistemic uncertainty measure different things.

Source: B. Mucsányi, M. Kirchhof and S. J. Oh, "Benchmarking uncertainty disentanglement:
specialized uncertainties for specialized tasks", NeurIPS 2024: the rank correlation of both, and
how well each detects errors and out-of-distribution examples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata

from ensemble.analysis.inference.image_groups import Groups, grouped_mean_interval
from ensemble.analysis.quality.averaging import Floats
from ensemble.analysis.quality.error_detection import AurocEstimate, estimate_error_detection
from ensemble.analysis.quality.ood import AurocDifference, compute_placements

_JACKKNIFE_BLOCKS = 20
_MAX_CORRELATION = 1 - 1e-9  # in size, so that Fisher's transformation is finite


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of two quantities, with its 95 % interval, all in [-1, 1]."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Detection:
    """How well each part of the uncertainty detects errors, or out-of-distribution examples.

    Attributes:
      target: what is detected: "errors", or the name of a set of out-of-distribution examples.
      aleatoric: the AUROC of the aleatoric part.
      epistemic: the AUROC of the epistemic part.
      difference: the AUROC of the epistemic part less that of the aleatoric one, paired.
    """

    target: str
    aleatoric: AurocEstimate
    epistemic: AurocEstimate
    difference: AurocDifference


def estimate_rank_correlation(first: Floats, second: Floats, groups: Groups | None = None) -> RankCorrelation | None:
    """Estimate Spearman's rank correlation of two quantities (N,) with its 95 % interval.

    The interval is that of a jackknife over 20 blocks of whole groups, on Fisher's scale, with
    Student's quantile of 19 degrees.

    Args:
      first: (N,), finite.
      second: (N,), finite.
      groups: (N,), numbers from 0, of examples that belong together; None if all are independent.

    Returns:
      None if there are fewer than 20 groups, or one of the two is constant.

    Source: J. N. Arvesen, "Jackknifing U-statistics", The Annals of Mathematical Statistics 40
    (1969), 2076-2100.
    """
    index = np.arange(len(first)) if groups is None else groups
    if index.max() + 1 < _JACKKNIFE_BLOCKS or not np.ptp(first) or not np.ptp(second):
        return None
    blocks = index % _JACKKNIFE_BLOCKS
    kept = [blocks != block for block in range(_JACKKNIFE_BLOCKS)]
    whole = _correlate_ranks(first, second)
    partial = np.arctanh([_correlate_ranks(first[rows], second[rows]) for rows in kept])
    error = np.sqrt((_JACKKNIFE_BLOCKS - 1) * partial.var())
    reach = float(stdtrit(_JACKKNIFE_BLOCKS - 1, 0.975) * error)
    low, high = np.tanh(np.arctanh(whole) + np.array([-reach, reach]))
    return RankCorrelation(whole, float(low), float(high))


def _correlate_ranks(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation, a little inside (-1, 1); 0 if one of the two is constant."""
    ranks = np.stack([rankdata(first), rankdata(second)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((ranks**2).sum(axis=1).prod()))
    value = float(ranks[0] @ ranks[1]) / scale if scale else 0.0
    return min(max(value, -_MAX_CORRELATION), _MAX_CORRELATION)


def measure_detection(
    target: str,
    aleatoric: Floats,
    epistemic: Floats,
    hits: NDArray[np.bool_],
    groups: Groups | None = None,
    tests: int = 1,
) -> Detection | None:
    """Measure how well each part of the uncertainty detects some of N examples.

    Args:
      target: what is detected.
      aleatoric: (N,), higher is less sure.
      epistemic: (N,), higher is less sure.
      hits: (N,), the examples to detect.
      groups: (N,), numbers from 0, of examples that belong together.
      tests: how many differences are reported together: their intervals hold together at 95 %
        (Bonferroni).

    Returns:
      None if fewer than two examples are to be detected, or are not.
    """
    each = [estimate_error_detection(score, ~hits, groups) for score in (aleatoric, epistemic)]
    if each[0] is None or each[1] is None:
        return None
    difference = compare_detectors(epistemic, aleatoric, hits, groups, 1 - 0.05 / tests)
    return Detection(target, each[0], each[1], difference)


def compare_detectors(
    first: Floats, second: Floats, hits: NDArray[np.bool_], groups: Groups | None = None, level: float = 0.95
) -> AurocDifference:
    """Compare the AUROCs of two scores of the same N examples, in groups, few of them to detect.

    The interval is that of the mean of the examples' placements (DeLong; see `compare_aurocs`)
    over groups, stretched to Student's quantile for the rarer kind of example, because the
    variance rests mostly on these.

    Args:
      first: (N,), higher for what is to be detected.
      second: (N,), likewise.
      hits: (N,), the examples to detect: at least two, and two others.
      groups: (N,), numbers from 0, of examples that belong together.
      level: of the interval, in (0, 1).

    Source: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53
    (1997), 567-578.
    """
    index = np.arange(len(hits)) if groups is None else groups
    own, others = (compute_placements(score[~hits], score[hits]) for score in (first, second))
    influence = np.empty(len(hits))
    for side, one, other in zip((~hits, hits), own, others, strict=True):
        influence[side] = (one - other - (one - other).mean()) * len(hits) / side.sum()
    value, value_of_other = float(own[1].mean()), float(others[1].mean())
    difference, tail = value - value_of_other, (1 - level) / 2
    rarer = min(len(np.unique(index[side])) for side in (hits, ~hits))
    if rarer < 2 or not np.ptp(influence):
        return AurocDifference(value, value_of_other, -1.0, 1.0)
    low, high = grouped_mean_interval(influence + difference, groups, level)
    stretch = float(stdtrit(rarer - 1, tail) / stdtrit(int(index.max()), tail))
    return AurocDifference(
        value,
        value_of_other,
        max(difference - stretch * (difference - low), -1.0),
        min(difference + stretch * (high - difference), 1.0),
    )
