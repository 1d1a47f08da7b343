"""Two plans of one run or of two, as the command line names and compares them."""

import re
from typing import Any

from ensemble import runs
from ensemble.analysis.planning.grid import Plan
from ensemble.analysis.planning.losses import Loss
from ensemble.cli.outcome import say
from ensemble.errors import ConfigError, RunError
from ensemble.planning.costs import Costs
from ensemble.planning.maps import Maps, maps_of
from ensemble.planning.two_plans import TwoPlans, compare, same_images
from ensemble.wording.verdicts import plan as words

PLAN = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})(?:@(.+))?")


def read_plan(text: str) -> tuple[Plan, str | None]:
    """A plan as it is written, and the run that it is of where that is another.

    Raises:
      ConfigError: it is none.
    """
    if not (found := PLAN.fullmatch(text)):
        raise ConfigError(
            f"{text!r:.60} is no plan: 3x5 is 3 members for 5 epochs, 1x15@RUN is one of another "
            "run."
        )
    return Plan(int(found[1]), int(found[2])), found[3]


def of_pair(run: runs.Run, maps: Maps, pair: tuple[str, str], figure: str) -> TwoPlans:
    """Two plans against each other; the second may be of another run.

    Raises:
      ConfigError: one of them is no plan.
      RunError: a run does not have it, or was tested on other images.
    """
    (first, elsewhere), (second, other_id) = map(read_plan, pair)
    if elsewhere:
        raise ConfigError("The first plan is of RUN itself: name another run in the second.")
    if other_id is None or other_id == run.id:
        return compare(maps, first, second, figure)
    other = runs.find(other_id)
    if not same_images(run, other):
        raise RunError(
            f"“{run.id}” and “{other.id}” were not tested on the same images: plans are compared "
            "image by image."
        )
    return compare(maps, first, second, figure, maps_of(other))


def say_pair(two: TwoPlans, pair: tuple[str, str], costs: Costs) -> None:
    """The comparison in lines for people."""
    plans = [read_plan(one)[0] for one in pair]
    say(words.two_plans(two, *map(words.called, plans)))
    said = f"The first is {words.compared(two.figure, two.loss)}."
    if not two.loss.shown:
        epochs = max(plan.epochs for plan in plans)
        said += f" {words.to_be_sure(two.sure, costs, two.n, two.members, epochs)}"
    say(said)


def described_pair(two: TwoPlans) -> dict[str, Any]:
    """The comparison, ready for JSON."""
    return {
        "figure": two.figure,
        "first": two.first,
        "second": two.second,
        "n": two.n,
        "members": two.members,
        "loss": described_loss(two.loss),
        "to_be_sure": vars(two.sure),
    }


def described_loss(one: Loss) -> dict[str, Any]:
    """What a plan loses, with its interval."""
    return {
        "members": one.plan.members,
        "epochs": one.plan.epochs,
        "loss": one.mean,
        "low": one.low,
        "high": one.high,
    }
