"""Answering only where it is sure: what share of the examples, at what rate of errors."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import grouped_share_interval, select_groups
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.halves import split_halves

AnswerConfidences = tuple[Floats, NDArray[np.bool_]]  # how sure (n,), and where right (n,)
ERROR_RATE = 0.005  # of the answers that are given, accepted unless another is chosen


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The share of errors among the examples answered, as more and more of them are.

    Attributes:
      coverage: (N,), the share of the examples that are answered, rising to 1.
      risk: (N,), the share of errors among those.
      threshold: (N,), falling: answered is what is at least this confident. Equal confidences
        are answered together, so their entries are equal.
      aurc: the area under the curve: the mean of `risk`.
      aurc_best: the least area with as many errors, when all of them are answered last.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    threshold: NDArray[np.float64]
    aurc: float
    aurc_best: float


@dataclass(frozen=True)
class ConfidenceThreshold:
    """A threshold found on some examples, and how it does on others.

    Attributes:
      threshold: answer what is at least this confident; infinite where none reaches the rate.
      coverage: the share of the n examples that is answered.
      error: the share of errors among those; NaN where none is answered.
      low: the lower end of Wilson's 95 % interval of it; 0 where none is answered.
      high: the upper end; 1 where none is answered.
      answered: how many are answered.
      wrong: how many of those wrongly.
      n: how many examples it is judged on.
      fitted: how many others it was found on.
      halved: whether both are halves of one set, rather than two sets.
    """

    threshold: float
    coverage: float
    error: float
    low: float
    high: float
    answered: int
    wrong: int
    n: int
    fitted: int
    halved: bool

    @property
    def is_reached(self) -> bool:
        """Whether some threshold keeps to the rate on the examples it was looked for on."""
        return math.isfinite(self.threshold)

    def is_above(self, rate: float) -> bool:
        """Whether more are shown to be wrong than a share in [0, 1].

        By the interval, and by the exact test of the counts, which of a single mistake among a few
        examples alone says less than the interval does.
        """
        from scipy.special import bdtrc

        return self.low > rate and float(bdtrc(self.wrong - 1, self.answered, rate)) < 0.025


def risk_coverage(confidence: Floats, right: NDArray[np.bool_]) -> RiskCoverage:
    """The risk-coverage curve, the most confident first.

    Args:
      confidence: (N,), how sure each answer is; only the order counts.
      right: (N,), where the answer is right.

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: Y. Geifman and R. El-Yaniv, "Selective classification for deep neural networks",
    NeurIPS 2017 (the curve); Y. Geifman, G. Uziel and R. El-Yaniv, "Bias-reduced uncertainty
    estimation for deep neural classifiers", ICLR 2019 (AURC and its excess; the best area
    here as the exact sum, there as r + (1 − r) ln(1 − r)).
    """
    if confidence.shape != right.shape or confidence.ndim != 1 or not len(confidence):
        raise ValueError(f"{confidence.shape} confidences and {right.shape} answers.")
    N = len(confidence)
    order = np.argsort(-confidence, kind="stable")
    threshold = confidence[order].astype(np.float64)
    # The number of examples that are at least as confident as this one.
    kept = np.searchsorted(-threshold, -threshold, side="right")
    risk = np.cumsum(~right[order])[kept - 1] / kept
    so_far = np.arange(1, N + 1)
    best = np.maximum(so_far - np.count_nonzero(right), 0) / so_far
    return RiskCoverage(kept / N, risk, threshold, float(risk.mean()), float(best.mean()))


def fit_confidence_threshold(
    confidence: Floats,
    right: NDArray[np.bool_],
    labels: Ints,
    error_rate: float,
    fitting: AnswerConfidences | None = None,
    groups: Ints | None = None,
) -> ConfidenceThreshold:
    """The threshold for a rate of errors, found on some examples and judged on others.

    Of all thresholds whose share of errors on the former is at most `error_rate` it is the
    one that answers most; 0 where everything may be answered. That is no guarantee: the latter
    tell what the rate then is, with its interval.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer is right.
      labels: (N,), class numbers, to halve the examples by.
      error_rate: the share of errors that is allowed among the examples answered, in [0, 1].
      fitting: examples apart from these to find it on, such as a validation split, with which
        all N are judged; without them it is found on one half of the N, judged on the other.
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: `error_rate` is outside [0, 1], there are fewer than two examples, or the
        shapes differ.

    Source: Y. Geifman and R. El-Yaniv, NeurIPS 2017; the interval is Wilson's instead of
    their bound.
    """
    if not 0 <= error_rate <= 1:
        raise ValueError(f"An error rate of {error_rate:g} is outside 0 to 1.")
    halved = fitting is None
    if fitting is None:
        first, rest = split_halves(labels, groups)
        fitting = confidence[first], right[first]
        confidence, right = confidence[rest], right[rest]
        groups = select_groups(groups, rest)
    threshold = find_confidence_threshold(*fitting, error_rate)
    kept = confidence >= threshold
    count, n = int(kept.sum()), len(kept)
    wrong = int(np.count_nonzero(kept & ~right))
    low, high = grouped_share_interval(~right[kept], select_groups(groups, kept)) if count else (0.0, 1.0)
    error = wrong / count if count else math.nan
    fit_count = len(fitting[1])
    return ConfidenceThreshold(
        threshold=threshold,
        coverage=count / n,
        error=error,
        low=low,
        high=high,
        answered=count,
        wrong=wrong,
        n=n,
        fitted=fit_count,
        halved=halved,
    )


def find_confidence_threshold(confidence: Floats, right: NDArray[np.bool_], error_rate: float) -> float:
    """The least confidence (of N) from which on at most `error_rate` of the answers are wrong.

    0 where everything may be answered, infinite where no threshold keeps to the rate.
    """
    curve = risk_coverage(confidence, right)
    allowed = np.flatnonzero(curve.risk <= error_rate)
    if not len(allowed):
        return math.inf
    return 0.0 if curve.coverage[allowed[-1]] == 1 else float(curve.threshold[allowed[-1]])
