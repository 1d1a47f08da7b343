"""How sure a proportion is that a finite number of examples gave."""

from statistics import NormalDist


def wilson_interval(count: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion.

    Unlike the textbook `p ± 1.96 sqrt(p (1 - p) / n)` it stays within [0, 1] and keeps a
    width at `count == n`, where a good classifier on a small test set often is.

    Args:
      count: how many of the examples were right, in [0, n].
      n: how many examples there were, at least 1; a fraction of a sample that is worth so many.
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


def exact_interval(count: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a proportion: either end is wrong at most as promised.

    Args:
      count: how many of the examples count, in [0, n].
      n: how many examples there are, at least 1; a fraction of a sample that is worth so many.
      level: in (0, 1).

    Returns:
      (low, high), both in [0, 1].

    Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated
    in the case of the binomial", Biometrika 26 (1934), 404-413.
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high
