"""The commands that list, show, tag, stop and delete runs."""

import json
import time
from dataclasses import asdict
from typing import Any

import click

from ensemble import runs as stored
from ensemble.cli.output import print_line
from ensemble.cli.results.numbers import summarize_numeric_run
from ensemble.cli.train import summarize_run
from ensemble.jobs.leftovers import list_leftovers, remove_leftovers
from ensemble.jobs.placement import read_placement
from ensemble.runs.annotations.tags import change_tags, normalize_tags
from ensemble.runs.checkpoints.removal import (
    delete_expired_checkpoints,
    delete_removed_checkpoints,
    list_removable_checkpoints,
    list_removed_checkpoints,
    remove_checkpoints,
    restore_checkpoints,
)
from ensemble.runs.epoch_choice import read_reported_metrics
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import read_group_tasks
from ensemble.runs.status import serialize_status
from ensemble.wording import formats
from ensemble.wording.provenance import build_rerun_command, format_bibtex, format_citation
from ensemble.wording.runs.networks import format_memory
from ensemble.wording.verdicts import chance_level


@click.group(name="runs")
def run_runs_command() -> None:
    """List, show, tag, stop and delete runs."""


@run_runs_command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="Only runs with this tag; if repeated, with all of them."
)
def run_runs_list_command(as_json: bool, tags: tuple[str, ...]) -> None:
    """Every run, newest first."""
    for run in stored.list_runs():
        if not set(normalize_tags(tags)) <= set(run.tags):
            continue
        if as_json:
            summary = summarize_numeric_run(run) if run.target else summarize_run(run)
            click.echo(json.dumps({**summary, "tags": list(run.tags)}))
            continue
        reported = read_reported_metrics(run)
        figure = f"RMSE {formats.format_significant(reported.rmse)}"
        if run.entry:
            figure = formats.format_percent(reported.accuracy)
        epochs = f"epoch {run.status.epoch} of {run.status.epochs or run.config.epochs}"
        guesses = " · at chance level" if chance_level.is_run_at_chance(run) else ""
        print_line(f"{run.id:<32} {run.state:<9} {figure:>12}  {epochs:<16} {run.name}{guesses}")


@run_runs_command.command(name="show")
@click.argument("run_id", metavar="RUN")
@click.option("--json", is_flag=True, expose_value=False, help=("The default; accepted for clarity."))
def run_runs_show_command(run_id: str) -> None:
    """A run's settings and status, its groups, its command and how to cite it, as JSON."""
    run = stored.find_run(run_id)
    placement = read_placement(run.path)
    if run.target:
        own = {"note": run.note, "target": run.target_name, "unit": run.unit, "member_names": list(run.member_names)}
        settings = run.settings.as_dict() if run.settings else None
    else:
        own = {"origin": run.origin, "weights": run.weights}
        settings = run.config.as_dict()
    record = {
        "run_id": run.id,
        "task": run.task,
        "name": run.name,
        "tags": list(run.tags),
        **own,
        "settings": settings,
        "status": {**serialize_status(run.status, run.task), "state": run.state, "message": run.message},
        "placement": asdict(placement) if placement else None,
        "groups": _summarize_groups(run),
        "command": build_rerun_command(run),
        "citation": format_citation(run),
        "bibtex": format_bibtex(run),
    }
    click.echo(json.dumps(record, indent=1))


def _summarize_groups(run: stored.Run) -> list[dict[str, Any]]:
    """What each group of a run is doing and where, ready for JSON; members are from 1."""
    tasks = read_group_tasks(run.path)
    return [
        {
            "number": group.number,
            "members": [group.first_member + 1, group.first_member + group.member_count],
            "state": group.state,
            "message": group.message,
            "epoch": group.status.epoch,
            "step": group.status.step,
            "host": group.status.host,
            "task": asdict(task) if (task := tasks.get(group.number)) else None,
            "log": (group.path / "log.txt").relative_to(run.path).as_posix(),
        }
        for group in list_run_groups(run)
    ]


@run_runs_command.command(name="tag")
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@click.option("--add", metavar="TAG", multiple=True, help=("Tag to add to each of them; can be repeated."))
@click.option("--remove", metavar="TAG", multiple=True, help=("Tag to remove from each of them; can be repeated."))
def run_runs_tag_command(run_ids: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Give runs tags, or take some away: words to find and compare them by."""
    if not (add or remove):
        raise click.UsageError("Give --add TAG, --remove TAG, or both.")
    for run_id in run_ids:  # so that a slip in one of them changes none
        normalize_tags([*(tag for tag in stored.find_run(run_id).tags if tag not in remove), *add])
    for run_id in run_ids:
        change_tags(run_id, add, remove)
        print_line(f"{run_id}: {', '.join(stored.find_run(run_id).tags) or 'no tags'}")


@run_runs_command.command(name="stop")
@click.argument("run_id", metavar="RUN")
def run_runs_stop_command(run_id: str) -> None:
    """Ask a run to stop; it keeps a checkpoint and can be resumed."""
    stored.request_run_stop(run_id)
    print_line(f"{run_id} was asked to stop.")


@run_runs_command.command(name="leftovers")
@click.option("--remove", is_flag=True, help="Remove them.")
def run_runs_leftovers_command(remove: bool) -> None:
    """What imports, launches and deletes left that were killed: no runs, only bytes."""
    for leftover in list_leftovers():
        print_line(f"{leftover.path}  {format_memory(leftover.size)}")
    if remove:
        print_line(f"{format_memory(remove_leftovers())} were freed.", err=True)


@run_runs_command.command(name="checkpoints")
@click.argument("run_ids", metavar="[RUN...]", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove them; they are kept for a day.")
@click.option("--restore", is_flag=True, help="Bring back what was removed within a day.")
@click.option("--now", is_flag=True, help="What was removed goes at once, for good.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def run_runs_checkpoints_command(
    run_ids: tuple[str, ...], remove: bool, restore: bool, now: bool, as_json: bool
) -> None:
    """What checkpoints of finished runs take: of these, by default of all."""
    delete_expired_checkpoints()
    if restore and (remove or now):
        raise click.UsageError("Give --restore alone, or --remove and --now.")
    for run_id in run_ids:  # so that a slip in one of them changes none
        stored.find_run(run_id)
    if restore:
        restore_checkpoints(run_ids or [each.run_id for each in list_removed_checkpoints()])
    if remove:
        wanted = run_ids or [each.run_id for each in list_removable_checkpoints()]
        freed = remove_checkpoints(wanted)
        print_line(f"{format_memory(freed)} were removed: --restore brings them back.", err=True)
    if now:
        wanted = run_ids or [each.run_id for each in list_removed_checkpoints()]
        print_line(f"{format_memory(delete_removed_checkpoints(wanted))} were freed.", err=True)
    for each in (*list_removable_checkpoints(), *list_removed_checkpoints()):
        if run_ids and each.run_id not in run_ids:
            continue
        if as_json:
            click.echo(json.dumps(asdict(each)))
            continue
        until = "" if each.until is None else time.strftime("%F %H:%M", time.localtime(each.until))
        print_line(
            f"{each.run_id:<32} {format_memory(each.nbytes):>8}{f'  removed, kept until {until}' if until else ''}"
        )


@run_runs_command.command(name="delete")
@click.argument("run_id", metavar="RUN")
def run_runs_delete_command(run_id: str) -> None:
    """Delete a run and all its files."""
    stored.delete_run(run_id)
    print_line(f"{run_id} is deleted.")
