"""Options that say where a job runs: `--on slurm`, and what a task there asks for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ensemble.cli.options import Command, build_setting_option
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.jobs.placement import KEEP_PLACEMENT, NewPlacement, Placement
from ensemble.jobs.remote.task_record import find_placement, read_task_record
from ensemble.settings import list_setting_fields

# What schedulers can be asked for, by name; where several can, the first says it.
_TASK_FIELDS = {
    field.name: field
    for scheduler in reversed(SCHEDULERS.values())
    for field in list_setting_fields(scheduler.settings)
}
PLACEMENT_OPTIONS = {"on", *_TASK_FIELDS}  # by their names in a command
HERE = "here"
_ON_OPTION = click.option(
    "--on", type=click.Choice([*SCHEDULERS, HERE]), help=("The cluster to run on, instead of this machine (here).")
)


def add_placement_options(command: Command) -> Command:
    """Gives a click command `--on`, and one option for each thing that a task may ask for."""
    for field in reversed(_TASK_FIELDS.values()):
        command = build_setting_option(field)(command)
    return _ON_OPTION(command)


def parse_placement_options(chosen: dict[str, Any]) -> Placement | None:
    """Where a job is to run.

    Args:
      chosen: the values of a command's options, by name; None if one was left out. What says
        where is taken out of them.

    Returns:
      None where that is this machine.

    Raises:
      UsageError: an option of a cluster without --on.
      ClusterError: the scheduler is not here, or does not answer.
      ConfigError: what it is asked for is out of range, or the cluster has it not.
    """
    on, task_settings = _pop_task_options(chosen)
    if on is None:
        _refuse_task_settings(task_settings)
        return None
    scheduler = SCHEDULERS[on]
    config = replace(scheduler.settings.from_toml(), **task_settings)
    scheduler.check(config)
    return Placement(on, config.as_dict())


def parse_resumed_placement(chosen: dict[str, Any], before: Placement | None) -> NewPlacement:
    """Where a run goes on: where it was, with whatever is now asked for instead.

    Args:
      chosen: as `parse_placement_options` takes it, and leaves it.

    Raises:
      UsageError, ClusterError, ConfigError: as `parse_placement_options`.
    """
    goes_on = before.on if before else None
    on, task_settings = _pop_task_options(chosen, goes_on if goes_on in SCHEDULERS else None)
    if on is None:
        _refuse_task_settings(task_settings)
        return None if before else KEEP_PLACEMENT
    if before and on == before.on and not task_settings:
        return KEEP_PLACEMENT
    scheduler = SCHEDULERS[on]
    base = (
        scheduler.settings.from_dict(before.settings) if before and on == before.on else scheduler.settings.from_toml()
    )
    config = replace(base, **task_settings)
    scheduler.check(config)
    return Placement(on, config.as_dict())


def _pop_task_options(chosen: dict[str, Any], default: str | None = None) -> tuple[str | None, dict[str, Any]]:
    """Take what says where out of a command's options: a scheduler's name or None, its settings."""
    on = chosen.pop("on", None) or default
    settings = {name: chosen.pop(name, None) for name in _TASK_FIELDS}
    settings = {name: value for name, value in settings.items() if value is not None}
    return (None if on == HERE else on), settings


def _refuse_task_settings(settings: dict[str, Any]) -> None:
    if settings:
        raise click.UsageError(f"--{min(settings)} goes with --on {next(iter(SCHEDULERS))}: add it.")


def summarize_task(job_folder: Path) -> dict[str, Any]:
    """Which task did the job in a folder, ready for JSON; nothing of one that ran here."""
    placement, record = find_placement(job_folder), read_task_record(job_folder)
    if placement is None or record is None:
        return {}
    return {"task": {"on": placement.on, "id": record.id, "node": record.node}}
