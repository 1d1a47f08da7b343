"""What one plan loses against another on the same examples, and how surely.

Two things are left to chance: which examples it was asked of, and which members were drawn. Each
has its own part in an interval; they are added as variances.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from ensemble.analysis.inference.image_groups import Groups, collapse_groups, grouped_mean_interval
from ensemble.analysis.planning.plan_grid import LOWER_IS_BETTER, EnsemblePlan, PlanGrid

Doubles = NDArray[np.float64]

LEVEL = 0.95
ROUNDING = 1e-9  # nats: members that say the same differ by no more


@dataclass(frozen=True)
class PlanLoss:
    """What a plan loses against another, in nats or as a share of the examples.

    Attributes:
      plan: which.
      against: the other.
      mean: the loss; below 0 where the plan is better.
      low: the lower end of its interval.
      high: the upper end.
      by_examples: the variance of the mean that hangs on the draw of the examples,
      by_members: and on that of the members: 0 where there is one member alone.
      certain: whether the plan is known to be worse whatever is drawn: see `compute_plan_losses`.
    """

    plan: EnsemblePlan
    against: EnsemblePlan
    mean: float
    low: float
    high: float
    by_examples: float
    by_members: float
    certain: bool = False

    @property
    def loss_sign(self) -> int:
        """1 where the plan is shown to be worse, −1 where better, 0 where neither is."""
        return int(self.certain or self.low > 0) - int(self.high < 0)


@dataclass(frozen=True)
class PlanEstimate:
    """What a plan comes to, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def estimate_plan(grid: PlanGrid, plan: EnsemblePlan, figure: str) -> PlanEstimate:
    """What a plan comes to, and how surely: over draws of examples and of members.

    Args:
      grid: the map.
      plan: one of its plans.
      figure: "nll" or "accuracy".

    Raises:
      ValueError: there is no such plan.
    """
    values = grid.example_scores(plan, figure)
    share, df = _member_variance([grid.member_influence(plan, figure)])
    low, high = _plan_mean_interval(values, share, df=df, level=LEVEL, figure=figure, groups=grid.groups)
    if figure == "accuracy":
        high = min(high, 1.0)
    return PlanEstimate(float(values.mean()), max(0.0, low), high)


def compute_plan_losses(
    grid: PlanGrid, plans: Sequence[EnsemblePlan], against: EnsemblePlan, figure: str, other: PlanGrid | None = None
) -> list[PlanLoss]:
    """What each of S plans loses against one, paired on the same examples.

    The intervals hold all together with probability LEVEL (Bonferroni): of all sets of S, 5 % at
    most have one that leaves the true difference out. As the plan that is really best is
    compared with every other, those that are not shown to lose against the one that looks best
    are a set that holds the best, also where it was picked on these very examples.

    Of NLL one thing is known beforehand: after the same epoch larger committees never have more
    on average (−ln of a mean is at most the mean of −ln, Jensen). So an interval of one run ends
    nowhere below that of a larger committee of its epoch, nor above that of a smaller one, and a
    committee smaller than the one it is held against, of the same epoch, is certainly worse.

    Args:
      grid: the map of the plans.
      plans: S of them; may be none.
      against: the other plan.
      figure: "nll" or "accuracy".
      other: the map that `against` is of, on the same examples in the same order, where it is
        that of another run: its members are then others, drawn apart.

    Raises:
      ValueError: there is no such plan, or the examples are not as many.

    Source: J. C. Hsu, "Multiple Comparisons: Theory and Methods" (1996), ch. 4 (comparisons with
    the best); the intervals are those of `moments_interval`, with Student's t for the members.
    """
    other_grid = grid if other is None else other
    if other_grid.n != grid.n:
        raise ValueError(f"Plans on {grid.n:,} and on {other_grid.n:,} examples are not paired.")
    sign = 1 if LOWER_IS_BETTER[figure] else -1
    reference, its_members = (other_grid.example_scores(against, figure), other_grid.member_influence(against, figure))
    level = 1 - (1 - LEVEL) / max(1, len(plans))
    every = [
        _compute_plan_loss(
            grid,
            plan,
            against=against,
            figure=figure,
            sign=sign,
            reference=reference,
            its_members=its_members,
            apart=other is not None,
            level=level,
        )
        for plan in plans
    ]
    return every if other is not None or figure != "nll" else _apply_jensen_bounds(every)


def _apply_jensen_bounds(every: Sequence[PlanLoss]) -> list[PlanLoss]:
    bounded_losses = []
    for loss in every:
        alike = [each for each in every if each.plan.epochs == loss.plan.epochs]
        low = max(each.low for each in alike if each.plan.members >= loss.plan.members)
        high = min(each.high for each in alike if each.plan.members <= loss.plan.members)
        more = loss.against.members - loss.plan.members
        if loss.plan.epochs == loss.against.epochs and more:
            low, high = (max(low, 0.0), high) if more > 0 else (low, min(high, 0.0))
        # Where the ends cross, one of them has left the truth out: what was measured stands.
        certain = loss.plan.epochs == loss.against.epochs and more > 0 and loss.mean > ROUNDING
        low, high = min(low, loss.mean), max(high, loss.mean)
        bounded_losses.append(replace(loss, low=low, high=high, certain=certain))
    return bounded_losses


def _compute_plan_loss(
    grid: PlanGrid,
    plan: EnsemblePlan,
    against: EnsemblePlan,
    figure: str,
    sign: int,
    reference: Doubles,
    its_members: Doubles,
    apart: bool,
    level: float,
) -> PlanLoss:
    values = sign * (grid.example_scores(plan, figure) - reference)
    plan_influence = grid.member_influence(plan, figure)
    share, df = _member_variance([plan_influence, its_members] if apart else [plan_influence - its_members])
    groups = grid.groups
    low, high = _plan_mean_interval(values, share, df=df, level=level, figure=figure, groups=groups)
    draws = values if groups is None else collapse_groups(values, groups)
    by_examples = float(draws.var()) / len(draws)
    return PlanLoss(
        plan=plan,
        against=against,
        mean=float(values.mean()),
        low=low,
        high=high,
        by_examples=by_examples,
        by_members=share,
    )


def _member_variance(influences: Sequence[Doubles]) -> tuple[float, float]:
    """(variance of a mean that hangs on the members, its degrees of freedom by Welch)."""
    parts = [
        (float(influence.var(ddof=1)) / len(influence), len(influence) - 1)
        for influence in influences
        if len(influence) > 1
    ]
    total = sum(variance for variance, _ in parts)
    if total <= 0:
        return 0.0, math.inf
    return total, total**2 / sum(variance**2 / df for variance, df in parts)


def _plan_mean_interval(
    values: Doubles, by_members: float, df: float, level: float, figure: str, groups: Groups | None
) -> tuple[float, float]:
    """Both ends of the mean of (N,) values, over draws of examples (or groups) and of members."""
    bound = 1.0 if figure == "accuracy" else None
    mean = float(values.mean())
    low, high = grouped_mean_interval(values, groups, level, bound)
    half = float(t.isf((1 - level) / 2, df)) * math.sqrt(by_members)
    return mean - math.hypot(mean - low, half), mean + math.hypot(high - mean, half)
