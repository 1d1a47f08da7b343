"""Two plans against each other: of one run, or of two that were tested on the same images."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.planning.plan_choice import PlanChoice, choose_best_plan
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.planning.plan_losses import PlanLoss, compute_plan_losses
from ensemble.analysis.planning.power import RequiredSampleSize, required_sample_size
from ensemble.errors import RunError
from ensemble.planning.plan_grids import PlanGrids
from ensemble.runs.store import Run
from ensemble.runs.test_set import load_test_set


@dataclass(frozen=True)
class PlanComparison:
    """What one plan loses against another.

    Attributes:
      metric: "nll" or "accuracy".
      loss: of the first against the second.
      first: what the first comes to.
      second: what the second does.
      sample_size: what it would take to tell them apart.
      n: on how many test images.
      members: how many members the plans were drawn of: of two runs the fewer.
    """

    metric: str
    loss: PlanLoss
    first: float
    second: float
    sample_size: RequiredSampleSize
    n: int
    members: int


def compare_plans(
    maps: PlanGrids, first: EnsemblePlan, second: EnsemblePlan, figure: str, other: PlanGrids | None = None
) -> PlanComparison:
    """What one plan loses against another on the test images, paired.

    Args:
      maps: of the first plan's run.
      first: a plan of it.
      second: a plan of the same run, or of `other`'s.
      figure: "nll" or "accuracy".
      other: of the second plan's run where that is another one: see `have_same_examples`.

    Raises:
      RunError: there is no such plan.
    """
    other_maps = maps if other is None else other
    _check_plan(maps, first)
    _check_plan(other_maps, second)
    grids = maps.test, None if other is None else other.test
    (loss,) = compute_plan_losses(grids[0], [first], second, figure, grids[1])
    members = min(maps.test.members, other_maps.test.members)
    return PlanComparison(
        metric=figure,
        loss=loss,
        first=maps.test.mean(first, figure),
        second=other_maps.test.mean(second, figure),
        sample_size=required_sample_size(loss, maps.test.n, members),
        n=maps.test.n,
        members=members,
    )


def compute_half_budget_loss(maps: PlanGrids, whole: PlanChoice) -> PlanLoss | None:
    """What the best plan for half of a budget loses against that for all of it.

    Args:
      maps: of a run.
      whole: the choice for all of the budget.

    Returns:
      None where half of it pays for no plan.
    """
    half = choose_best_plan(maps.test, whole.budget // 2, whole.metric, maps.validation)
    if half is None:
        return None
    return compute_plan_losses(maps.test, [half.best], whole.best, whole.metric)[0]


def _check_plan(maps: PlanGrids, plan: EnsemblePlan) -> None:
    """Refuse a plan that a run's map does not have.

    Raises:
      RunError: it says what there is.
    """
    if plan in maps.test.plans:
        return
    epoch_list = " ".join(f"{epoch}" for epoch in maps.test.epochs)
    raise RunError(
        f"There are no predictions of {plan.members} members after {plan.epochs} epochs: the run "
        f"has {maps.test.members} members and the epochs {epoch_list}."
    )


def have_same_examples(run: Run, other: Run) -> bool:
    """Whether two runs were tested on the same examples in the same order, as their labels say.

    Raises:
      NotPreparedError: a dataset is not on this machine any more.
      RunError: it cannot be read.
    """
    first, second = load_test_set(run), load_test_set(other)
    return (
        first.dataset_entry.name == second.dataset_entry.name
        and first.dataset_entry.fingerprint == second.dataset_entry.fingerprint
        and np.array_equal(first.labels, second.labels)
    )
