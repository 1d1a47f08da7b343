"""What a group of runs is better by than the baseline, on the same test images."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensemble.analysis.inference.crossed_means import CrossedMean, estimate_crossed_mean
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, paired_gain
from ensemble.comparison.run_measures import RunMeasures


@dataclass(frozen=True)
class GroupDifference:
    """What one group is better by than another. Positive is better.

    Attributes:
      n: N, the test images.
      digits: how many more of them are right, the mean over pairs of a run of either side.
      digits_low: the lower end of its 95 % interval, which is of this comparison alone.
      digits_high: the upper end.
      p: the two-sided p that there is no difference in accuracy.
      nll: the NLL that is saved an image, in nats.
      nll_low: the lower end of its 95 % interval.
      nll_high: the upper end.
      nll_p: the two-sided p that there is no difference in NLL.
      won: images that this group has right and the baseline wrong, mean over pairs of runs.
      lost: images that the baseline has right and this group wrong; digits = won − lost.
      over: what intervals and p hold for: "images" (these trained runs, on new images) where one
        run stands on each side, else "seeds and images" (new runs too).
      adjusted_p: `p`, adjusted for all tests of the table (Holm).
      adjusted_nll_p: `nll_p`, likewise.
    """

    n: int
    digits: float
    digits_low: float
    digits_high: float
    p: float
    nll: float
    nll_low: float
    nll_high: float
    nll_p: float
    won: float
    lost: float
    over: str
    adjusted_p: float = 1.0
    adjusted_nll_p: float = 1.0

    @property
    def accuracy_sign(self) -> int:
        """1 where more are shown to be right, −1 where fewer are, 0 where neither is shown."""
        return _sign_of_value(self.digits) * (self.adjusted_p < SIGNIFICANCE_LEVEL)

    @property
    def nll_sign(self) -> int:
        """1 where NLL is shown to be lower, −1 where higher, 0 where neither is shown."""
        return _sign_of_value(self.nll) * (self.adjusted_nll_p < SIGNIFICANCE_LEVEL)


@functools.lru_cache(maxsize=256)  # of pairs of groups; another baseline changes all of them
def compute_group_difference(
    group_measures: tuple[RunMeasures, ...], other_measures: tuple[RunMeasures, ...]
) -> GroupDifference:
    """What K runs are better by than L others, image by image; nothing is adjusted yet.

    One run against one: McNemar's exact p and the paired intervals of `gain.paired_gain`. Else
    `estimate_crossed_mean.crossed`, over seeds and images: a run alone is taken to vary as the
    others do.

    Args:
      group_measures: K, at least one, all on the same images.
      other_measures: L, at least one, on the same images as ours.

    Raises:
      ValueError: there is no run, or they are of different images.
    """
    if len({measures.images for measures in (*group_measures, *other_measures)}) != 1:
        raise ValueError("A difference is of runs on the same images.")
    hits, other_hits = (
        np.array([measures.right for measures in side], float)
        for side in (group_measures, other_measures)
    )
    share, other = hits.mean(axis=0), other_hits.mean(axis=0)
    won, lost = float((share * (1 - other)).sum()), float((other * (1 - share)).sum())
    losses, their = (
        np.array([measures.nll for measures in side]) for side in (group_measures, other_measures)
    )
    n = len(share)
    if len(group_measures) == len(other_measures) == 1:
        gain = paired_gain(group_measures[0].right, other_measures[0].right, their[0] - losses[0])
        return GroupDifference(
            n,
            gain.digits,
            gain.digits_low,
            gain.digits_high,
            gain.p,
            gain.nll,
            gain.nll_low,
            gain.nll_high,
            gain.nll_p,
            won,
            lost,
            "images",
        )
    right = estimate_crossed_mean(hits, other_hits, bound=1.0)
    saved = _negate_estimate(
        estimate_crossed_mean(losses, their, bound=_largest_deviation(losses, their))
    )
    return GroupDifference(
        n,
        won - lost,
        max(-1.0, right.low) * n,
        min(1.0, right.high) * n,
        right.p,
        saved.mean,
        saved.low,
        saved.high,
        saved.p,
        won,
        lost,
        right.over,
    )


def adjust_differences(group_differences: Sequence[GroupDifference]) -> list[GroupDifference]:
    """The same with every p adjusted for all of them: two tests each, by Holm's method."""
    ps = (
        adjust_p_holm(
            [p for difference in group_differences for p in (difference.p, difference.nll_p)]
        )
        .reshape(-1, 2)
        .tolist()
    )
    return [
        replace(difference, adjusted_p=p, adjusted_nll_p=nll_p)
        for difference, (p, nll_p) in zip(group_differences, ps, strict=True)
    ]


def _negate_estimate(crossed_mean: CrossedMean) -> CrossedMean:
    return replace(
        crossed_mean, mean=-crossed_mean.mean, low=-crossed_mean.high, high=-crossed_mean.low
    )


def _largest_deviation(values: np.ndarray, other_values: np.ndarray) -> float:
    """The largest distance of a difference from their mean, as `paired.moments` takes it."""
    apart = values.mean(axis=0) - other_values.mean(axis=0)
    return float(np.abs(apart - apart.mean()).max())


def _sign_of_value(value: float) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0
