"""A mean over several runs on the same examples: how sure it is of other runs and other examples.

Runs and examples are crossed: each run is judged on each example. A figure of further runs on
further examples differs by what runs differ by and by what examples differ by, and an interval
that counts only one of the two is too short.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from scipy.stats import t as student

Doubles = NDArray[np.float64]
_MIN_LOG_P, HALVINGS = -300.0, 60  # of the logarithm of a p
OVER_IMAGES, OVER_SEEDS_AND_IMAGES = "images", "seeds and images"


class RunVariance(NamedTuple):
    """What trainings that differ in the seed add to the squared error of a mean.

    Attributes:
      variance: of the mean, at least 0.
      freedom: the degrees of freedom of that estimate, at least 1.
    """

    variance: float
    freedom: int


@dataclass(frozen=True)
class CrossedMean:
    """A mean, or a difference of two, with its interval.

    Attributes:
      mean: the estimate.
      low: the lower end of the interval.
      high: the upper end.
      p: the two-sided p that the true mean is 0, of the same t as the interval: it is below 0.05
        just where the 95 % interval leaves 0 out.
      over: what the interval holds for: "images" for these trained runs on new examples, "seeds
        and images" for new runs of the same settings on new examples.
    """

    mean: float
    low: float
    high: float
    p: float
    over: str


def estimate_crossed_mean(
    values: ArrayLike,
    other_values: ArrayLike | None = None,
    *,
    bound: float = 0.0,
    level: float = 0.95,
    run_variances: Sequence[RunVariance] = (),
) -> CrossedMean:
    """The mean of K runs on N examples, or what it is above the mean of L others on the same.

    The squared error of the mean is s²_runs / K + s²_examples / N, with the variance of the K
    runs' means and that of the N examples' means (for a difference: of both sides' runs, and of
    the examples' differences). Each term has Student's t of its own, with Welch's degrees of
    freedom for the runs, and the ends are as far out as the root of both squares (Banerjee): one t
    for the sum, with Satterthwaite's degrees, takes the few runs for as many as there are examples
    where these few happen to be alike, which a test of several at once is misled by twice as
    often as it promises. As what a run and an example have in common alone is counted in both
    terms, the interval is a little too wide rather than too short.

    A run that stands alone against several is taken to vary as they do: s² (1 + 1 / K), K − 1
    degrees (Crawford and Howell). Of runs that are alone on every side nothing is known of how
    runs differ: then the second term stands alone, and the interval is "over" images only.

    Args:
      values: (K, N), a figure of each run on each example.
      other_values: (L, N), of other runs on the same examples; None to estimate the mean of ours.
      bound: how far a figure can be from 0: the variance of the examples counts two more, one as
        far above the mean and one as far below, as `moments_interval` does. 0 for none.
      level: two-sided, in (0, 1).
      run_variances: of each side, where they are known from elsewhere than these runs: from
        members (`estimate_member_variances`), or from other runs.

    Raises:
      ValueError: there is no run or no example, or the two are of different examples.

    Source: A. B. Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1 (2007), 386-411
    (the variance of a mean over two crossed factors, and why both terms are needed); S. K.
    Banerjee, "Approximate confidence interval for linear functions of means of k populations when
    the population variances are not equal", Sankhya 22 (1960), 357-358; B. L. Welch, "The
    generalization of 'Student's' problem when several different population variances are
    involved", Biometrika 34 (1947), 28-35; J. R. Crawford and D. C. Howell, "Comparing an
    individual's test score against norms derived from small samples", The Clinical
    Neuropsychologist 12 (1998), 482-486.
    """
    first = np.atleast_2d(np.asarray(values, np.float64))
    sides = [first] if other_values is None else [first, np.atleast_2d(np.asarray(other_values, np.float64))]
    if not first.size or len({side.shape[1] for side in sides}) != 1 or not sides[-1].size:
        raise ValueError("A mean needs runs and examples, the same ones on both sides.")
    each = sides[0].mean(axis=0)
    if other_values is not None:
        each = each - sides[1].mean(axis=0)
    n = len(each)
    spread = float(each.var(ddof=1)) if n > 1 else bound * bound
    of_images = (spread + 2 * bound * bound / n) / n, max(1, n - 1)
    of_runs = list(run_variances) or _run_variances(sides)
    over = OVER_SEEDS_AND_IMAGES if of_runs else OVER_IMAGES
    return _combine_variances(float(each.mean()), of_images, of_runs, level, over)


def student_mean_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """(low, high), Student's interval of the mean of K figures, one a run.

    Raises:
      ValueError: of fewer than two nothing can be said.

    Source: Student, "The probable error of a mean", Biometrika 6 (1908), 1-25.
    """
    figures = np.asarray(values, np.float64)
    if len(figures) < 2:
        raise ValueError("An interval over runs needs at least two of them.")
    half = float(student.ppf((1 + level) / 2, len(figures) - 1)) * float(np.sqrt(figures.var(ddof=1) / len(figures)))
    return float(figures.mean()) - half, float(figures.mean()) + half


def _run_variances(sides: list[Doubles]) -> list[RunVariance]:
    """What runs add to the squared error, for each estimate of it."""
    many = [side for side in sides if len(side) > 1]
    alone = len(sides) - len(many)
    # One that is alone is, as a mean of one, K times as uncertain as a mean of K.
    return [RunVariance(float(side.mean(axis=1).var(ddof=1)) * (1 / len(side) + alone), len(side) - 1) for side in many]


def _combine_variances(
    mean: float, images: tuple[float, int], of_runs: list[RunVariance], level: float, over: str
) -> CrossedMean:
    (variance, df), by_runs = images, sum(term for term, _ in of_runs)
    if variance + by_runs == 0:
        return CrossedMean(mean, mean, mean, 1.0 if mean == 0 else 0.0, over)
    # In shares of the whole, as small variances squared are not numbers any more.
    weights = [((term / by_runs) ** 2, its) for term, its in of_runs] if by_runs else [(1.0, 1)]
    freedom = 1 / sum(weight / its for weight, its in weights)

    def half_width(p: float) -> float:
        ends = stdtrit(df, p / 2) ** 2 * variance + stdtrit(freedom, p / 2) ** 2 * by_runs
        return float(np.sqrt(ends))

    wide = half_width(1 - level)
    return CrossedMean(mean, mean - wide, mean + wide, _p_at_distance(half_width, abs(mean)), over)


def _p_at_distance(half: Callable[[float], float], distance: float) -> float:
    low, high = _MIN_LOG_P, 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if half(float(np.exp(middle))) < distance else (middle, high)
    return float(np.exp(high))
