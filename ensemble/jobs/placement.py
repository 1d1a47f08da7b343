"""Where a job runs, where that is not this machine: `placement.json` in its folder.

A placed job takes no slot of this machine. A process here follows what it runs elsewhere and is
the only writer of its status.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ensemble.cluster.schedulers import EXECUTION_TARGETS, find_scheduler
from ensemble.cluster.task_array import SchedulerBackend
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import parse_dataclass, unexpected_value_error

PLACEMENT_FILE = "placement.json"
# What stands for "where it was" where a job that goes on may be given another place.
KEEP_PLACEMENT: Literal["keep"] = "keep"


@dataclass(frozen=True)
class Placement:
    """Who is asked to run a job.

    Attributes:
      on: the name of one of `cluster.schedulers.EXECUTION_TARGETS`.
      settings: what it is asked for: of a scheduler the fields of its `settings`.
    """

    on: str
    settings: dict[str, Any] = field(default_factory=dict)


# A place that a job is given: a scheduler's, None for this machine, or where it was.
NewPlacement = Placement | None | Literal["keep"]


def write_placement(folder: Path, placement: Placement) -> None:
    """Note where the job in `folder` is to run; OSError where that cannot be written."""
    write_json(folder / PLACEMENT_FILE, asdict(placement))


def read_place_name(folder: Path) -> str:
    """The word for where the job in `folder` runs; "" for this machine, or where it is not told."""
    try:
        placement = read_placement(folder)
    except (OSError, ValueError):
        return ""
    return placement.on if placement else ""


def read_placement(folder: Path) -> Placement | None:
    """Where the job in `folder` runs; None if that is this machine.

    Raises:
      OSError, ValueError: it is said, and cannot be read.
    """
    try:
        placement = parse_dataclass(Placement, read_json(folder / PLACEMENT_FILE))
    except FileNotFoundError:
        return None
    if placement.on not in EXECUTION_TARGETS:
        raise unexpected_value_error("on", placement.on)
    return placement


def create_scheduler_backend(placement: Placement, folder: Path) -> SchedulerBackend:
    """Who runs the tasks of a placed job.

    Args:
      placement: where it is to run, and with what.
      folder: of the job's tasks, on a disk that the nodes share.

    Raises:
      ClusterError: it is for a place that takes no tasks from here.
      ConfigError: what is asked for is out of its range.
    """
    scheduler = find_scheduler(placement.on)
    config = scheduler.settings.from_dict(placement.settings)
    return SchedulerBackend(scheduler, config, folder / scheduler.name)
