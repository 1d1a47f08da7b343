"""What is wrong with predicted numbers, if anything: spreads, shape, and single members."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import binom, kstest, spearmanr
from scipy.stats import t as student

from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import LEVEL, check_targets, compute_pit

PIT_BINS = 10
SPREAD_BINS = 10
MIN_BIN_EXAMPLES = 10  # of a bin, below which there are fewer bins
PitShape = Literal["even", "narrow", "wide", "low", "high", "uneven"]


@dataclass(frozen=True)
class ErrorRatio:
    """An RMSE as a share of another, on the same examples.

    Attributes:
      ratio: 0.92 where the first is 8 % below the second.
      low, high: the 95 % interval of it, of paired squared errors.
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
      shape: "even" where that p is 0.05 or more; else what it looks like: spreads too "narrow"
        (many at both ends) or too "wide" (many in the middle), means too "low" or too "high", or
        "uneven".
    """

    counts: tuple[int, ...]
    low: float
    high: float
    p_value: float
    shape: PitShape


@dataclass(frozen=True)
class SpreadBin:
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

    bins: tuple[SpreadBin, ...]
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


def compare_rmse(first: Doubles, second: Doubles, level: float = LEVEL) -> ErrorRatio:
    """The first RMSE as a share of the second.

    Args:
      first: (N,) squared errors.
      second: (N,) squared errors of the same examples.
      level: of the interval.

    The interval is that of the logarithm, by the delta method: half the mean of
    aₙ/mean(a) − bₙ/mean(b), with Student's quantile. It is approximate: with at most 200 examples
    or heavy-tailed errors it misses in 7 to 60 % of cases, so no claim may rest on it.
    """
    mean, other = float(first.mean()), float(second.mean())
    count = len(first)
    if min(mean, other) <= 0 or count < 2:  # Of an error that is 0 there is no share.
        ratio = float(np.sqrt(mean / other)) if other > 0 else 1.0 if mean == 0 else float("inf")
        return ErrorRatio(ratio, 0.0, float("inf"))
    ratio = float(np.sqrt(mean / other))
    spread = float((first / mean - second / other).std(ddof=1)) / 2 / np.sqrt(count)
    half = float(student.ppf((1 + level) / 2, count - 1)) * spread
    return ErrorRatio(ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half)))


def compare_with_mean_member(ensemble: NumericEnsemble, targets: Doubles) -> ErrorRatio:
    """The ensemble's RMSE as a share of a random member's; never above 1 (Jensen)."""
    check_targets(ensemble, targets)
    members = ((targets - ensemble.mean) ** 2).mean(axis=0)
    found = compare_rmse((targets - ensemble.compute_mean()) ** 2, members)
    return ErrorRatio(found.ratio, min(found.low, 1.0), min(found.high, 1.0))


def measure_pit_histogram(mixture: NormalMixture, targets: Doubles) -> PitHistogram:
    """The histogram of the probability integral transform, with what chance does to it.

    Each bin's count is binomial where predictions are calibrated; the band is of each bin at a
    level that all together leave in 5 of 100 histograms (Bonferroni).
    """
    pit = np.clip(compute_pit(mixture, targets), 0, 1)
    count = len(pit)
    counts = np.histogram(pit, PIT_BINS, (0, 1))[0]
    tail = (1 - LEVEL) / 2 / PIT_BINS
    low, high = binom.ppf([tail, 1 - tail], count, 1 / PIT_BINS)
    p_value = float(kstest(pit, "uniform").pvalue)
    return PitHistogram(
        tuple(map(int, counts)), float(low), float(high), p_value, _name_pit_shape(pit, p_value)
    )


def _name_pit_shape(pit: Doubles, p_value: float) -> PitShape:
    """What an uneven histogram looks like: which of its first two moments is furthest off."""
    if p_value >= 1 - LEVEL:
        return "even"
    count = len(pit)
    # Of an even distribution over 0 to 1: mean 1/2, variance 1/12; (u − ½)² has mean 1/12 and
    # variance 1/180.
    lean = float(pit.mean() - 0.5) / np.sqrt(1 / 12 / count)
    wide = float(((pit - 0.5) ** 2).mean() - 1 / 12) / np.sqrt(1 / 180 / count)
    if max(abs(lean), abs(wide)) < 2:
        return "uneven"
    if abs(wide) >= abs(lean):
        return "narrow" if wide > 0 else "wide"
    return "low" if lean > 0 else "high"


def measure_spread_skill(ensemble: NumericEnsemble, targets: Doubles) -> SpreadSkill | None:
    """The error of examples with a small predicted spread, and of those with a large one.

    Returns:
      None where members give no spread, or there are too few examples for two bins.
    """
    check_targets(ensemble, targets)
    spread = ensemble.compute_spread()
    count = min(SPREAD_BINS, len(targets) // MIN_BIN_EXAMPLES)
    if spread is None or count < 2:
        return None
    errors = targets - ensemble.compute_mean()
    bins = []
    for chosen in np.array_split(np.argsort(spread, kind="stable"), count):
        squared = errors[chosen] ** 2
        # The RMSE as a share of a number that is known: that of an error of 1 everywhere.
        found = compare_rmse(squared, np.ones(len(chosen)))
        predicted = float(np.sqrt((spread[chosen] ** 2).mean()))
        bins.append(SpreadBin(len(chosen), predicted, found.ratio, found.low, found.high))
    if np.ptp(spread) == 0 or np.ptp(np.abs(errors)) == 0:
        return SpreadSkill(tuple(bins), float("nan"), 1.0)
    found = spearmanr(spread, np.abs(errors))
    return SpreadSkill(tuple(bins), float(found.statistic), float(found.pvalue))


def leave_out_members(ensemble: NumericEnsemble, targets: Doubles) -> list[LeftOutMember]:
    """The ensemble without each member in turn; () of one member.

    Args:
      ensemble: M members.
      targets: (N,).
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
            compare_rmse((targets - (total - own) / others) ** 2, whole, level),
            compare_rmse(errors[member], (errors.sum(axis=0) - errors[member]) / others, level),
        )
        for member, own in enumerate(ensemble.mean)
    ]


def find_harmful_member(left_out: list[LeftOutMember]) -> LeftOutMember | None:
    """The member without which the ensemble is better beyond chance; None where there is none."""
    best = min(left_out, key=lambda each: each.ratio.ratio, default=None)
    return best if best is not None and best.ratio.high < 1 else None
