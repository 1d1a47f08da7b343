"""The commands that list, show, tag, stop and delete runs."""

import json
from dataclasses import asdict
from typing import Any

import click

from ensemble import runs as stored
from ensemble.cli.outcome import say
from ensemble.cli.train import run_summary
from ensemble.jobs.placement import read_placement
from ensemble.runs.annotations.tags import change_tags, checked_tags
from ensemble.runs.groups.part import groups_of
from ensemble.runs.groups.tasks import read_tasks
from ensemble.wording import formats
from ensemble.wording.provenance import bibtex_of, citation_of, command_of
from ensemble.wording.verdicts import chance


@click.group()
def runs() -> None:
    """List, show, tag, stop and delete runs."""


@runs.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option(
    "--tag",
    "tags",
    metavar="TAG",
    multiple=True,
    help="Only runs with this tag; given several times, with all of them.",
)
def runs_list(as_json: bool, tags: tuple[str, ...]) -> None:
    """Every run, newest first."""
    for run in stored.list_runs():
        if not set(checked_tags(tags)) <= set(run.tags):
            continue
        if as_json:
            click.echo(json.dumps({**run_summary(run), "tags": list(run.tags)}))
            continue
        accuracy = run.status.ensemble_test_accuracy
        shown = formats.percent(accuracy)
        epochs = f"epoch {run.status.epoch} of {run.config.epochs}"
        guesses = " · at chance level" if chance.at_chance(run) else ""
        say(f"{run.id:<32} {run.state:<9} {shown:>9}  {epochs:<16} {run.name}{guesses}")


@runs.command(name="show")
@click.argument("run_id", metavar="RUN")
@click.option("--json", is_flag=True, expose_value=False, help="As it is without, too.")
def runs_show(run_id: str) -> None:
    """A run's settings and status, its groups, its command and how to cite it, as JSON."""
    run = stored.find(run_id)
    status = {**asdict(run.status), "state": run.state, "message": run.message}
    placement = read_placement(run.path)
    shown = {
        "run_id": run.id,
        "name": run.name,
        "tags": list(run.tags),
        "origin": run.origin,
        "settings": run.config.as_dict(),
        "status": status,
        "placement": asdict(placement) if placement else None,
        "groups": groups(run),
        "command": command_of(run),
        "citation": citation_of(run),
        "bibtex": bibtex_of(run),
    }
    click.echo(json.dumps(shown, indent=1))


def groups(run: stored.Run) -> list[dict[str, Any]]:
    """What each group of a run is doing and where, ready for JSON; members are from 1."""
    tasks = read_tasks(run.path)
    return [
        {
            "number": group.number,
            "members": [group.first + 1, group.first + group.count],
            "state": group.state,
            "message": group.message,
            "epoch": group.status.epoch,
            "step": group.status.step,
            "host": group.status.host,
            "task": asdict(task) if (task := tasks.get(group.number)) else None,
            "log": (group.path / "log.txt").relative_to(run.path).as_posix(),
        }
        for group in groups_of(run)
    ]


@runs.command(name="tag")
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@click.option("--add", metavar="TAG", multiple=True, help="A tag to give each of them.")
@click.option("--remove", metavar="TAG", multiple=True, help="A tag to take from each of them.")
def runs_tag(run_ids: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Give runs tags, or take some away: words to find and compare them by."""
    if not (add or remove):
        raise click.UsageError("Say which: --add TAG, --remove TAG, or both.")
    for run_id in run_ids:  # so that a slip in one of them changes none
        checked_tags([*(tag for tag in stored.find(run_id).tags if tag not in remove), *add])
    for run_id in run_ids:
        change_tags(run_id, add, remove)
        say(f"{run_id}: {', '.join(stored.find(run_id).tags) or 'no tags'}")


@runs.command(name="stop")
@click.argument("run_id", metavar="RUN")
def runs_stop(run_id: str) -> None:
    """Ask a run to stop; it keeps a checkpoint and can be resumed."""
    stored.request_stop(run_id)
    say(f"{run_id} was asked to stop.")


@runs.command(name="delete")
@click.argument("run_id", metavar="RUN")
def runs_delete(run_id: str) -> None:
    """Delete a run and all its files."""
    stored.delete(run_id)
    say(f"{run_id} is deleted.")
