"""What makes a folder a run on which nothing works yet: its settings, its status, its place."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.datasets.record import as_record
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import write_job
from ensemble.runs.status import Status, blank_best
from ensemble.storage.atomic import read_json
from ensemble.storage.records.fields import Count, read_as

# In the folder of a run whose members were chosen from others: where each came from. What it keeps
# of them are their parameters.
SOURCES_FILE = "members.json"


class Source(TypedDict):
    """Where a member came from: its run, its number there from 1, the epoch, its own settings."""

    run_id: str
    member: Count
    epoch: Count
    settings: dict[str, float]


@dataclass(frozen=True)
class _Sources:
    members: list[Source]


def sources_from(values: Any) -> list[Source]:
    """Of the object of a `members.json` where each member came from; ValueError of another."""
    return read_as(_Sources, values).members


def read_sources(folder: Path) -> dict[str, Any] | None:
    """What `members.json` says as it stands; None where there is none that can be read."""
    try:
        found: dict[str, Any] = read_json(folder / SOURCES_FILE)
        sources_from(found)
    except (OSError, ValueError):
        return None
    return found


def fill(folder: Path, config: EnsembleConfig, placement: Placement | None) -> None:
    """Write what a new run's folder holds, in state `queued`.

    Args:
      folder: a new one.
      config: its settings; its groups are a number.
      placement: where it is to be trained; None for this machine.

    Raises:
      OSError: it cannot be written.
    """
    now, entry = time.time(), registry.find(config.dataset)
    status = Status(
        created=now, queued=now, updated=now, epochs=config.epochs, **blank_best(config)
    )
    own = {"dataset": as_record(entry)} if entry.own else {}
    write_job(folder, status, config.as_dict(), placement, **own)
