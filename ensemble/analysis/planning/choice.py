"""The best plan that a budget pays for, and those that are not shown to be worse."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.analysis.planning.grid import LOWER_IS_BETTER, Grid, Plan
from ensemble.analysis.planning.losses import Estimate, Loss, estimate, losses
from ensemble.analysis.planning.power import ToBeSure, to_be_sure


@dataclass(frozen=True)
class Choice:
    """What a budget is best spent on.

    Attributes:
      figure: by which figure: "nll" or "accuracy".
      budget: passes of one member over the training images that it pays for.
      best: the plan that does best on the examples to choose by.
      of_best: what it comes to on those that are reported.
      runner_up: the second best, of those that can be the best, on the examples to choose by,
        and what it loses: the interval is of this one comparison; None where there is none.
      sure: what it would take to tell the two apart, None as above.
      paid: how many plans it pays for.
      losses: what the others lose that can be the best at all, on the reported examples: see
        `possible`. Their intervals hold all together. The cheapest first.
    """

    figure: str
    budget: int
    best: Plan
    of_best: Estimate
    runner_up: Loss | None
    sure: ToBeSure | None
    paid: int
    losses: tuple[Loss, ...]

    @property
    def candidates(self) -> tuple[Plan, ...]:
        """The plans that may be the best: not shown to be worse than it, and it itself.

        The cheapest first. With probability LEVEL the one that is really best is among them.
        """
        kept = [loss.plan for loss in self.losses if loss.shown <= 0]
        return tuple(sorted([*kept, self.best], key=lambda plan: (plan.cost, plan.members)))

    @property
    def cheapest(self) -> Plan:
        """The cheapest of `candidates` than which no plan for as little does better here."""
        lost = {self.best: 0.0, **{loss.plan: loss.mean for loss in self.losses}}
        return next(
            one
            for one in self.candidates
            if one == self.best
            or all(lost[one] <= mean for plan, mean in lost.items() if plan.cost <= one.cost)
        )


def ranked(found: Grid, plans: Sequence[Plan], figure: str) -> list[Plan]:
    """Plans by their figure, the best first, of equal ones the cheaper."""
    sign = 1 if LOWER_IS_BETTER[figure] else -1
    return sorted(plans, key=lambda plan: (sign * found.mean(plan, figure), plan.cost))


def possible(plans: Sequence[Plan], figure: str) -> list[Plan]:
    """Those of some plans that can be the best of them.

    Of NLL only the largest committee of each epoch can: after the same epoch a smaller one has
    more on average (Jensen, see `losses.losses`). Of accuracy any can.
    """
    if figure != "nll":
        return list(plans)
    most = {
        epochs: max(one.members for one in plans if one.epochs == epochs)
        for epochs in {one.epochs for one in plans}
    }
    return [one for one in plans if one.members == most[one.epochs]]


def choose(found: Grid, budget: int, figure: str = "nll", by: Grid | None = None) -> Choice | None:
    """The best plan for a budget.

    Args:
      found: the map on the examples that are reported.
      budget: passes of one member over the training images: members times epochs.
      figure: "nll" or "accuracy".
      by: the map of the same run on the examples to choose by; None to choose on the reported
        ones, on which the best then looks better than it is.

    Returns:
      None where it pays for no plan of the map.
    """
    paid = [plan for plan in found.plans if plan.cost <= budget]
    if not paid:
        return None
    best = ranked(by or found, paid, figure)[0]
    others = [plan for plan in possible(paid, figure) if plan != best]
    second = losses(found, ranked(by or found, others, figure)[:1], best, figure)
    return Choice(
        figure,
        budget,
        best,
        estimate(found, best, figure),
        second[0] if second else None,
        to_be_sure(second[0], found.n, found.members) if second else None,
        len(paid),
        tuple(losses(found, others, best, figure)),
    )
