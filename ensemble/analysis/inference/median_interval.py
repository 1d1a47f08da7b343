"""The interval of a median, whatever the distribution."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


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
    k = _binomial_rank(len(values), (1 - level) / 2)
    if not k:
        return 0.0, math.inf
    ranked = np.sort(values)
    return float(ranked[k - 1]), float(ranked[-k])


def _binomial_rank(n: int, tail: float) -> int:
    """The least k of which P(X ≤ k) is at least `tail`, X the heads of n fair tosses.

    In whole numbers: SciPy would take longer to be imported than a list of runs to be read.
    """
    wanted, ways, here = Fraction(tail) * 2**n, 0, 1
    for k in range(n):
        ways += here
        if ways >= wanted:
            return k
        here = here * (n - k) // (k + 1)
    return n
