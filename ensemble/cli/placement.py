"""Options that say where a job runs: `--on slurm`, and what a task there asks for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ensemble.cli.options import Command, build_setting_option
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.task_record import find_placement, read_task_record
from ensemble.settings import list_setting_fields

# What schedulers can be asked for, by name; where several can, the first says it.
TASK_FIELDS = {
    field.name: field
    for scheduler in reversed(SCHEDULERS.values())
    for field in list_setting_fields(scheduler.settings)
}
ON_OPTION = click.option(
    "--on",
    type=click.Choice(list(SCHEDULERS)),
    help=("The cluster to run on, instead of this machine."),
)


def add_placement_options(command: Command, without: str = "") -> Command:
    """Gives a click command `--on`, and one option for each thing that a task may ask for."""
    for name, field in reversed(TASK_FIELDS.items()):
        command = command if name == without else build_setting_option(field)(command)
    return ON_OPTION(command)


def add_one_node_options(command: Command) -> Command:
    """As `add_placement_options`, for a job that is one task on one node: without `--nodes`."""
    return add_placement_options(command, without="nodes")


def parse_placement_options(
    chosen: dict[str, Any], see: Callable[[int], None] | None = None
) -> Placement | None:
    """Where a job is to run, each of its tasks on one node unless `see` allows more.

    Args:
      chosen: the values of a command's options, by name; None if one was left out. What says
        where is taken out of them.
      see: called with how many nodes its one task has; raises where that cannot be.

    Returns:
      None where that is this machine.

    Raises:
      UsageError: an option of a cluster without --on, or several nodes.
      ClusterError: the scheduler is not here, or does not answer.
      ConfigError: what it is asked for is out of range, or the cluster has it not.
    """
    on = chosen.pop("on", None)
    task_settings = {name: chosen.pop(name, None) for name in TASK_FIELDS}
    task_settings = {name: value for name, value in task_settings.items() if value is not None}
    if on is None:
        if task_settings:
            raise click.UsageError(
                f"--{min(task_settings)} goes with --on {next(iter(SCHEDULERS))}: add it."
            )
        return None
    scheduler = SCHEDULERS[on]
    config = replace(
        scheduler.settings.from_toml(), **({} if see else {"nodes": 1}) | task_settings
    )
    if see:
        see(config.nodes)
    elif config.nodes > 1:
        raise click.UsageError(
            "A group takes one node: ask for more --groups instead of --nodes, or use "
            "--distributed for one program on several nodes."
        )
    scheduler.check(config)
    return Placement(on, config.as_dict())


def summarize_task(job_folder: Path) -> dict[str, Any]:
    """Which task did the job in a folder, ready for JSON; nothing of one that ran here."""
    placement, record = find_placement(job_folder), read_task_record(job_folder)
    if placement is None or record is None:
        return {}
    return {"task": {"on": placement.on, "id": record.id, "node": record.node}}
