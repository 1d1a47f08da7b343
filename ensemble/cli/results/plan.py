"""The command that says what a budget is best spent on, from what a run has kept."""

import json
from typing import Any

import click

from ensemble import runs
from ensemble.analysis.planning.choice import Choice, choose
from ensemble.analysis.planning.grid import FIGURES, Plan
from ensemble.cli.outcome import say
from ensemble.cli.results.pairs import described_loss, described_pair, of_pair, say_pair
from ensemble.errors import ConfigError
from ensemble.planning.cautions import cautions_of
from ensemble.planning.costs import Costs, costs_of
from ensemble.planning.maps import Maps, maps_of
from ensemble.planning.two_plans import half_the_cost
from ensemble.wording.verdicts import plan as words


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--budget", type=float, help="Images times members to spend; all of the run's.")
@click.option("--seconds", type=float, help="Seconds to spend instead, at the run's own rate.")
@click.option("--figure", type=click.Choice(FIGURES), default="nll", help="Judged by: nll.")
@click.option(
    "--against",
    "pair",
    nargs=2,
    metavar="PLAN PLAN",
    help="Compare two plans instead: 3x5 is 3 members for 5 epochs, 1x15@RUN one of another run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def plan(
    run_id: str,
    budget: float | None,
    seconds: float | None,
    figure: str,
    pair: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """How many members for how many epochs: what a budget is best spent on."""
    if budget is not None and seconds is not None:
        raise ConfigError("Give --budget or --seconds, not both.")
    run = runs.find(run_id)
    maps, costs = maps_of(run), costs_of(run)
    if pair:
        two = of_pair(run, maps, pair, figure)
        click.echo(json.dumps(described_pair(two))) if as_json else say_pair(two, pair, costs)
        return
    every = max(one.cost for one in maps.test.plans)
    asked = budget is not None or seconds is not None
    passes = min(costs.passes(budget, seconds), every) if asked else every
    found = choose(maps.test, passes, figure, maps.validation)
    if found is None:
        least = words.budget(costs, maps.test.plans[0].cost)
        raise ConfigError(f"That pays for no plan of this run: choose at least {least}.")
    if as_json:
        click.echo(json.dumps({"run_id": run.id, **described(found, maps, costs)}))
        return
    n, members = maps.test.n, maps.test.members
    say(f"For {words.budget(costs, passes)}.")
    say(words.headline(found, n))
    if passes == every:
        say(words.cheaper(found, half_the_cost(maps, found)))
    say(words.evidence(found, costs, maps.chosen_on))
    for line in (
        words.runner_up(found, costs, n, members),
        *(words.CAUTIONS[name] for name in cautions_of(run, maps, found.best)),
        *maps.left_out,
    ):
        if line:
            say(line)


def described(found: Choice, maps: Maps, costs: Costs) -> dict[str, Any]:
    """The choice and the whole map, ready for JSON."""
    grid = maps.test
    return {
        "figure": found.figure,
        "chosen_on": maps.chosen_on,
        "budget": costs.work(Plan(1, found.budget)),
        "paid": found.paid,
        "best": {**described_plan(found.best, costs), **vars(found.of_best)},
        "candidates": [described_plan(one, costs) for one in found.candidates],
        "runner_up": described_loss(found.runner_up) if found.runner_up else None,
        "to_be_sure": vars(found.sure) if found.sure else None,
        "losses": [described_loss(one) for one in found.losses],
        "n": grid.n,
        "exact": grid.exact,
        "map": [
            {**described_plan(one, costs), **{name: grid.mean(one, name) for name in FIGURES}}
            for one in grid.plans
        ],
    }


def described_plan(one: Plan, costs: Costs) -> dict[str, Any]:
    """A plan and what it costs."""
    seconds = costs.seconds(one)
    return {
        "members": one.members,
        "epochs": one.epochs,
        "img_member": costs.work(one),
        "seconds": None if seconds is None else round(seconds, 3),
    }
