"""What makes a folder a run on which nothing works yet: its settings, its status, its place."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ensemble.config import EnsembleConfig, RegressionConfig
from ensemble.datasets import registry
from ensemble.datasets.record import serialize_dataset_entry
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import write_job_files
from ensemble.runs.status import Status, build_blank_best_fields
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count, parse_dataclass

# In the folder of a run whose members were chosen from others: where each came from. What it keeps
# of them are their parameters.
SOURCES_FILE = "members.json"
NOTE_FILE = "notes.md"  # what a person wrote about it, or was to be said of it


class MemberSource(TypedDict):
    """Where a member came from: its run, its number there from 1, the epoch, its own settings."""

    run_id: str
    member: Count
    epoch: Count
    settings: dict[str, float]


@dataclass(frozen=True)
class _MemberSources:
    members: list[MemberSource]


def parse_members_json(values: Any) -> list[MemberSource]:
    """Of the object of a `members.json` where each member came from; ValueError of another."""
    return parse_dataclass(_MemberSources, values).members


def read_member_sources(folder: Path) -> dict[str, Any] | None:
    """What `members.json` says as it stands; None if there is none that can be read."""
    try:
        sources: dict[str, Any] = read_json(folder / SOURCES_FILE)
        parse_members_json(sources)
    except (OSError, ValueError):
        return None
    return sources


def write_run_folder(folder: Path, config: EnsembleConfig, placement: Placement | None) -> None:
    """Write what a new run's folder holds, in state `queued`.

    Args:
      folder: a new one.
      config: its settings; its groups are a number.
      placement: where it is to be trained; None for this machine.

    Raises:
      OSError: it cannot be written.
    """
    now, entry = time.time(), registry.find_dataset_entry(config.dataset)
    status = Status(created=now, queued=now, updated=now, epochs=config.epochs, **build_blank_best_fields(config))
    own = {"dataset": serialize_dataset_entry(entry)} if entry.own else {}
    write_job_files(folder, status, config.as_dict(), placement, **own)


def write_regression_folder(
    folder: Path, config: RegressionConfig, placement: Placement | None, target: dict[str, Any]
) -> None:
    """As `write_run_folder`, of a regression whose table lies in the folder already.

    Args:
      folder: a new one.
      config: its settings.
      placement: where it is to be trained; None for this machine.
      target: what it predicts, ready for JSON.
    """
    now = time.time()
    status = Status(created=now, queued=now, updated=now, epochs=config.epochs, **build_blank_best_fields(config))
    write_job_files(folder, status, config.as_dict(), placement, task=config.task, numbers=target)
