"""What a group of runs is better by than the baseline, on the same test images."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensemble.analysis.inference.crossed_means import OVER_IMAGES, CrossedMean, Doubles, estimate_crossed_mean
from ensemble.analysis.inference.image_groups import collapse_groups
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.inference.unseen_mistakes import add_unseen_mistake
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, paired_gain, zero_rounding
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
      settings_p: the two-sided p that the settings do not differ in accuracy: over seeds and
        images. Of one run on each side it is told from their members, where these share nothing
        but their settings; None where nothing is known of other seeds.
      settings_nll_p: the same of NLL.
      adjusted_p: `p`, adjusted for accuracy and NLL of all pairs of groups (Holm).
      adjusted_nll_p: `nll_p`, likewise.
      adjusted_settings_p: `settings_p`, adjusted for all that are known in the table; None where
        it is.
      adjusted_settings_nll_p: `settings_nll_p`, likewise.
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
    settings_p: float | None = None
    settings_nll_p: float | None = None
    adjusted_p: float = 1.0
    adjusted_nll_p: float = 1.0
    adjusted_settings_p: float | None = None
    adjusted_settings_nll_p: float | None = None

    @property
    def accuracy_sign(self) -> int:
        """1 where more are shown to be right, −1 where fewer are, 0 where neither is shown.

        That is of these runs where `over` is "images", which may be the luck of their seeds.
        """
        return _sign_of_value(self.digits) * (self.adjusted_p < SIGNIFICANCE_LEVEL)

    @property
    def nll_sign(self) -> int:
        """1 where NLL is shown to be lower, −1 where higher, 0 where neither is shown."""
        return _sign_of_value(self.nll) * (self.adjusted_nll_p < SIGNIFICANCE_LEVEL)

    @property
    def settings_accuracy_sign(self) -> int:
        """As `accuracy_sign`, of runs of these settings with other seeds; 0 where unknown."""
        p = self.adjusted_settings_p
        return _sign_of_value(self.digits) * (p is not None and p < SIGNIFICANCE_LEVEL)

    @property
    def settings_nll_sign(self) -> int:
        """As `nll_sign`, of runs of these settings with other seeds; 0 where unknown."""
        p = self.adjusted_settings_nll_p
        return _sign_of_value(self.nll) * (p is not None and p < SIGNIFICANCE_LEVEL)


@functools.lru_cache(maxsize=2048)  # all pairs of 50 groups, and some of fewer
def compute_group_difference(
    group_measures: tuple[RunMeasures, ...], other_measures: tuple[RunMeasures, ...]
) -> GroupDifference:
    """What K runs are better by than L others, image by image; nothing is adjusted yet.

    One run against one: McNemar's exact p and the paired intervals of `gain.paired_gain`. Else
    `estimate_crossed_mean`, over seeds and images: a run alone is taken to vary as the others do.

    Args:
      group_measures: K, at least one, all on the same images.
      other_measures: L, at least one, on the same images as ours.

    Raises:
      ValueError: there is no run, or they are of different images.
    """
    if len({measures.images for measures in (*group_measures, *other_measures)}) != 1:
        raise ValueError("A difference is of runs on the same images.")
    hits, other_hits = (
        np.array([measures.right for measures in side], float) for side in (group_measures, other_measures)
    )
    share, other = hits.mean(axis=0), other_hits.mean(axis=0)
    won, lost = float((share * (1 - other)).sum()), float((other * (1 - share)).sum())
    losses, their = (np.array([measures.nll for measures in side]) for side in (group_measures, other_measures))
    n = len(share)
    extra = float(
        np.mean([measures.mistake_nll for measures in group_measures])
        - np.mean([measures.mistake_nll for measures in other_measures])
    )
    both = (*group_measures, *other_measures)
    groups = next((measures.groups for measures in both if measures.groups is not None), None)
    if len(group_measures) == len(other_measures) == 1:
        measures, others = group_measures[0], other_measures[0]
        gain = paired_gain(measures.right, others.right, their[0] - losses[0], groups, extra)
        right = hits[0] - other_hits[0]
        saved_nll, saved_groups = add_unseen_mistake(zero_rounding(their[0] - losses[0]), extra, groups)
        if groups is not None and saved_groups is not None:
            right, saved_nll = (collapse_groups(right, groups), collapse_groups(saved_nll, saved_groups))
        return GroupDifference(
            n=n,
            digits=gain.digits,
            digits_low=gain.digits_low,
            digits_high=gain.digits_high,
            p=gain.p,
            nll=gain.nll,
            nll_low=gain.nll_low,
            nll_high=gain.nll_high,
            nll_p=gain.nll_p,
            won=won,
            lost=lost,
            over=OVER_IMAGES,
            settings_p=_members_p_value(measures, others, "accuracy", right, 1.0),
            settings_nll_p=_members_p_value(measures, others, "nll", saved_nll, _largest_deviation(losses, their)),
        )
    saved_nll, saved_groups = add_unseen_mistake(their.mean(axis=0) - losses.mean(axis=0), extra, groups)
    observed = float(saved_nll[:n].mean())
    if len(saved_nll) > n:  # Of every run the same, so that no run is another's luck.
        losses = np.column_stack([losses, np.full(len(losses), -saved_nll[-1])])
        their = np.column_stack([their, np.zeros(len(their))])
    if groups is not None and saved_groups is not None:
        hits, other_hits = (collapse_groups(values, groups) for values in (hits, other_hits))
        losses, their = (collapse_groups(values, saved_groups) for values in (losses, their))
    accuracy = estimate_crossed_mean(hits, other_hits, bound=1.0)
    saved = _negate_estimate(estimate_crossed_mean(losses, their, bound=_largest_deviation(losses, their)))
    return GroupDifference(
        n=n,
        digits=won - lost,
        digits_low=max(-1.0, accuracy.low) * n,
        digits_high=min(1.0, accuracy.high) * n,
        p=accuracy.p,
        nll=observed,
        nll_low=saved.low,
        nll_high=saved.high,
        nll_p=saved.p,
        won=won,
        lost=lost,
        over=accuracy.over,
        settings_p=accuracy.p,
        settings_nll_p=saved.p,
    )


def adjust_differences(group_differences: Sequence[GroupDifference]) -> list[GroupDifference]:
    """The same with every p adjusted for all of them: two tests each, by Holm's method."""
    pairs = _adjust_pairs([(difference.p, difference.nll_p) for difference in group_differences])
    known = iter(
        _adjust_pairs(
            [
                (difference.settings_p, difference.settings_nll_p)
                for difference in group_differences
                if difference.settings_p is not None and difference.settings_nll_p is not None
            ]
        )
    )
    adjusted = []
    for difference, (p, nll_p) in zip(group_differences, pairs, strict=True):
        settings_p, settings_nll_p = (None, None) if difference.settings_p is None else next(known)
        adjusted.append(
            replace(
                difference,
                adjusted_p=p,
                adjusted_nll_p=nll_p,
                adjusted_settings_p=settings_p,
                adjusted_settings_nll_p=settings_nll_p,
            )
        )
    return adjusted


def _adjust_pairs(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Pairs of p adjusted for all of them (Holm)."""
    flat = adjust_p_holm([p for pair in pairs for p in pair])
    return [(float(p), float(nll_p)) for p, nll_p in flat.reshape(-1, 2)]


def _members_p_value(
    measures: RunMeasures, others: RunMeasures, name: str, differences: Doubles, bound: float
) -> float | None:
    """The p of one run against one over draws of their members; None where these tell nothing."""
    sides = measures, others
    if not all(one.are_members_independent and name in one.member_variances for one in sides):
        return None
    variances = measures.member_variances[name], others.member_variances[name]
    return estimate_crossed_mean(differences, bound=bound, run_variances=variances).p


def _negate_estimate(mean: CrossedMean) -> CrossedMean:
    return replace(mean, mean=-mean.mean, low=-mean.high, high=-mean.low)


def _largest_deviation(values: np.ndarray, other_values: np.ndarray) -> float:
    """The largest distance of a difference from their mean, as `compute_moments` takes it."""
    apart = values.mean(axis=0) - other_values.mean(axis=0)
    return float(np.abs(apart - apart.mean()).max())


def _sign_of_value(value: float) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0
