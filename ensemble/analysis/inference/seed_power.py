"""How likely so many seeds a side would show a difference of two settings."""

import math

import numpy as np
from scipy.special import chdtri, ndtr, stdtrit

QUANTILES = 60  # of each side's estimated variance, over which the chance is averaged


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
