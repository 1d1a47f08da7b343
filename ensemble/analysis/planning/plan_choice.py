"""The best plan that a budget pays for, and those that are not shown to be worse."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.analysis.planning.plan_grid import LOWER_IS_BETTER, EnsemblePlan, PlanGrid
from ensemble.analysis.planning.plan_losses import PlanEstimate, PlanLoss, compute_plan_losses, estimate_plan
from ensemble.analysis.planning.power import RequiredSampleSize, required_sample_size


@dataclass(frozen=True)
class PlanChoice:
    """What a budget is best spent on.

    Attributes:
      metric: by which figure: "nll" or "accuracy".
      budget: passes of one member over the training images that it pays for.
      best: the plan that does best on the examples to choose by.
      best_estimate: what it comes to on those that are reported.
      runner_up: the second best, of those that can be the best, on the examples to choose by,
        and what it loses: the interval is of this one comparison; None where there is none.
      sample_size: what it would take to tell the two apart, None as above.
      affordable_plans: how many plans it pays for.
      losses: what the others lose that can be the best at all, on the reported examples: see
        `select_possible_plans`. Their intervals hold all together. The cheapest first.
    """

    metric: str
    budget: int
    best: EnsemblePlan
    best_estimate: PlanEstimate
    runner_up: PlanLoss | None
    sample_size: RequiredSampleSize | None
    affordable_plans: int
    losses: tuple[PlanLoss, ...]

    @property
    def candidates(self) -> tuple[EnsemblePlan, ...]:
        """The plans that may be the best: not shown to be worse than it, and it itself.

        The cheapest first. With probability LEVEL the one that is really best is among them.
        """
        kept = [loss.plan for loss in self.losses if loss.loss_sign <= 0]
        return tuple(sorted([*kept, self.best], key=lambda plan: (plan.cost, plan.members)))

    @property
    def cheapest(self) -> EnsemblePlan:
        """The cheapest of `candidates` than which no plan for as little does better here."""
        lost = {self.best: 0.0, **{loss.plan: loss.mean for loss in self.losses}}
        return next(
            candidate
            for candidate in self.candidates
            if candidate == self.best
            or all(lost[candidate] <= mean for plan, mean in lost.items() if plan.cost <= candidate.cost)
        )


def _rank_plans(grid: PlanGrid, plans: Sequence[EnsemblePlan], figure: str) -> list[EnsemblePlan]:
    """Plans by their figure, the best first, of equal ones the cheaper."""
    sign = 1 if LOWER_IS_BETTER[figure] else -1
    return sorted(plans, key=lambda plan: (sign * grid.mean(plan, figure), plan.cost))


def select_possible_plans(plans: Sequence[EnsemblePlan], figure: str) -> list[EnsemblePlan]:
    """Those of some plans that can be the best of them.

    Of NLL only the largest committee of each epoch can: after the same epoch a smaller one has
    more on average (Jensen, see `compute_plan_losses`). Of accuracy any can.
    """
    if figure != "nll":
        return list(plans)
    most = {
        epochs: max(plan.members for plan in plans if plan.epochs == epochs)
        for epochs in {plan.epochs for plan in plans}
    }
    return [plan for plan in plans if plan.members == most[plan.epochs]]


def choose_best_plan(grid: PlanGrid, budget: int, figure: str = "nll", by: PlanGrid | None = None) -> PlanChoice | None:
    """The best plan for a budget.

    Args:
      grid: the map on the examples that are reported.
      budget: passes of one member over the training images: members times epochs.
      figure: "nll" or "accuracy".
      by: the map of the same run on the examples to choose by; None to choose on the reported
        ones, on which the best then looks better than it is.

    Returns:
      None where it pays for no plan of the map.
    """
    paid = [plan for plan in grid.plans if plan.cost <= budget]
    if not paid:
        return None
    best = _rank_plans(by or grid, paid, figure)[0]
    possible_plans = [plan for plan in select_possible_plans(paid, figure) if plan != best]
    second = compute_plan_losses(grid, _rank_plans(by or grid, possible_plans, figure)[:1], best, figure)
    return PlanChoice(
        metric=figure,
        budget=budget,
        best=best,
        best_estimate=estimate_plan(grid, best, figure),
        runner_up=second[0] if second else None,
        sample_size=required_sample_size(second[0], grid.n, grid.members) if second else None,
        affordable_plans=len(paid),
        losses=tuple(compute_plan_losses(grid, possible_plans, best, figure)),
    )
