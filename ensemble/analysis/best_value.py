"""Which value of a setting is best, and which others are not shown to be worse on these images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.analysis.inference.crossed_means import (
    OVER_IMAGES,
    OVER_SEEDS_AND_IMAGES,
    RunVariance,
    estimate_crossed_mean,
)
from ensemble.analysis.inference.image_groups import Groups, collapse_groups
from ensemble.analysis.inference.paired_intervals import mean_p_value
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, zero_rounding


@dataclass(frozen=True, eq=False)
class BestValue:
    """The values of a setting, rising, and how members who have them did on the same N examples.

    Attributes:
      n: N.
      values: (V,), rising, each once.
      loss: (V,), the mean over examples and the members who have the value, in nats.
      members: (V,), how many these are.
      p: (V,), adjusted for all pairs of values: at most how often chance alone would make a value
        that is as good as the best look as bad; 1 for the best.
      best: the place of the lowest loss among the values.
      first: of the values around the best that are not shown to be worse, the place of the least.
      last: the same of the largest.
      over: what `p` holds for: "seeds and images" (other trainings of these values, on new images)
        where a value has several members, else "images" (these members, on new images).
    """

    n: int
    values: NDArray[np.float64]
    loss: NDArray[np.float64]
    members: NDArray[np.int64]
    p: NDArray[np.float64]
    best: int
    first: int
    last: int
    over: str = OVER_IMAGES

    @property
    def equivalent_range(self) -> tuple[float, float]:
        """The least and the largest value around the best that are not shown to be worse."""
        return float(self.values[self.first]), float(self.values[self.last])

    @property
    def other_candidates(self) -> tuple[int, ...]:
        """The places beyond that range, past worse ones, that are not shown to be worse either."""
        within = range(self.first, self.last + 1)
        return tuple(at for at, p in enumerate(self.p) if p >= SIGNIFICANCE_LEVEL and at not in within)

    @property
    def pair_count(self) -> int:
        """How many pairs of values there are, any of which might have been compared."""
        return len(self.values) * (len(self.values) - 1) // 2


def estimate_best_value(values: ArrayLike, losses: ArrayLike, groups: Groups | None = None) -> BestValue:
    """The best of several values, each compared with it on the same examples.

    A value is shown to be worse where its p is below 0.05 once it is multiplied by the number of
    pairs (Bonferroni): the best was picked on the same examples, so that any two might have been
    compared; adjusted for the comparisons with the best alone, eight values that are equally good
    would be told apart in 9 % of all draws. What is left around the best without a gap is the
    range that is not told apart.

    Each member is a training of its own. Where a value has several, what these differ by counts
    (`estimate_crossed_mean`): the variance between trainings is pooled over all values, as two or
    three members tell little, but of a value whose own is larger its own is taken. Where each value
    has one member, nothing is known of that: p then holds for these members, not for their values.

    Args:
      values: (M,), the value that each member has.
      losses: (M, N), each member's loss on each example, in nats.
      groups: (N,), numbers from 0, of examples that belong together, so that each group counts as
        one draw; None where all are independent.

    Raises:
      ValueError: there is no member or no example.
    """
    setting_values, each = np.asarray(values, np.float64), np.asarray(losses, np.float64)
    if each.ndim != 2 or 0 in each.shape or setting_values.shape != each.shape[:1]:
        raise ValueError(f"{each.shape} losses for {setting_values.shape} values are not (M, N) and (M,).")
    once, place, count = np.unique(setting_values, return_inverse=True, return_counts=True)
    sums = np.zeros((len(once), each.shape[1]))
    np.add.at(sums, place, each)
    means = sums / count[:, None]
    loss = means.mean(axis=1)
    best = int(loss.argmin())
    pairs = len(once) * (len(once) - 1) // 2
    variances = _estimate_run_variances(each, place, count)
    differences = np.stack([zero_rounding(mean - means[best]) for mean in means])
    if groups is not None:
        differences = collapse_groups(differences, groups)
    if variances is None:
        apart = [mean_p_value(one) for one in differences]
    else:
        apart = [
            1.0 if at == best else _crossed_p_value(differences[at], (variances[at], variances[best]))
            for at in range(len(once))
        ]
    p = np.minimum(1.0, pairs * np.array(apart)) if pairs else np.ones(1)
    worse = p < SIGNIFICANCE_LEVEL
    first = last = best
    while first > 0 and not worse[first - 1]:
        first -= 1
    while last < len(once) - 1 and not worse[last + 1]:
        last += 1
    over = OVER_IMAGES if variances is None else OVER_SEEDS_AND_IMAGES
    return BestValue(
        n=each.shape[1], values=once, loss=loss, members=count, p=p, best=best, first=first, last=last, over=over
    )


def _estimate_run_variances(
    losses: NDArray[np.float64], place: NDArray[np.intp], count: NDArray[np.int64]
) -> list[RunVariance] | None:
    """What trainings add to the squared error of each value's mean loss; None where unknown."""
    freedom = int((count - 1).sum())
    if not freedom:
        return None
    totals = losses.mean(axis=1)
    own = [float(((group := totals[place == at]) - group.mean()).var()) for at in range(len(count))]
    sums = [variance * size for variance, size in zip(own, count.tolist(), strict=True)]
    pooled = sum(sums) / freedom
    return [
        RunVariance(max(pooled, total / (size - 1) if size > 1 else 0.0) / size, freedom)
        for total, size in zip(sums, count.tolist(), strict=True)
    ]


def _crossed_p_value(differences: NDArray[np.float64], variances: tuple[RunVariance, RunVariance]) -> float:
    # Both are of the same pooled estimate, which has its degrees of freedom but once.
    """Return the two-sided p for equal values, over trainings and examples."""
    both = RunVariance(variances[0].variance + variances[1].variance, variances[0].freedom)
    bound = float(np.abs(differences - differences.mean()).max())
    return estimate_crossed_mean(differences, bound=bound, run_variances=[both]).p
