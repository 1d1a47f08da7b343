"""How likely so many seeds a side would show a difference of two settings."""

import bisect
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr, stdtrit

QUANTILES = 60  # of each side's estimated variance, over which the chance is averaged
_MAX_SEEDS = 100  # seeds on each side, beyond which no number is given


def compute_seed_power(
    difference: float, run_variance: float, image_variance: float, seeds: int, level: float = 0.05
) -> float:
    """The chance that K seeds on each side show a true difference, by `estimate_crossed_mean`.

    The difference of the two means has the variance 2 S² / K + T². It is shown where it is beyond
    √(t² · (s₁² + s₂²) / K + z² · T²), with sᵢ² the variance that a side's K runs happen to have and
    t of Welch's degrees of freedom. The chance is averaged over the distribution of both,
    S² · χ²(K - 1) / (K - 1).

    Args:
      difference: the true one.
      run_variance: S², of one run's figure over seeds.
      image_variance: T², of the mean difference over draws of the test images.
      seeds: K, on each side, at least 2.
      level: of the two-sided test, in (0, 1).

    Returns:
      In [0, 1].

    Raises:
      ValueError: fewer than two seeds show nothing of how seeds differ.
    """
    if seeds < 2:
        raise ValueError(f"{seeds} seeds: at least 2 are needed on each side.")
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    told = chdtri(seeds - 1, 1 - shares) / (seeds - 1)  # as shares of S²
    first, second = told[:, None], told[None, :]
    freedom = (seeds - 1) * (first + second) ** 2 / (first**2 + second**2)
    of_runs = stdtrit(freedom, level / 2) ** 2 * (first + second) * run_variance / seeds
    ends = np.sqrt(of_runs + float(stdtrit(np.inf, level / 2)) ** 2 * image_variance)
    error = math.sqrt(2 * run_variance / seeds + image_variance)
    if not error:
        return float(difference != 0)
    chance = ndtr((abs(difference) - ends) / error) + ndtr((-abs(difference) - ends) / error)
    return float(chance.mean())


def count_needed_seeds(
    difference: float, run_variance: float, image_variance: float, level: float = 0.05, power: float = 0.8
) -> int | None:
    """Compute the fewest seeds on each side that show a true difference with at least this power.

    The arguments are those of `compute_seed_power`.

    Returns:
      At least 2; None if `_MAX_SEEDS` are too few.
    """
    counts = range(2, _MAX_SEEDS + 1)
    place = bisect.bisect_left(
        counts, power, key=lambda seeds: compute_seed_power(difference, run_variance, image_variance, seeds, level)
    )
    return counts[place] if place < len(counts) else None


def pool_run_variance(sides: Sequence[NDArray[np.float64]]) -> float | None:
    """Compute the variance of one run's mean over seeds, pooled over sides.

    Args:
      sides: for each (K, N), a figure of each run on each example.

    Returns:
      None if every side has one run.
    """
    means = [side.mean(axis=1) for side in sides]
    freedom = sum(len(side) - 1 for side in means)
    return float(sum(((side - side.mean()) ** 2).sum() for side in means)) / freedom if freedom else None


def estimate_image_variance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Compute the variance of the mean difference of two sides, (K, N) and (L, N), over draws of the N examples."""
    apart = first.mean(axis=0) - second.mean(axis=0)
    return float(apart.var(ddof=1)) / len(apart) if len(apart) > 1 else 0.0
