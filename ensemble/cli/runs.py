"""The commands that list, show, stop and delete runs."""

import json
from dataclasses import asdict
from typing import Any

import click

from ensemble import runs as stored
from ensemble.cli.outcome import say
from ensemble.cli.train import run_summary
from ensemble.jobs.placement import read_placement
from ensemble.runs.groups.part import groups_of
from ensemble.runs.groups.tasks import read_tasks
from ensemble.wording import formats
from ensemble.wording.verdicts import chance


@click.group()
def runs() -> None:
    """List, show, stop and delete runs."""


@runs.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def runs_list(as_json: bool) -> None:
    """Every run, newest first."""
    for run in stored.list_runs():
        if as_json:
            click.echo(json.dumps(run_summary(run)))
            continue
        accuracy = run.status.ensemble_test_accuracy
        shown = formats.percent(accuracy)
        epochs = f"epoch {run.status.epoch} of {run.config.epochs}"
        guesses = " · at chance level" if chance.at_chance(run) else ""
        say(f"{run.id:<32} {run.state:<9} {shown:>9}  {epochs:<16} {run.name}{guesses}")


@runs.command(name="show")
@click.argument("run_id", metavar="RUN")
def runs_show(run_id: str) -> None:
    """A run's settings and status, its groups and where it runs, as JSON."""
    run = stored.find(run_id)
    status = {**asdict(run.status), "state": run.state, "message": run.message}
    placement = read_placement(run.path)
    shown = {
        "run_id": run.id, "name": run.name, "settings": run.config.as_dict(), "status": status,
        "placement": asdict(placement) if placement else None, "groups": groups(run),
    }  # fmt: skip
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
