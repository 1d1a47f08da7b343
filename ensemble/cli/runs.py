"""The commands that list, show, stop and delete runs."""

import json
from dataclasses import asdict

import click

from ensemble import runs as stored
from ensemble.cli.outcome import say
from ensemble.cli.train import run_summary
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
    """A run's settings and status, as JSON."""
    run = stored.find(run_id)
    status = {**asdict(run.status), "state": run.state, "message": run.message}
    shown = {"run_id": run.id, "name": run.name, "settings": run.config.as_dict(), "status": status}
    click.echo(json.dumps(shown, indent=1))


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
