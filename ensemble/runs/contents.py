"""What makes a folder a run on which nothing works yet: its settings, its status, its place."""

import time
from pathlib import Path

from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.datasets.record import as_record
from ensemble.jobs.folders import SCHEMA, package_versions
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.tags import keep_tags
from ensemble.runs.status import Status, blank_best
from ensemble.storage.atomic import write_json


def fill(
    folder: Path,
    config: EnsembleConfig,
    placement: Placement | None,
    tags: tuple[str, ...] = (),
) -> None:
    """Write what a new run's folder holds, in state `queued`.

    Args:
      folder: an empty one.
      config: its settings; its groups are a number.
      placement: where it is to be trained; None for this machine.
      tags: words to find it by.

    Raises:
      OSError: it cannot be written.
    """
    now, entry = time.time(), registry.find(config.dataset)
    status = Status(created=now, queued=now, updated=now, epochs=config.epochs,
                    **blank_best(config))  # fmt: skip
    write_status(folder, status)
    if placement:
        write_placement(folder, placement)
    keep_tags(folder, tags)
    # config.json comes last: a folder without it is not yet a run.
    write_json(folder / "config.json", {
        "schema": SCHEMA, "packages": package_versions(), "settings": config.as_dict(),
        **({"dataset": as_record(entry)} if entry.own else {}),
    })  # fmt: skip
