"""Whether confidence and accuracy differ by more than chance: over all answers, and bin by bin."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import estimate_design_effect
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.inference.poisson_binomial import poisson_binomial_p_value
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.calibration import BINS, bin_by_confidence

# Two questions, one verdict: together they are wrong of at most 5 % of what is calibrated.
OVERALL_LEVEL = 0.04
BINS_LEVEL = 0.01


@dataclass(frozen=True)
class CalibrationBinTest:
    """Confidence against accuracy over some answers.

    Attributes:
      low: the confidence that they are all above; 0 of all answers.
      high: the one that they all reach at most; 1 of all answers.
      n: how many answers there are, at least 1.
      right: how many of them are right.
      expected: how many would be, were each right with its confidence: Σ confidence.
      z: (right − expected) / sqrt(Σ confidence (1 − confidence)): above 0 where less sure than it
        could be, below 0 where surer than it should be; ±inf where it was certain and erred.
      p: two-sided; exact where answers are independent.
      groups: of how many groups p is where answers belong together, else None.
    """

    low: float
    high: float
    n: int
    right: int
    expected: float
    z: float
    p: float
    groups: int | None = None

    @property
    def confidence(self) -> float:
        """The mean confidence."""
        return self.expected / self.n

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return self.right / self.n


@dataclass(frozen=True)
class CalibrationTest:
    """Whether N answers contradict that each is right with the probability that it says.

    Attributes:
      overall: over all answers.
      bins: over those of each bin that holds any, from the lowest.
      adjusted_p_values: each bin's p after Holm's correction for so many bins, in their order.
    """

    overall: CalibrationBinTest
    bins: tuple[CalibrationBinTest, ...]
    adjusted_p_values: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """ "less sure", "too sure", "a bin" (on average nothing shows, but in one) or "none".

        Of answers that are right exactly as often as they say, at most 5 % of draws have another
        verdict than "none": 4 % by all together and 1 % by any bin.
        """
        if self.overall.p < OVERALL_LEVEL:
            return "less sure" if self.overall.z > 0 else "too sure"
        return "a bin" if min(self.adjusted_p_values) < BINS_LEVEL else "none"

    @property
    def worst_bin(self) -> tuple[CalibrationBinTest, float]:
        """The bin that chance explains least, and its p after Holm's correction."""
        b = int(np.argmin([bin_test.p for bin_test in self.bins]))
        return self.bins[b], self.adjusted_p_values[b]


def calibration_test(
    confidence: Floats, right: NDArray[np.bool_], bins: int = BINS, groups: Ints | None = None
) -> CalibrationTest:
    """Mean confidence against accuracy, of all answers and of each bin of `reliability`.

    Under "each is right with its confidence, independently" the number of right answers has the
    Poisson binomial law; p is twice its smaller tail, computed exactly, since the normal law of z
    is off where only a few errors are expected.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1.
      groups: (N,), which answers belong together, so that they are not independent: p is then the
        exact one of as many answers as these are worth (`estimate_design_effect`), as sure as
        these and as far from it. None where all are independent.

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: D. R. Cox, "Two further applications of a model for binary regression", Biometrika 45
    (1958), 562-565, and D. J. Spiegelhalter, "Probabilistic prediction in patient management and
    clinical trials", Statistics in Medicine 5 (1986), 421-433, on z.
    """
    edges = np.linspace(0, 1, bins + 1)
    bin_by_confidence(confidence, right, edges)  # refuses what does not fit together
    sure = np.clip(confidence.astype(np.float64), 0.0, 1.0)  # a sum of shares may round above 1
    within = np.searchsorted(edges[1:-1], confidence, side="left")
    effect = 1.0
    if groups is not None:
        effect = estimate_design_effect(right, sure, groups, 1 - OVERALL_LEVEL)
    count = None if groups is None else int(groups.max()) + 1
    each = [
        _test_bin(sure[within == b], right[within == b], low=edges[b], high=edges[b + 1], effect=effect, groups=count)
        for b in np.unique(within)
    ]
    corrected = adjust_p_holm(np.array([bin_test.p for bin_test in each]))
    return CalibrationTest(
        _test_bin(sure, right, low=0, high=1, effect=effect, groups=count), tuple(each), tuple(corrected.tolist())
    )


def _test_bin(
    sure: NDArray[np.float64], right: NDArray[np.bool_], low: float, high: float, effect: float, groups: int | None
) -> CalibrationBinTest:
    n, hits, expected = len(sure), int(right.sum()), float(sure.sum())
    spread = float(np.sqrt((sure * (1 - sure)).sum() * effect))
    difference = hits - expected
    z = difference / spread if spread else float(np.sign(difference)) * np.inf if difference else 0
    if effect > 1:  # as many answers as these are worth, from the least to the most sure
        worth = max(1, round(n / effect))
        sure = np.sort(sure)[((np.arange(worth) + 0.5) * n / worth).astype(int)]
        wanted = float(sure.sum()) + difference / effect
        hits_worth = math.floor(wanted) if difference > 0 else math.ceil(wanted)
        p = poisson_binomial_p_value(sure, min(max(hits_worth, 0), worth))
    else:
        p = poisson_binomial_p_value(sure, hits)
    return CalibrationBinTest(
        low=float(low), high=float(high), n=n, right=hits, expected=expected, z=float(z), p=p, groups=groups
    )
