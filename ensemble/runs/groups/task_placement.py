"""Where the tasks of a run's groups are: which of the places that there are a run is for."""

import os

from ensemble.cluster.schedulers import EXTERNAL_TARGETS
from ensemble.errors import RunError
from ensemble.jobs import slots
from ensemble.jobs.placement import create_scheduler_backend, read_placement
from ensemble.runs.groups.external_tasks import ExternalTasks
from ensemble.runs.groups.group import GROUPS_FOLDER
from ensemble.runs.groups.tasks import GroupTaskControl, create_local_tasks, create_scheduler_tasks
from ensemble.runs.store import Run


def create_group_tasks(run: Run) -> GroupTaskControl:
    """Who starts the tasks of this run.

    Raises:
      RunError: its placement is unknown.
      ConfigError: what a scheduler is to be asked for is out of its range.
    """
    try:
        placement = read_placement(run.path)
    except (OSError, ValueError) as error:
        raise RunError(
            f"The placement of the run “{run.id}” cannot be read ({error}): put its "
            "placement.json back, or remove it to train here."
        ) from error
    if placement is None:
        return create_local_tasks(run, slots.list_cards(), _list_usable_cores())
    if placement.on in EXTERNAL_TARGETS:
        return ExternalTasks(run, EXTERNAL_TARGETS[placement.on])
    backend = create_scheduler_backend(placement, run.path / GROUPS_FOLDER)
    return create_scheduler_tasks(run, backend)


def _list_usable_cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
