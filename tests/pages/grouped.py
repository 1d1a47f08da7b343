"""Runs in groups as their coordinator and their tasks leave them behind, without either."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.placement import Placement
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.groups.group import create_group_folders
from ensemble.runs.groups.tasks import TaskStatus, write_group_tasks
from tests.workers import at_work_here

SLURM = Placement("slurm", {"partition": "long"})


def in_groups(
    states: Mapping[int, str],
    tasks: Mapping[int, TaskStatus] | None = None,
    *,
    members: int = 8,
    state: str = "training",
    placement: Placement | None = None,
    told: Mapping[int, dict[str, Any]] | None = None,
    **status: Any,
) -> Run:
    """A run of as many groups as there are `states`, of which one is each group's by its number.

    This process is the worker of the run, while that is active, and of those of its groups that
    train or start.

    Args:
      states: by the groups' numbers, from 1.
      tasks: as the coordinator has noted them.
      members: of the run.
      state: of the run.
      placement: where it runs.
      told: more of each group's status; one with a `pid` is not taken for this process.
      status: more of the run's.
    """
    config = EnsembleConfig(members=members, groups=len(states), epochs=10)
    run, now = runs.create_run(config, placement), time.time()
    known = replace(run.status, state=state, updated=now, steps=100, **status)
    if state in runs.ACTIVE:
        known = replace(known, **at_work_here(run.path))
    for group in create_group_folders(run):
        its = replace(group.status, state=states[group.number], updated=now, steps=100)
        its = replace(its, **(told or {}).get(group.number, {}))
        if its.state in ("starting", "training") and its.pid is None:
            its = replace(its, **{**at_work_here(group.path), "updated": its.updated})
        write_status(group.path, its)
    write_group_tasks(run.path, tasks or {})
    write_status(run.path, known)
    return runs.find_run(run.id)
