"""The command that says what a budget is best spent on, from what a run has kept."""

import json
from typing import Any

import click

from ensemble import runs
from ensemble.analysis.planning.plan_choice import PlanChoice, choose_best_plan
from ensemble.analysis.planning.plan_grid import PLAN_METRICS, EnsemblePlan
from ensemble.cli.output import print_line
from ensemble.cli.results.plan_pairs import compare_plan_pair, print_plan_pair, serialize_plan_loss, serialize_plan_pair
from ensemble.errors import ConfigError
from ensemble.planning.plan_cautions import list_plan_cautions
from ensemble.planning.plan_comparison import compute_half_budget_loss
from ensemble.planning.plan_costs import PlanCosts, estimate_plan_costs
from ensemble.planning.plan_grids import PlanGrids, load_plan_grids
from ensemble.wording.verdicts import plan as words


@click.command(name="plan")
@click.argument("run_id", metavar="RUN")
@click.option("--budget", type=float, help=("Images times members to spend; by default all that the run spent."))
@click.option("--seconds", type=float, help="Seconds to spend instead, at the run's own rate.")
@click.option("--figure", type=click.Choice(PLAN_METRICS), default="nll", help=("Measure to judge by: nll."))
@click.option(
    "--against",
    "pair",
    nargs=2,
    metavar="PLAN PLAN",
    help="Compare two plans instead: 3x5 is 3 members for 5 epochs, 1x15@RUN one of another run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_plan_command(
    run_id: str, budget: float | None, seconds: float | None, figure: str, pair: tuple[str, str] | None, as_json: bool
) -> None:
    """How many members for how many epochs: what a budget is best spent on."""
    if budget is not None and seconds is not None:
        raise ConfigError("Give --budget or --seconds, not both.")
    run = runs.find_run(run_id)
    maps, costs = load_plan_grids(run), estimate_plan_costs(run)
    if pair:
        two = compare_plan_pair(run, maps, pair, figure)
        click.echo(json.dumps(serialize_plan_pair(two))) if as_json else print_plan_pair(two, pair, costs)
        return
    every = max(plan.cost for plan in maps.test.plans)
    has_budget = budget is not None or seconds is not None
    passes = min(costs.affordable_passes(budget, seconds), every) if has_budget else every
    choice = choose_best_plan(maps.test, passes, figure, maps.validation)
    if choice is None:
        least = words.format_budget(costs, maps.test.plans[0].cost)
        raise ConfigError(f"That is too little for any plan of this run: choose at least {least}.")
    if as_json:
        click.echo(json.dumps({"run_id": run.id, **_serialize_plan_choice(choice, maps, costs)}))
        return
    n, members = maps.test.n, maps.test.members
    print_line(f"For {words.format_budget(costs, passes)}.")
    print_line(words.describe_best_plan(choice, n))
    if passes == every:
        print_line(words.describe_half_budget(choice, compute_half_budget_loss(maps, choice)))
    print_line(words.describe_plan_evidence(choice, costs, maps.selection_split))
    for line in (
        words.describe_runner_up(choice, costs, n, members),
        *(words.CAUTIONS[name] for name in list_plan_cautions(run, maps, choice.best)),
        *maps.left_out,
    ):
        if line:
            print_line(line)


def _serialize_plan_choice(choice: PlanChoice, maps: PlanGrids, costs: PlanCosts) -> dict[str, Any]:
    grid = maps.test
    return {
        "figure": choice.metric,
        "chosen_on": maps.selection_split,
        "budget": costs.training_work(EnsemblePlan(1, choice.budget)),
        "paid": choice.affordable_plans,
        "best": {**_serialize_plan(choice.best, costs), **vars(choice.best_estimate)},
        "candidates": [_serialize_plan(candidate, costs) for candidate in choice.candidates],
        "runner_up": serialize_plan_loss(choice.runner_up) if choice.runner_up else None,
        "to_be_sure": vars(choice.sample_size) if choice.sample_size else None,
        "losses": [serialize_plan_loss(loss) for loss in choice.losses],
        "n": grid.n,
        "exact": grid.exact,
        "map": [
            {**_serialize_plan(plan, costs), **{name: grid.mean(plan, name) for name in PLAN_METRICS}}
            for plan in grid.plans
        ],
    }


def _serialize_plan(plan: EnsemblePlan, costs: PlanCosts) -> dict[str, Any]:
    seconds = costs.training_seconds(plan)
    return {
        "members": plan.members,
        "epochs": plan.epochs,
        "img_member": costs.training_work(plan),
        "seconds": None if seconds is None else round(seconds, 3),
    }
