"""Two plans of one run or of two, as the command line names and compares them."""

import re
from typing import Any

from ensemble import runs
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.planning.plan_losses import PlanLoss
from ensemble.cli.output import print_line
from ensemble.errors import ConfigError, RunError
from ensemble.planning.plan_comparison import PlanComparison, compare_plans, have_same_examples
from ensemble.planning.plan_costs import PlanCosts
from ensemble.planning.plan_grids import PlanGrids, load_plan_grids
from ensemble.wording.verdicts import plan as words

_PLAN_PATTERN = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})(?:@(.+))?")


def _parse_plan(text: str) -> tuple[EnsemblePlan, str | None]:
    """A plan as it is written, and the run that it is of where that is another.

    Raises:
      ConfigError: it is none.
    """
    if not (match := _PLAN_PATTERN.fullmatch(text)):
        raise ConfigError(f"{text!r:.60} is not a plan: 3x5 is 3 members for 5 epochs, 1x15@RUN is one of another run.")
    return EnsemblePlan(int(match[1]), int(match[2])), match[3]


def compare_plan_pair(run: runs.Run, maps: PlanGrids, pair: tuple[str, str], figure: str) -> PlanComparison:
    """Two plans against each other; the second may be of another run.

    Raises:
      ConfigError: one of them is no plan.
      RunError: a run does not have it, or was tested on other images.
    """
    (first, elsewhere), (second, other_id) = map(_parse_plan, pair)
    if elsewhere:
        raise ConfigError("The first plan is of RUN itself: name another run in the second.")
    if other_id is None or other_id == run.id:
        return compare_plans(maps, first, second, figure)
    other = runs.find_run(other_id)
    if not have_same_examples(run, other):
        raise RunError(
            f"“{run.id}” and “{other.id}” were not tested on the same images: plans are compared image by image."
        )
    return compare_plans(maps, first, second, figure, load_plan_grids(other))


def print_plan_pair(two: PlanComparison, pair: tuple[str, str], costs: PlanCosts) -> None:
    plans = [_parse_plan(plan_text)[0] for plan_text in pair]
    print_line(words.describe_two_plans(two, *map(words.format_plan, plans)))
    sentence = f"The first is {words.describe_plan_loss(two.metric, two.loss)}."
    if not two.loss.loss_sign:
        epochs = max(plan.epochs for plan in plans)
        sentence += f" {words.describe_required_effort(two.sample_size, costs, two.n, two.members, epochs)}"
    print_line(sentence)


def serialize_plan_pair(two: PlanComparison) -> dict[str, Any]:
    return {
        "figure": two.metric,
        "first": two.first,
        "second": two.second,
        "n": two.n,
        "members": two.members,
        "loss": serialize_plan_loss(two.loss),
        "to_be_sure": vars(two.sample_size),
    }


def serialize_plan_loss(loss: PlanLoss) -> dict[str, Any]:
    return {
        "members": loss.plan.members,
        "epochs": loss.plan.epochs,
        "loss": loss.mean,
        "low": loss.low,
        "high": loss.high,
    }
