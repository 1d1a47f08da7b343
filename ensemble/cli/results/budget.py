"""The command that trains an ensemble and single networks of the same cost, and says which wins."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import click

from ensemble import runs
from ensemble.budget.settings import FACTORS, VALIDATION, Budget
from ensemble.budget.verdict import Standing, standings
from ensemble.budget.work import StoppedError, Worker
from ensemble.cli.options import option
from ensemble.cli.outcome import EXIT_STATUS, end_with, say
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.results.compare import of_difference, of_figure
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.settings import setting_fields
from ensemble.wording.verdicts import budget as words

# What the comparison sets itself.
ITS_OWN = ("width", "vary", "groups")

Command = Callable[..., Any]


def with_settings(command: Command) -> Command:
    """One option for each setting of a run that the comparison does not set itself."""
    for field in reversed(setting_fields(EnsembleConfig)):
        if field.name not in ITS_OWN:
            command = option(field)(command)
    return command


@click.command()
@with_settings
@click.option("--seeds", type=int, default=3, help="How many seeds of each; 3 by default.")
@click.option(
    "--rates",
    metavar="FACTORS",
    help="Factors of the learning rate to choose from; 0.3,1,2 by default.",
)
def budget(seeds: int, rates: str | None, **chosen: Any) -> None:
    """An ensemble against one wider network of the same FLOPs, and of the same seconds.

    The same again goes on where it was, also with more seeds or rates; the last line on stdout is
    one JSON object.
    """
    given = {name: value for name, value in chosen.items() if value is not None}
    config = EnsembleConfig(**{"validation": VALIDATION, **given})
    asked = Budget(config, seeds, factors(rates) if rates else FACTORS)
    try:
        found = standings(Worker(asked, trained, lambda line: say(line, err=True)).work())
    except StoppedError as stop:
        end_with(
            "stopped",
            f"The run “{stop}” was stopped: the same command goes on with it.",
            {"budget": asked.id, "state": "stopped", "competitors": []},
        )
    for line in words.lines(found):
        say(line, err=True)
    result = {"budget": asked.id, "state": "finished", "seeds": seeds, **described(found)}
    click.echo(json.dumps(result))
    raise SystemExit(EXIT_STATUS["finished"])


def factors(said: str) -> tuple[float, ...]:
    """Numbers between commas.

    Raises:
      ConfigError: something between them is no number.
    """
    try:
        return tuple(float(one) for one in said.split(","))
    except ValueError as error:
        raise ConfigError(
            f"rates is {said!r:.40}: give factors of the learning rate, such as 0.3,1,2."
        ) from error


def trained(run: runs.Run) -> runs.Run:
    """A queued run, brought to its end."""
    with ProgressLine(run.id) as line:
        return runs.work(run.id, line.show)


def described(found: list[Standing]) -> dict[str, Any]:
    """How all came out, ready for JSON; docs/budget.md says what each name is."""
    return {"competitors": [_described(one) for one in found]}


def _described(one: Standing) -> dict[str, Any]:
    competitor = one.competitor
    return {
        "same": list(competitor.names),
        "members": one.members,
        "width": competitor.width,
        "parameters": one.cost.parameters,
        "flops": one.members * one.cost.flops,
        "seconds": one.seconds,
        "learning_rate": competitor.rate,
        "tried": [dataclasses.asdict(rate) for rate in competitor.tried],
        "run_ids": [run.id for run in competitor.runs],
        "figures": {name: of_figure(figure) for name, figure in one.figures.items()},
        "ensemble_ahead": of_difference(one.ahead),
    }
