"""How sure a proportion or a median is that a finite number of examples gave."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom


def wilson(count: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion.

    Unlike the textbook `p ± 1.96 sqrt(p (1 - p) / n)` it stays within [0, 1] and keeps a
    width at `count == n`, where a good classifier on a small test set often is.

    Args:
      count: how many of the examples were right, in [0, n].
      n: how many examples there were, at least 1.
      level: the share of such intervals that hold the true proportion, in (0, 1).

    Returns:
      (low, high), both in [0, 1].

    Raises:
      ValueError: `count` is outside [0, n], or `n` is below 1.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22 (1927), 209-212.
    """
    if n < 1 or not 0 <= count <= n:
        raise ValueError(f"{count:g} of {n} is not a proportion.")
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = count / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def median_interval(values: NDArray[np.float64], *, level: float = 0.95) -> tuple[float, float]:
    """The interval of a median whatever the distribution: two of the values themselves.

    How many of N independent values lie below the median is binomial: the k-th smallest and the
    k-th largest leave it out less often than 1 − level.

    Args:
      values: (N,), at least 0, as times and their ratios are; N at least 1.
      level: in (0, 1).

    Returns:
      (low, high); (0, ∞) where N is too small for any: for 0.95, below 6.

    Source: W. R. Thompson, "On confidence ranges for the median and other expectation
    distributions", Annals of Mathematical Statistics 7 (1936), 122-128.
    """
    k = int(binom.ppf((1 - level) / 2, len(values), 0.5))
    if not k:
        return 0.0, math.inf
    ranked = np.sort(values)
    return float(ranked[k - 1]), float(ranked[-k])
