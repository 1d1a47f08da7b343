"""What is wrong with predicted numbers, if anything: spreads, shape, and single members."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import binom, kstest, kstwo, spearmanr

from ensemble.analysis.inference.image_groups import Groups, collapse_groups, grouped_mean_interval, select_groups
from ensemble.analysis.inference.paired_intervals import compute_moments, moments_interval
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import CALIBRATION_LEVEL, LEVEL, check_targets, compute_pit
from ensemble.analysis.numeric.point_ensemble import PointEnsemble

_PIT_BINS = 10
_SPREAD_BINS = 10
_MIN_BIN_EXAMPLES = 10  # of a bin, below which there are fewer bins
_UNSEEN_EXAMPLES, _UNSEEN_SIZE = 3.0, 10.0  # of `compare_rmse`
# Of the logarithm of a share, from 0.05 to 50.
_SHARE_STEPS, _SHARE_TOLERANCE = 0.25 * (1.2 ** np.arange(1, 31) - 1), 1e-10
_SMALLEST_SPREAD = 1e-300
Ints = NDArray[np.intp]
_PitShape = Literal["even", "narrow", "wide", "low", "high", "uneven"]


@dataclass(frozen=True)
class ErrorRatio:
    """An RMSE as a share of another, on the same examples.

    Attributes:
      ratio: 0.92 if the first is 8 % below the second.
      low, high: its 95 % interval for new examples, from paired squared errors.
    """

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class PitHistogram:
    """Where targets fall within what is predicted: as often in each bin, where it is calibrated.

    Attributes:
      counts: (B,), of the probability integral transform in even bins over 0 to 1.
      low, high: what chance leaves every bin within, in 95 of 100 such histograms.
      p_value: of the Kolmogorov-Smirnov test that it is even.
      shape: "even" if that p-value is 0.05 / 3 or more, because the histogram, the coverage and
        the mean error are one family of three tests; else what it looks like: spreads too "narrow"
        (many at both ends) or too "wide" (many in the middle), means too "low" or too "high", or
        "uneven".
    """

    counts: tuple[int, ...]
    low: float
    high: float
    p_value: float
    shape: _PitShape


@dataclass(frozen=True)
class MeanError:
    """How far targets exceed predictions on average, in the targets' unit.

    Attributes:
      mean: above 0 if predictions are too low.
      low, high: its interval; with the PIT histogram and the coverage at 95 % together.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class _SpreadBin:
    """Examples with a like predicted spread.

    Attributes:
      examples: how many.
      spread: the root of their mean squared predicted spread, in the targets' unit.
      rmse: of the ensemble on them, in that unit.
      low, high: the 95 % interval of it.
    """

    examples: int
    spread: float
    rmse: float
    low: float
    high: float


@dataclass(frozen=True)
class SpreadSkill:
    """Whether the predicted spread follows the error.

    Attributes:
      bins: from the examples with the smallest spread to those with the largest.
      rank_correlation: Spearman's, of spread and absolute error; NaN where either is constant.
      p_value: that it is 0.
    """

    bins: tuple[_SpreadBin, ...]
    rank_correlation: float
    p_value: float


@dataclass(frozen=True)
class LeftOutMember:
    """The ensemble without one member, against all of it.

    Attributes:
      member: which, from 0.
      ratio: its RMSE without the member, as a share of that with it. The interval is wider, so
        that all M together hold in 95 of 100.
      against_others: the member's own RMSE as a share of that of a random other one; likewise.
    """

    member: int
    ratio: ErrorRatio
    against_others: ErrorRatio


def compare_rmse(first: Doubles, second: Doubles, level: float = LEVEL, groups: Groups | None = None) -> ErrorRatio:
    """Compute the first RMSE as a share of the second, with an interval for new examples.

    A share r is outside the interval if `moments_interval` of aₙ − r² bₙ excludes 0 (Fieller's
    method with Hall's transformation), so that 1 is outside exactly if the interval of the paired
    difference aₙ − bₙ excludes 0. Large errors may be missing from a few examples, and they pull a
    share towards 1. Up to 3 / N of new examples may be of a kind that was not seen (95 %); both
    errors of these are taken to be 10 times the largest squared error seen.

    Args:
      first: (N,) squared errors.
      second: (N,) squared errors of the same examples.
      level: of the interval, in (0, 1).
      groups: (N,), the group of each example; None if examples are independent.

    Source: E. C. Fieller, "Some problems in interval estimation", JRSS B 16 (1954), 175-185; J. A.
    Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983),
    1743-1745 (3 / N). `benchmarks.verdicts` simulates how often it is wrong.
    """
    mean, other = float(first.mean()), float(second.mean())
    if min(mean, other) <= 0:  # An error of 0 has no share.
        ratio = float(np.sqrt(mean / other)) if other > 0 else 1.0 if mean == 0 else float("inf")
        return ErrorRatio(ratio, 0.0, float("inf"))
    unseen = _UNSEEN_SIZE * float(max(first.max(), second.max()))
    if groups is not None:
        first, second = collapse_groups(first, groups), collapse_groups(second, groups)
    unseen *= min(1.0, _UNSEEN_EXAMPLES / len(first))
    alpha = (1 - level) / 2
    return ErrorRatio(
        float(np.sqrt(mean / other)),
        1 / _find_largest_share(second, first, alpha, unseen),
        _find_largest_share(first, second, alpha, unseen),
    )


def _find_largest_share(first: Doubles, second: Doubles, alpha: float, unseen: float) -> float:
    """Find the upper end of the interval of a share of two RMSE; infinite if there is none."""

    def compute_excess(log_share: float) -> float:
        share = float(np.exp(log_share))
        high = moments_interval(compute_moments(first - share * second), alpha)[1]
        return float(high) + max(0.0, 1 - share) * unseen

    # The interval ends at the first share that is excluded, and 1 is among those that are tried. If
    # the second error could be 0, very large shares need not be excluded, though smaller ones are.
    low = float(np.log(first.mean() / second.mean()))
    for high in sorted([0.0, *(low + _SHARE_STEPS)]):
        if high > low and compute_excess(high) < 0:
            root = brentq(compute_excess, low, high, xtol=_SHARE_TOLERANCE)
            return float(np.exp(root / 2))
        low = max(low, high)
    return float("inf")


def compare_with_mean_member(ensemble: NumericEnsemble, targets: Doubles, groups: Groups | None = None) -> ErrorRatio:
    """Compute the ensemble's RMSE as a share of a random member's; never above 1 (Jensen)."""
    check_targets(ensemble, targets)
    members = ((targets - ensemble.mean) ** 2).mean(axis=0)
    found = compare_rmse((targets - ensemble.compute_mean()) ** 2, members, LEVEL, groups)
    return ErrorRatio(found.ratio, min(found.low, 1.0), min(found.high, 1.0))


def measure_pit_histogram(mixture: NormalMixture, targets: Doubles, groups: Groups | None = None) -> PitHistogram:
    """Count the probability integral transform in bins, with the band that chance leaves.

    The band is binomial for each bin, at a level that holds for all of them together in 95 of 100
    histograms (Bonferroni). With groups the band and the test count groups, not examples.

    Args:
      mixture: N examples.
      targets: (N,).
      groups: (N,), the group of each example; None if examples are independent.
    """
    pit = np.clip(compute_pit(mixture, targets), 0, 1)
    worth = len(pit) if groups is None else int(groups.max()) + 1
    counts = np.histogram(pit, _PIT_BINS, (0, 1))[0]
    tail = (1 - LEVEL) / 2 / _PIT_BINS
    low, high = binom.ppf([tail, 1 - tail], worth, 1 / _PIT_BINS) * len(pit) / worth
    test = kstest(pit, "uniform")
    p_value = float(test.pvalue if groups is None else kstwo.sf(test.statistic, worth))
    return PitHistogram(tuple(map(int, counts)), float(low), float(high), p_value, _name_pit_shape(pit, p_value, worth))


def _name_pit_shape(pit: Doubles, p_value: float, worth: int) -> _PitShape:
    if p_value >= 1 - CALIBRATION_LEVEL:
        return "even"
    # An even distribution over 0 to 1 has mean 1/2 and variance 1/12; (u − ½)² has mean 1/12 and
    # variance 1/180.
    lean = float(pit.mean() - 0.5) * np.sqrt(12 * worth)
    wide = float(((pit - 0.5) ** 2).mean() - 1 / 12) * np.sqrt(180 * worth)
    if max(abs(lean), abs(wide)) < 2:
        return "uneven"
    if abs(wide) >= abs(lean):
        return "narrow" if wide > 0 else "wide"
    return "low" if lean > 0 else "high"


def measure_mean_error(ensemble: NumericEnsemble, targets: Doubles, groups: Groups | None = None) -> MeanError:
    """Compute how far targets (N,) exceed predictions on average, with its interval."""
    check_targets(ensemble, targets)
    errors = targets - ensemble.compute_mean()
    low, high = grouped_mean_interval(errors, groups, CALIBRATION_LEVEL)
    return MeanError(float(errors.mean()), low, high)


def measure_spread_skill(
    ensemble: NumericEnsemble, targets: Doubles, groups: Groups | None = None
) -> SpreadSkill | None:
    """Compute the error of examples from the smallest predicted spread to the largest.

    The p-value is of Student's t for a rank correlation; with groups it counts groups.

    Returns:
      None where members give no spread, or there are too few examples for two bins.
    """
    check_targets(ensemble, targets)
    spread = ensemble.compute_spread()
    count = min(_SPREAD_BINS, len(targets) // _MIN_BIN_EXAMPLES)
    if spread is None or count < 2:
        return None
    errors = targets - ensemble.compute_mean()
    bins = []
    for chosen in np.array_split(np.argsort(spread, kind="stable"), count):
        rmse = estimate_rmse(errors[chosen], select_groups(groups, chosen))
        bins.append(_SpreadBin(len(chosen), float(np.sqrt((spread[chosen] ** 2).mean())), *rmse))
    if np.ptp(spread) == 0 or np.ptp(np.abs(errors)) == 0:
        return SpreadSkill(tuple(bins), float("nan"), 1.0)
    correlation = float(spearmanr(spread, np.abs(errors)).statistic)
    freedom = (len(targets) if groups is None else int(groups.max()) + 1) - 2
    t = correlation * np.sqrt(freedom / max(1 - correlation**2, 1e-300)) if freedom > 0 else 0.0
    return SpreadSkill(tuple(bins), correlation, 2 * float(stdtr(max(freedom, 1), -abs(t))))


def estimate_rmse(errors: Doubles, groups: Groups | None = None) -> tuple[float, float, float]:
    """Compute the RMSE of errors (N,) with its 95 % interval, the root of that of the squared errors."""
    low, high = grouped_mean_interval(errors**2, groups)
    return float(np.sqrt((errors**2).mean())), float(np.sqrt(max(0.0, low))), float(np.sqrt(high))


def leave_out_members(ensemble: NumericEnsemble, targets: Doubles, groups: Groups | None = None) -> list[LeftOutMember]:
    """Compare the ensemble without each member in turn with all of it; [] for one member.

    Args:
      ensemble: M members.
      targets: (N,).
      groups: (N,), the group of each example; None if examples are independent.
    """
    check_targets(ensemble, targets)
    if ensemble.members < 2:
        return []
    level = 1 - (1 - LEVEL) / ensemble.members
    whole = (targets - ensemble.compute_mean()) ** 2
    total, others = ensemble.mean.sum(axis=0), ensemble.members - 1
    errors = (targets - ensemble.mean) ** 2
    return [
        LeftOutMember(
            member,
            compare_rmse((targets - (total - own) / others) ** 2, whole, level, groups),
            compare_rmse(errors[member], (errors.sum(axis=0) - errors[member]) / others, level, groups),
        )
        for member, own in enumerate(ensemble.mean)
    ]


def find_suspect_targets(scores: Doubles, groups: Groups | None = None) -> Ints:
    """Find targets that lie further from their prediction than normal noise explains.

    A target is suspect if its score, divided by the robust standard deviation of all scores,
    exceeds Student's quantile of N / 2 degrees at 0.025 / N (the median of N scores is about as
    precise as N / 2 of them): at most 5 % of tables with normal noise have one. It is then wrong,
    or the noise has heavy tails, or the members miss something.

    Args:
      scores: (N,), errors over the predicted spread, of rows that members have not learned from.
      groups: (N,), the group of each example; None if examples are independent.

    Returns:
      Their numbers, the most suspect first.

    Source: R. D. Cook and S. Weisberg, "Residuals and influence in regression", 1982, section
    2.2.2 (Bonferroni bound for the largest residual; here with a robust scale).
    """
    sizes = np.abs(scores)
    scale = float(np.median(sizes)) / float(ndtri(0.75))
    worth = len(scores) if groups is None else int(groups.max()) + 1
    limit = -float(stdtrit(max(worth // 2, 1), (1 - LEVEL) / 2 / len(scores)))
    order = np.argsort(-sizes, kind="stable")
    return order[sizes[order] > limit * scale] if scale > 0 else order[:0]


def compute_target_scores(ensemble: NumericEnsemble, targets: Doubles) -> Doubles:
    """Compute each target's error over its predicted spread, (N,), or the error alone without one.

    Members that give numbers alone have no predicted spread: their disagreement is not noise.
    """
    check_targets(ensemble, targets)
    errors = targets - ensemble.compute_mean()
    spread = None if isinstance(ensemble, PointEnsemble) else ensemble.compute_spread()
    scores: Doubles = errors / np.maximum(1.0 if spread is None else spread, _SMALLEST_SPREAD)
    return scores
