"""The sweeps in the folder of runs: make, find, list, delete."""

import functools
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path

from ensemble.errors import ConfigError, UnknownRunError
from ensemble.jobs.folders import (
    SCHEMA,
    folder_of,
    new_run,
    not_readable,
    read_config,
    read_name,
)
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import SWEEP, Kind
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.queue import delete_idle
from ensemble.jobs.status import write_status
from ensemble.machine.packages import package_versions
from ensemble.storage.atomic import write_json
from ensemble.storage.folder_index import FolderIndex
from ensemble.sweeps.settings import SweepConfig, chosen_storage
from ensemble.sweeps.status import SweepStatus, read_sweep_status

WORD = str(SWEEP.kept_as)


@dataclass(frozen=True)
class Sweep(Job):
    """One sweep as it stood when it was read.

    Attributes:
      id: the folder's name, its name in URLs and on the command line, and the tag of its trials.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: SweepConfig
    status: SweepStatus
    kind: Kind = SWEEP


def create(config: SweepConfig, placement: Placement | None = None) -> Sweep:
    """A new sweep's folder, state `queued`, with its study; nothing works on it yet.

    Args:
      config: its settings; where trials are written down is as the environment says.
      placement: where its workers are to be, if not on this machine.

    Raises:
      RunError: the folder cannot be written, or the database not be reached.
    """
    from ensemble.sweeps.archive import Archive

    now, config = time.time(), replace(config, storage=chosen_storage())
    with new_run(WORD, now) as folder:
        # A database may have sweeps of other folders, whose ids are no others than here.
        own = f"-{secrets.token_hex(4)}" if config.storage == "database" else ""
        config = replace(config, study=folder.name + own)
        if placement:
            write_placement(folder, placement)
        status = SweepStatus(created=now, queued=now, updated=now, trials=config.wanted)
        write_status(folder, status)
        Archive.create(folder.name, folder, config)
        # config.json comes last: a folder without it is not yet a run.
        write_config(folder, config)
    return find(folder.name)


def write_config(folder: Path, config: SweepConfig) -> None:
    """Replace the config.json of the sweep in `folder`; OSError where that cannot be written."""
    write_json(folder / "config.json", {
        "schema": SCHEMA, "kind": WORD, "packages": package_versions(),
        "settings": config.as_dict(),
    })  # fmt: skip


def find(sweep_id: str) -> Sweep:
    """The sweep with this id.

    Raises:
      UnknownRunError: there is none.
      RunError: its files cannot be read.
    """
    folder = folder_of(sweep_id)
    try:
        config = _read_config(folder, (folder / "config.json").stat().st_mtime_ns)
        return Sweep(sweep_id, read_name(folder), folder, config, read_sweep_status(folder))
    except (OSError, ValueError, ConfigError) as error:
        raise not_readable(sweep_id, folder, error) from error


def list_sweeps() -> list[Sweep]:
    """All sweeps that can be read, newest first."""
    found, _ = _index.look()
    return sorted(found, key=lambda one: (one.status.created, one.id), reverse=True)


def unreadable_sweeps() -> dict[str, str]:
    """Folders of sweeps that cannot be read: their name, and why in a sentence."""
    _, errors = _index.look()
    return {
        name: str(error)
        for name, error in sorted(errors.items())
        if not isinstance(error, UnknownRunError)
    }


_index = FolderIndex(find)


def delete(sweep_id: str) -> None:
    """Delete a sweep and what is written down of its trials; their runs stay as they are.

    Raises:
      RunError: a worker is at it: stop it first.
    """
    delete_idle(find, sweep_id, "sweep")


@functools.lru_cache(maxsize=4096)
def _read_config(folder: Path, mtime_ns: int) -> SweepConfig:
    kind, settings = read_config(folder)
    if kind != WORD:
        raise UnknownRunError(f"“{folder.name}” is no sweep: choose one of `sweep --list`.")
    return SweepConfig.from_disk(settings)
