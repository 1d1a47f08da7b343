"""The command that says what Inspect says: the answers of all views, or all of one view."""

import json
from collections.abc import Mapping

import click

from ensemble import runs as stored
from ensemble.cli.output import print_line
from ensemble.config import REGRESSION
from ensemble.errors import ConfigError
from ensemble.views.evaluated_epoch import EvaluatedEpoch, evaluate_epoch
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers, evaluate_numeric_run
from ensemble.views.registry import NUMERIC_VIEWS, VIEWS, RegisteredView, find_view
from ensemble.views.summary import ViewSummary, summarize_view


def _list_views(views: Mapping[str, RegisteredView]) -> str:
    return "\b\n" + "\n".join(f"  {name:<14} {view.summary}" for name, view in views.items())


HELP = f"""Show what an ensemble's predictions say.

Without VIEW, the answer of every view in a line each; with one, all of it.

Views of a run of classes:

{_list_views(VIEWS)}

Views of a run that predicts numbers:

{_list_views(NUMERIC_VIEWS)}
"""


@click.command(name="inspect", help=HELP)
@click.argument("run_id", metavar="RUN")
@click.argument("view", required=False)
@click.option(
    "--epoch",
    type=click.IntRange(1),
    help="After this epoch; by default the one chosen on validation images, else the last.",
)
@click.option(
    "--choose",
    "chosen",
    multiple=True,
    metavar="NAME=WORD",
    help="Value of a control of the view: error=2, figure=nll; can be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_inspect_command(
    run_id: str, view: str | None, epoch: int | None, chosen: tuple[str, ...], as_json: bool
) -> None:
    """Show the answers of all views, or one view whole; the help is `HELP`."""
    choices = dict(map(_parse_view_choice, chosen))
    if choices and view is None:
        raise ConfigError("--choose is for one view: name the view as well.")
    run = stored.find_run(run_id)
    offered = NUMERIC_VIEWS if run.task == REGRESSION else VIEWS
    named = find_view(view, offered) if view else None
    evaluated: EvaluatedEpoch | EvaluatedNumbers = (
        evaluate_numeric_run(run, epoch) if run.task == REGRESSION else evaluate_epoch(run, epoch)
    )
    if named:
        summary = summarize_view(named, evaluated, choices)
        if as_json:
            click.echo(json.dumps({**_serialize_epoch(evaluated), **summary.to_dict()}))
            return
        print_line(f"{evaluated.source} · {named.title}")
        for line in summary.to_text().splitlines():
            print_line(line)
        return
    summaries = [summarize_view(view_entry, evaluated) for view_entry in offered.values()]
    if as_json:
        views = [summary.to_answer() for summary in summaries]
        click.echo(json.dumps({**_serialize_epoch(evaluated), "views": views}))
        return
    print_line(evaluated.source)
    for summary in summaries:
        _print_view_answer(summary)


def _parse_view_choice(text: str) -> tuple[str, str]:
    """A choice as it is written, NAME=WORD.

    Raises:
      ConfigError: it is not written so.
    """
    name, equals, word = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"{text!r:.60} is not a choice: write NAME=WORD, as in error=2.")
    return name, word


def _serialize_epoch(epoch: EvaluatedEpoch | EvaluatedNumbers) -> dict[str, object]:
    counted = "examples" if isinstance(epoch, EvaluatedNumbers) else "images"
    return {
        "run_id": epoch.run.id if epoch.run else None,
        "epoch": epoch.epoch,
        "members": epoch.members,
        counted: epoch.n,
    }


def _print_view_answer(summary: ViewSummary) -> None:
    print_line(f"{summary.view.name:<14} {summary.answer}")
