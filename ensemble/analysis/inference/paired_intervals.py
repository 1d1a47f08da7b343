"""Intervals of a paired difference: two classifiers judged on the same examples.

They hold where few examples differ, which is where a bootstrap's are too short: with a handful
that differ, all draws are made of that handful.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

Doubles = NDArray[np.float64]

_SMALLEST_P = 2.0**-40  # smaller values would depend on the far tail of the model
HALVINGS = 60  # of an interval of 2: what is left is below the rounding of a double
# An interval of one draw x of a normal distribution is x ± |x| · `_SINGLE_VALUE_FACTOR` / (error of both ends).
_SINGLE_VALUE_FACTOR = float(np.sqrt(2 / (np.pi * np.e)))
_MIN_SKEWNESS = 1e-9  # skewness below which Hall's curve is the straight line that it bends


@dataclass(frozen=True, eq=False)
class DifferenceMoments:
    """What is known of N differences: numbers, or arrays (S,) of S sets of N.

    Attributes:
      n: N.
      mean: their mean.
      variance: the mean squared distance to it.
      third: the mean cubed distance to it.
      largest: the largest distance that one difference can be expected to have.
    """

    n: int
    mean: ArrayLike
    variance: ArrayLike
    third: ArrayLike
    largest: ArrayLike


def compute_moments(values: Doubles, bound: float | None = None) -> DifferenceMoments:
    """The moments of differences (N,), for `moments_interval`.

    Args:
      values: (N,), finite.
      bound: how far a difference can be from 0 at all, such as 1 for one that is right or wrong;
        None where there is no bound, and the largest distance seen has to do.

    Raises:
      ValueError: there is no value.
    """
    if not len(values):
        raise ValueError("An interval of a mean needs at least one value.")
    mean = float(values.mean())
    apart = values - mean
    largest = float(np.abs(apart).max()) if bound is None else bound
    square = apart * apart
    return DifferenceMoments(len(values), mean, float(square.mean()), float((square * apart).mean()), largest)


def mean_interval(values: Doubles, level: float = 0.95, bound: float | None = None) -> tuple[float, float]:
    """(low, high), the two-sided interval of the mean of differences (N,).

    Each end is wrong with probability (1 − level) / 2. See `moments_interval`.

    Raises:
      ValueError: there is no value, or `level` is outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"A level of {level:g} is outside 0 to 1.")
    low, high = moments_interval(compute_moments(values, bound), (1 - level) / 2, bound is not None)
    return float(low), float(high)


def mean_p_value(values: NDArray[np.float64]) -> float:
    """The two-sided p that differences (N,) without a bound have the mean 0.

    One less the largest level at which `mean_interval` leaves 0 out, so that the two
    never contradict each other; 1 where all differences are 0.

    Raises:
      ValueError: there is no value.
    """
    n, moments = len(values), compute_moments(values)
    if n == 1 or moments.mean == 0:
        return 1.0
    # An end of `moments_interval` is 0 at this z, by Student and by Hall; the wider interval applies.
    mean, variance, third, largest = (
        float(np.asarray(each)) for each in (moments.mean, moments.variance, moments.third, moments.largest)
    )
    spread = math.sqrt((variance + 2 * largest**2 / n) / n)
    plain = mean / spread if spread > 0 else math.copysign(math.inf, mean)
    bent = plain
    if (cube := variance * math.sqrt(variance)) > 0:
        t, skewness = mean / math.sqrt(variance / n), third / cube / math.sqrt(n)
        bent = t + skewness * t * t / 3 + skewness * skewness * t * t * t / 27 + skewness / 6
    z = max(min(plain, bent), min(-plain, -bent))
    return min(1.0, max(_SMALLEST_P, 2 * float(stdtr(n - 1, -z))))


def moments_interval(moments: DifferenceMoments, alpha: float, bounded: bool = False) -> tuple[Any, Any]:
    """(low, high) of a mean, each of which is on the wrong side with probability `alpha`.

    The variance counts two examples more, one as far below the mean and one as far above it as
    one can be: rare losses that this sample happened not to hold. Where the differences have no
    bound, their spread is known from the sample alone: the ends are Student's, and at least as
    far out as Hall's, which knows how lopsided they are. Of a single one nothing is known of the
    spread but that its size is a draw of it: the interval is Machol's, and always holds 0.

    Args:
      moments: the moments; arrays (S,) give arrays.
      alpha: in (0, 0.5), the error of each end.
      bounded: whether `largest` is a bound of the differences rather than the largest seen.

    Source: D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of
    binomial proportions based on paired data", Journal of Educational and Behavioral Statistics
    37 (2012), 479-488 (a pseudo-example for each side; here for any paired difference, and
    around the mean itself); P. Hall, "On the removal of skewness by transformation", JRSS B 54
    (1992), 221-228; N. M. Blachman and R. E. Machol, "Confidence intervals based on one or more
    observations", IEEE Transactions on Information Theory 33 (1987), 373-382.
    `benchmarks.verdicts` simulates how often they are wrong.
    """
    if moments.n == 1 and not bounded:
        alone = np.asarray(moments.mean, np.float64)
        size = max(1.0, _SINGLE_VALUE_FACTOR / (2 * alpha)) * np.abs(alone)
        return alone - size, alone + size
    z = -NormalDist().inv_cdf(alpha) if bounded else float(-stdtrit(moments.n - 1, alpha))
    mean, variance, largest = (
        np.asarray(value, np.float64) for value in (moments.mean, moments.variance, moments.largest)
    )
    half = z * np.sqrt((variance + 2 * largest * largest / moments.n) / moments.n)
    low, high = mean - half, mean + half
    if bounded:
        return low, high
    error = np.sqrt(variance / moments.n)
    of_low, of_high = _hall_quantiles(moments, z)
    return np.fmin(low, mean - error * of_low), np.fmax(high, mean - error * of_high)


def difference_interval(won: ArrayLike, lost: ArrayLike, n: int, level: float = 0.95) -> tuple[Any, Any]:
    """(low, high) of the difference in accuracy of two classifiers on the same N examples.

    The wider, at each end, of Tango's score interval and of Bonett and Price's: with few
    examples that differ the one is too short on the side of 0, the other on the far side, and
    each at most where the other is not. By exact sums over Poisson counts of 0 to 60 either
    end of both together is wrong at most 2.4 % of the time for the 2.5 % that a level of 0.95
    promises; of Tango's alone up to 5.1 %. Where none differ it is still as wide as N examples
    leave open.

    Args:
      won: how many examples only the first has right; a number or an array of counts.
      lost: how many only the second has right.
      n: N, at least 1, and at least won + lost.
      level: two-sided: each end is wrong with probability (1 − level) / 2.

    Returns:
      In [−1, 1], the accuracy of the first − that of the second; floats for two numbers, else
      arrays of doubles.

    Raises:
      ValueError: there is no example, or more differ than there are.

    Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design", Statistics in Medicine 17 (1998), 891-908; D. G. Bonett and
    R. M. Price, as in `moments_interval`.
    """
    first, second = np.broadcast_arrays(np.asarray(won, np.float64), np.asarray(lost, np.float64))
    if n < 1 or (first + second > n).any() or (first < 0).any() or (second < 0).any():
        raise ValueError(f"{won!r} won and {lost!r} lost of {n} examples is not possible.")
    z = -NormalDist().inv_cdf((1 - level) / 2)
    mean = (first - second) / n
    half = z * np.sqrt(((first + second + 2) / n - mean * mean) / n)
    # Both ends in one bisection, which takes as long for two numbers as for one.
    upper = _tango_upper_bound(np.array([first, second]), np.array([second, first]), n, z)
    low = np.maximum(np.minimum(mean - half, -upper[1]), -1.0)
    high = np.minimum(np.maximum(mean + half, upper[0]), 1.0)
    return (low, high) if np.ndim(won) or np.ndim(lost) else (float(low), float(high))


def _tango_upper_bound(won: Doubles, lost: Doubles, n: int, z: float) -> Doubles:
    """Find the largest difference that Tango's score test does not reject, by bisection."""
    low = np.broadcast_to((won - lost) / n, np.broadcast(won, lost).shape).astype(np.float64)
    high = np.ones_like(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        kept = _tango_score(won, lost, n, middle) >= -z
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return high


def _tango_score(won: Doubles, lost: Doubles, n: int, difference: Doubles) -> Doubles:
    b = (2 * n - won + lost) * difference - won - lost
    c = -lost * difference * (1 - difference)
    share = (np.sqrt(np.maximum(b * b - 8 * n * c, 0)) - b) / (4 * n)
    spread = np.sqrt(np.maximum(n * (2 * share + difference * (1 - difference)), 0))
    apart = won - lost - n * difference
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart == 0, 0.0, apart / spread)


def _hall_quantiles(moments: DifferenceMoments, z: float) -> tuple[Doubles, Doubles]:
    """Return the t at which Hall's transformed t is z, and at which it is −z, for a skewed sample of N.

    NaN where the sample is so lopsided that there is none; all differences equal: 0.
    """
    variance, third = (np.asarray(moments.variance, float), np.asarray(moments.third, float))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(variance > 0, third / variance**1.5, 0.0) / np.sqrt(moments.n)
        straight, scale, middle = np.abs(skewness) < _MIN_SKEWNESS, 3 / skewness, skewness / 6
        above = np.where(straight, z, scale * (np.cbrt(1 + skewness * (z - middle)) - 1))
        below = np.where(straight, -z, scale * (np.cbrt(1 + skewness * (-z - middle)) - 1))
    return above, below
