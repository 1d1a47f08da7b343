"""Two plans against each other: of one run, or of two that were tested on the same images."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.planning.choice import Choice, choose
from ensemble.analysis.planning.grid import Plan
from ensemble.analysis.planning.losses import Loss, losses
from ensemble.analysis.planning.power import ToBeSure, to_be_sure
from ensemble.errors import RunError
from ensemble.planning.maps import Maps
from ensemble.runs.store import Run
from ensemble.runs.test_set import test_set


@dataclass(frozen=True)
class TwoPlans:
    """What one plan loses against another.

    Attributes:
      figure: "nll" or "accuracy".
      loss: of the first against the second.
      first: what the first comes to.
      second: what the second does.
      sure: what it would take to tell them apart.
      n: on how many test images.
      members: how many members the plans were drawn of: of two runs the fewer.
    """

    figure: str
    loss: Loss
    first: float
    second: float
    sure: ToBeSure
    n: int
    members: int


def compare(
    maps: Maps, first: Plan, second: Plan, figure: str, other: Maps | None = None
) -> TwoPlans:
    """What one plan loses against another on the test images, paired.

    Args:
      maps: of the first plan's run.
      first: a plan of it.
      second: a plan of the same run, or of `other`'s.
      figure: "nll" or "accuracy".
      other: of the second plan's run where that is another one: see `same_images`.

    Raises:
      RunError: there is no such plan.
    """
    theirs = maps if other is None else other
    check(maps, first)
    check(theirs, second)
    grids = maps.test, None if other is None else other.test
    (loss,) = losses(grids[0], [first], second, figure, grids[1])
    members = min(maps.test.members, theirs.test.members)
    return TwoPlans(
        figure,
        loss,
        maps.test.mean(first, figure),
        theirs.test.mean(second, figure),
        to_be_sure(loss, maps.test.n, members),
        maps.test.n,
        members,
    )


def half_the_cost(maps: Maps, whole: Choice) -> Loss | None:
    """What the best plan for half of a budget loses against that for all of it.

    Args:
      maps: of a run.
      whole: the choice for all of the budget.

    Returns:
      None where half of it pays for no plan.
    """
    half = choose(maps.test, whole.budget // 2, whole.figure, maps.validation)
    if half is None:
        return None
    return losses(maps.test, [half.best], whole.best, whole.figure)[0]


def check(maps: Maps, plan: Plan) -> None:
    """Refuse a plan that a run's map does not have.

    Raises:
      RunError: it says what there is.
    """
    if plan in maps.test.plans:
        return
    said = " ".join(f"{epoch}" for epoch in maps.test.epochs)
    raise RunError(
        f"There are no predictions of {plan.members} members after {plan.epochs} epochs: the run "
        f"has {maps.test.members} members and the epochs {said}."
    )


def same_images(one: Run, other: Run) -> bool:
    """Whether two runs were tested on the same examples in the same order, as their labels say.

    Raises:
      NotPreparedError: a dataset is not on this machine any more.
      RunError: it cannot be read.
    """
    first, second = test_set(one), test_set(other)
    return (
        first.about.name == second.about.name
        and first.about.fingerprint == second.about.fingerprint
        and np.array_equal(first.labels, second.labels)
    )
