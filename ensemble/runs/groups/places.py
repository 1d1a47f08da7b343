"""Where the tasks of a run's groups are: which of the places that there are a run is for."""

import os

from ensemble.cluster import SlurmConfig
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import slots
from ensemble.jobs.placement import KUBERNETES, SLURM, read_placement
from ensemble.runs.groups.external import ExternalTasks
from ensemble.runs.groups.slurm import SlurmTasks
from ensemble.runs.groups.tasks import LocalTasks, Tasks
from ensemble.runs.store import Run, trained_here


def tasks_for(run: Run) -> Tasks:
    """Who starts the tasks of this run.

    Raises:
      RunError: where it is to run cannot be told, or is a place that is not known.
      ConfigError: what Slurm is to be asked for is out of its range.
    """
    try:
        placement = read_placement(run.path)
    except (OSError, ValueError) as error:
        raise RunError(
            f"Where the run “{run.id}” is to be trained cannot be read ({error}): put its "
            "placement.json back, or remove it to train here."
        ) from error
    if placement and placement.on == KUBERNETES:
        return ExternalTasks(run, "Kubernetes")
    if placement is None:
        return LocalTasks(slots.devices(), cores())
    if placement.on == SLURM:
        config = SlurmConfig.from_dict(placement.settings)
        if (of := trained_here(run).groups) > 1 and config.nodes > 1:
            raise ConfigError(
                f'The run “{run.id}” has {of} groups, each of which takes one node: put "nodes": 1 '
                "into its placement.json, and resume it."
            )
        return SlurmTasks(run, config)
    raise RunError(f"The run “{run.id}” is for {placement.on}, which cannot be reached from here.")


def cores() -> list[int]:
    """The processor cores that this process may use, by number."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
