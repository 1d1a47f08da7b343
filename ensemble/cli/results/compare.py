"""The command that holds runs against each other, and what it says: one object, or a table."""

import json
from collections.abc import Sequence
from typing import Any

import click

from ensemble import runs as stored
from ensemble.cli.output import print_line
from ensemble.comparison.compared_settings import collect_run_settings
from ensemble.comparison.comparison_table import ComparisonTable, GroupColumn, build_comparison_table
from ensemble.comparison.differences import GroupDifference
from ensemble.comparison.group_metrics import MetricEstimate
from ensemble.comparison.regression_groups import compare_regression_groups
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.config import REGRESSION
from ensemble.errors import ConfigError, RunError
from ensemble.storage.records.json_lines import convert_to_json
from ensemble.views.iteration import iterate_parts
from ensemble.views.numeric.regression_groups import serialize_regression_comparison, show_regression_comparison
from ensemble.views.parts import Paragraph, Table
from ensemble.wording import formats
from ensemble.wording.verdicts import comparison_text as words
from ensemble.wording.verdicts.settings_verdict import serialize_settings_verdict

_MIN_COMPARED_RUNS, MAX_COMPARED_RUNS = 2, 50


@click.command(name="compare")
@click.argument("run_ids", metavar="[RUN]...", nargs=-1)
@click.option("--by", multiple=True, metavar="SETTING", help="Setting to group by; can be repeated.")
@click.option("--baseline", metavar="RUN", help="Compare all others with this run's group.")
@click.option("--tag", help="Also all runs with this tag.")
@click.option("--sweep", metavar="ID", help="Also all runs of this sweep.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_compare_command(
    run_ids: tuple[str, ...],
    by: tuple[str, ...],
    baseline: str | None,
    tag: str | None,
    sweep: str | None,
    as_json: bool,
) -> None:
    """Set 2 to 50 runs beside each other; those that differ in the seed alone are one group.

    Every figure has its 95 % interval, every difference to the baseline its p, adjusted for all.
    Runs that predict numbers are compared on the same test rows.
    """
    names = [name for part in by for name in part.split(",") if name]
    chosen = _find_compared_runs([*run_ids, *filter(None, [baseline])], [tag, sweep])
    numeric = [run for run in chosen if run.task == REGRESSION]
    if numeric and len(numeric) < len(chosen):
        raise RunError(f"“{numeric[0].id}” predicts numbers and others classify images: compare runs of one task.")
    groups = group_runs(chosen, names or None)
    if numeric:
        _print_regression_groups(groups, names, baseline, as_json)
        return
    comparison_table = build_comparison_table(groups, baseline)
    if as_json:
        click.echo(json.dumps(_serialize_comparison(comparison_table, names)))
        return
    for line in words.format_comparison_lines(comparison_table, chosen[0].data.noun):
        print_line(line)
    for warning in comparison_table.warnings:
        print_line(f"Note: {warning}", err=True)


def _print_regression_groups(
    groups: Sequence[RunGroup], names: Sequence[str], baseline: str | None, as_json: bool
) -> None:
    comparison = compare_regression_groups(groups, baseline)
    if as_json:
        click.echo(json.dumps(convert_to_json(serialize_regression_comparison(comparison, names)), allow_nan=False))
        return
    for part in iterate_parts(show_regression_comparison(comparison)):
        if isinstance(part, Table):
            lines = part.frame.to_string(index=False).splitlines()
            for line in ("", part.caption, *lines, part.note):
                print_line(line)
        elif isinstance(part, Paragraph):
            print_line(part.text)


def _find_compared_runs(run_ids: Sequence[str], tags: Sequence[str | None]) -> list[stored.Run]:
    """The runs that are named, and those with one of the tags, each once.

    Raises:
      UnknownRunError: a run that is named is not there.
      RunError: no run has that tag.
      ConfigError: too few, or too many.
    """
    runs_by_id = {run_id: stored.find_run(run_id) for run_id in run_ids}
    for tag in filter(None, tags):
        tagged = [run for run in stored.list_runs() if tag in run.tags]
        if not tagged:
            raise RunError(
                f"No run has the tag “{tag:.60}”: a sweep tags its runs with its id, and you can add tags on Runs."
            )
        runs_by_id |= {run.id: run for run in tagged}
    if not _MIN_COMPARED_RUNS <= len(runs_by_id) <= MAX_COMPARED_RUNS:
        raise ConfigError(
            f"{formats.format_count(len(runs_by_id), 'run')} cannot be compared: name "
            f"{_MIN_COMPARED_RUNS} to {MAX_COMPARED_RUNS}, or choose them by --tag or --sweep. "
            "`ensemble runs list` shows all of them."
        )
    return list(runs_by_id.values())


def _serialize_comparison(table: ComparisonTable, by: Sequence[str]) -> dict[str, Any]:
    """What is compared, ready for JSON; docs/command-line.md says what each name is."""
    noun = table.columns[0].group.runs[0].data.noun
    return {
        "by": list(by) or None,
        "baseline": table.baseline,
        "tests": table.tests,
        "note": table.note,
        "warnings": list(table.warnings),
        "groups": [_serialize_comparison_group(column) for column in table.columns],
        "verdict": {metric: serialize_settings_verdict(verdict, noun) for metric, verdict in table.verdicts.items()},
    }


def _serialize_comparison_group(column: GroupColumn) -> dict[str, Any]:
    figures = {name: _serialize_metric(figure) for name, figure in column.metrics.items()}
    return {
        "key": column.group.key,
        "title": column.group.title,
        "run_ids": [run.id for run in column.group.runs],
        "counted": list(column.run_ids),
        "epochs": list(column.epochs),
        "chosen": sorted(column.chosen),
        "settings": _collect_group_settings(column.group),
        "figures": figures,
        "difference": _serialize_difference(column.difference),
        "why": column.no_difference_reason,
    }


def _collect_group_settings(group: RunGroup) -> dict[str, list[Any]]:
    """Each setting's distinct values in the group's runs; of an imported run what is known."""
    every = [collect_run_settings(run) for run in group.runs]
    return {name: list({repr(settings[name]): settings[name] for settings in every}.values()) for name in every[0]}


def _serialize_metric(figure: MetricEstimate) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high, "over": figure.over, "runs": figure.runs}


def _serialize_difference(difference: GroupDifference | None) -> dict[str, Any] | None:
    """A difference to the baseline; None if there is none."""
    if difference is None:
        return None
    return {
        "examples": difference.n,
        "won": difference.won,
        "lost": difference.lost,
        "digits": difference.digits,
        "digits_low": difference.digits_low,
        "digits_high": difference.digits_high,
        "p": difference.p,
        "p_adjusted": difference.adjusted_p,
        "nll_saved": difference.nll,
        "nll_saved_low": difference.nll_low,
        "nll_saved_high": difference.nll_high,
        "nll_p": difference.nll_p,
        "nll_p_adjusted": difference.adjusted_nll_p,
        "over": difference.over,
        "settings_p": difference.settings_p,
        "settings_p_adjusted": difference.adjusted_settings_p,
        "settings_nll_p": difference.settings_nll_p,
        "settings_nll_p_adjusted": difference.adjusted_settings_nll_p,
    }
