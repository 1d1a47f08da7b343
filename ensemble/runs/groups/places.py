"""Where the tasks of a run's groups are: which of the places that there are a run is for."""

import os

from ensemble.cluster.schedulers import PLACES, SCHEDULERS
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import slots
from ensemble.jobs.placement import backend_for, read_placement
from ensemble.runs.groups.external import ExternalTasks
from ensemble.runs.groups.part import FOLDER
from ensemble.runs.groups.tasks import Tasks, tasks_at, tasks_here
from ensemble.runs.store import Run, trained_here


def tasks_for(run: Run) -> Tasks:
    """Who starts the tasks of this run.

    Raises:
      RunError: where it is to run cannot be told.
      ConfigError: what a scheduler is to be asked for is out of its range.
    """
    try:
        placement = read_placement(run.path)
    except (OSError, ValueError) as error:
        raise RunError(
            f"Where the run “{run.id}” is to be trained cannot be read ({error}): put its "
            "placement.json back, or remove it to train here."
        ) from error
    if placement is None:
        return tasks_here(run, slots.devices(), cores())
    if placement.on not in SCHEDULERS:
        return ExternalTasks(run, PLACES[placement.on].title)
    backend = backend_for(placement, run.path / FOLDER)
    if (of := trained_here(run).groups) > 1 and backend.config.nodes > 1:
        raise ConfigError(
            f'The run “{run.id}” has {of} groups, each of which takes one node: put "nodes": 1 '
            "into its placement.json, and resume it."
        )
    return tasks_at(run, backend)


def cores() -> list[int]:
    """The processor cores that this process may use, by number."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
