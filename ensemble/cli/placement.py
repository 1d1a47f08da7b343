"""Options that say where a job runs: `--on slurm`, and what a task there asks for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ensemble.cli.options import Command, settings_options
from ensemble.cluster import SlurmConfig
from ensemble.cluster.submission import check
from ensemble.jobs.placement import SLURM, Placement, read_placement
from ensemble.jobs.remote.record import read_record
from ensemble.settings import setting_fields

ASKED = tuple(one.name for one in setting_fields(SlurmConfig))


def placement_options(command: Command) -> Command:
    """Gives a click command `--on`, and one option for each thing that Slurm is asked for."""
    where = click.option("--on", type=click.Choice([SLURM]), help="Where: a cluster, if not here.")
    return where(settings_options(SlurmConfig)(command))


def take_placement(chosen: dict[str, Any], one_node: str) -> Placement | None:
    """Where a job is to run; what says so is taken out of the options that were given.

    Args:
      chosen: the values of a command's options, by name; None where one was left out.
      one_node: why a task of this job takes one node, a sentence.

    Returns:
      None where that is this machine.

    Raises:
      UsageError: an option of a cluster without --on, or several nodes.
      ClusterError: there is no Slurm here, or it does not answer.
      ConfigError: what it is asked for is out of range, or the cluster has it not.
    """
    on = chosen.pop("on", None)
    asked = {name: chosen.pop(name, None) for name in ASKED}
    asked = {name: value for name, value in asked.items() if value is not None}
    if on is None:
        if asked:
            raise click.UsageError(f"--{min(asked)} goes with --on {SLURM}: say where as well.")
        return None
    config = replace(SlurmConfig.from_toml(), **asked)
    if config.nodes > 1:
        raise click.UsageError(f"{one_node}: leave --nodes out.")
    check(config)
    return Placement(on, config.as_dict())


def task_summary(job_folder: Path) -> dict[str, Any]:
    """Which task did the job in a folder, ready for JSON; nothing of one that ran here."""
    placement, record = placement_of(job_folder), read_record(job_folder)
    if placement is None or record is None:
        return {}
    return {"task": {"on": placement.on, "id": record.id, "node": record.node}}


def placement_of(job_folder: Path) -> Placement | None:
    """Where the job in a folder runs; None also where that cannot be read."""
    try:
        return read_placement(job_folder)
    except (OSError, ValueError):
        return None
