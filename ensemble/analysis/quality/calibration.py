"""Whether confidence is deserved: of what is said with 80 %, are 80 % right?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats

BINS = 15


@dataclass(frozen=True, eq=False)
class ReliabilityBins:
    """Confidence against accuracy, bin by bin.

    Attributes:
      edges: (B + 1,), rising; bin b holds what is above edges[b] and at most edges[b + 1], and
        the first bin also what is equal to edges[0].
      count: (B,), how many examples are in the bin.
      confidence: (B,), their mean confidence; NaN where there are none.
      accuracy: (B,), the share of them that is right; NaN where there are none.
    """

    edges: NDArray[np.float64]
    count: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """(B,), accuracy − confidence: below 0 where too sure; NaN where the bin is empty."""
        return self.accuracy - self.confidence


def reliability_bins(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> ReliabilityBins:
    """The reliability diagram with bins of equal width on [0, 1].

    A bin is open below and closed above, (a, b]; the first takes 0 as well.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1.

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: C. Guo and others, "On calibration of modern neural networks", ICML 2017.
    """
    return bin_by_confidence(confidence, right, np.linspace(0, 1, bins + 1))


def expected_calibration_error(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> float:
    """The expected calibration error (ECE): Σ_b n_b / N · |accuracy_b − confidence_b|.

    The bins are those of `reliability_bins`.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1.

    Returns:
      In [0, 1]: 0 where each bin is as often right as it says.

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: M. P. Naeini and others, "Obtaining well calibrated probabilities using Bayesian
    binning", AAAI 2015; bins as in C. Guo and others, ICML 2017.
    """
    return _weighted_mean_gap(reliability_bins(confidence, right, bins))


def adaptive_calibration_error(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> float:
    """The calibration error over bins of equal count: Σ_b n_b / N · |accuracy_b − confidence_b|.

    Equal confidences are never put apart: a bin ends with the last of those that are equal to
    its N·b/B-th lowest confidence. Bins so swallowed are empty, and each bin weighs what it
    holds; where no two confidences are equal, counts differ by one at most.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1; with fewer examples than bins each distinct confidence is one.

    Returns:
      In [0, 1].

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: J. Nixon and others, "Measuring calibration in deep learning", CVPR Workshops 2019
    (here of the class that is said only, not of every class).
    """
    n = len(confidence)
    last = -(-np.arange(1, bins + 1) * n // bins) - 1  # ⌈b N / B⌉ − 1
    tops = np.sort(confidence)[last] if n else np.ones(bins)
    return _weighted_mean_gap(bin_by_confidence(confidence, right, np.concatenate([[0.0], tops])))


def maximum_calibration_error(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> float:
    """The maximum calibration error (MCE): max_b |accuracy_b − confidence_b|, of bins not empty.

    The bins are those of `reliability_bins`. One example alone in a bin can decide it.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1.

    Returns:
      In [0, 1].

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: M. P. Naeini and others, AAAI 2015; C. Guo and others, ICML 2017.
    """
    return float(np.nanmax(np.abs(reliability_bins(confidence, right, bins).gap)))


def bin_by_confidence(confidence: Floats, right: NDArray[np.bool_], edges: NDArray[np.float64]) -> ReliabilityBins:
    """Confidence against accuracy in bins with the edges that are given.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      edges: (B + 1,), not falling; of bins between equal edges the lowest takes what is equal
        to them; what lies outside goes to the first or the last bin.

    Raises:
      ValueError: there is no example, or the shapes differ.
    """
    if confidence.shape != right.shape or confidence.ndim != 1 or not len(confidence):
        raise ValueError(f"{confidence.shape} confidences and {right.shape} answers.")
    bins = len(edges) - 1
    within = np.searchsorted(edges[1:-1], confidence, side="left")
    count = np.bincount(within, minlength=bins)
    divisor = np.where(count > 0, count, np.nan)
    sums = [np.bincount(within, values, minlength=bins) for values in (confidence, right)]
    return ReliabilityBins(edges, count, sums[0] / divisor, sums[1] / divisor)


def _weighted_mean_gap(bins: ReliabilityBins) -> float:
    return float(np.nansum(bins.count * np.abs(bins.gap)) / bins.count.sum())
