"""The command that trains an ensemble and single networks of the same cost, and says which wins."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import click

from ensemble import runs
from ensemble.budget.budget import DEFAULT_RATE_FACTORS, DEFAULT_VALIDATION, Budget
from ensemble.budget.budget_worker import BudgetWorker, RunStoppedError
from ensemble.budget.competitor_results import CompetitorResult, evaluate_competitors
from ensemble.cli.options import build_setting_option
from ensemble.cli.output import EXIT_STATUSES, exit_with_result, print_line
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.results.compare import serialize_difference, serialize_metric
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.settings import list_setting_fields
from ensemble.wording.verdicts import budget as words

# What the comparison sets itself.
EXCLUDED_FIELDS = ("width", "vary", "groups", "teacher", "distil_temperature", "distil_alpha")

Command = Callable[..., Any]


def _add_budget_options(command: Command) -> Command:
    for field in reversed(list_setting_fields(EnsembleConfig)):
        if field.name not in EXCLUDED_FIELDS:
            command = build_setting_option(field)(command)
    return command


@click.command(name="budget")
@_add_budget_options
@click.option("--seeds", type=int, default=3, help="Number of seeds of each; 3 by default.")
@click.option("--rates", metavar="FACTORS", help="Factors of the learning rate to choose from; 0.3,1,2 by default.")
def run_budget_command(seeds: int, rates: str | None, **chosen: Any) -> None:
    """An ensemble against one wider network of the same FLOPs, and of the same seconds.

    The same command continues where it stopped, also with more seeds or rates; the last line on
    stdout is one JSON object.
    """
    settings = {name: value for name, value in chosen.items() if value is not None}
    config = EnsembleConfig(**{"validation": DEFAULT_VALIDATION, **settings})
    budget = Budget(config, seeds, _parse_rate_factors(rates) if rates else DEFAULT_RATE_FACTORS)
    try:
        results = evaluate_competitors(
            BudgetWorker(budget, _finish_queued_run, lambda line: print_line(line, err=True)).train_competitors()
        )
    except RunStoppedError as stop:
        exit_with_result(
            "stopped",
            f"The run “{stop}” was stopped: repeat the same command to continue it.",
            {"budget": budget.id, "state": "stopped", "competitors": []},
        )
    for line in words.format_budget_lines(results):
        print_line(line, err=True)
    result = {"budget": budget.id, "state": "finished", "seeds": seeds, **_serialize_standings(results)}
    click.echo(json.dumps(result))
    raise SystemExit(EXIT_STATUSES["finished"])


def _parse_rate_factors(text: str) -> tuple[float, ...]:
    """Numbers between commas.

    Raises:
      ConfigError: something between them is not a number.
    """
    try:
        return tuple(float(factor) for factor in text.split(","))
    except ValueError as error:
        raise ConfigError(f"rates is {text!r:.40}: give factors of the learning rate, such as 0.3,1,2.") from error


def _finish_queued_run(run: runs.Run) -> runs.Run:
    with ProgressLine(run.id) as line:
        return runs.execute_run(run.id, line.show_run)


def _serialize_standings(competitor_results: list[CompetitorResult]) -> dict[str, Any]:
    """How all came out, ready for JSON; docs/budget.md says what each name is."""
    return {"competitors": [_serialize_standing(result) for result in competitor_results]}


def _serialize_standing(result: CompetitorResult) -> dict[str, Any]:
    competitor = result.competitor
    return {
        "same": list(competitor.names),
        "members": result.members,
        "width": competitor.width,
        "parameters": result.cost.parameters,
        "flops": result.members * result.cost.flops,
        "seconds": result.seconds,
        "learning_rate": competitor.rate,
        "tried": [dataclasses.asdict(rate) for rate in competitor.rate_trials],
        "run_ids": [run.id for run in competitor.runs],
        "figures": {name: serialize_metric(figure) for name, figure in result.metrics.items()},
        "ensemble_ahead": serialize_difference(result.advantage),
    }
