"""The folder of runs: make, find, list, rename, delete.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
import functools
import time
from dataclasses import dataclass
from pathlib import Path

from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.folders import (
    NAME_LENGTH,
    SCHEMA,
    changing,
    folder_of,
    new_run,
    not_readable,
    package_versions,
    read_config,
    read_name,
    remove,
)
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import STRESS, TRAINING, Kind
from ensemble.jobs.queue import active_in, jobs_in, without_worker
from ensemble.jobs.status import write_status
from ensemble.runs.status import Status, blank_best, read_status
from ensemble.storage.atomic import write_bytes, write_json
from ensemble.storage.folder_index import FolderIndex


class OtherKindError(UnknownRunError):
    """A run there is, but of another kind than was asked for."""


@dataclass(frozen=True)
class Run(Job):
    """One run as it stood when it was read.

    Attributes:
      id: the run's folder name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: EnsembleConfig
    status: Status
    kind: Kind = TRAINING


def find(run_id: str) -> Run:
    """The run with this id.

    Raises:
      UnknownRunError: there is none.
      RunError: its files cannot be read.
    """
    folder = folder_of(run_id)
    try:
        config = _read_config(folder, (folder / "config.json").stat().st_mtime_ns)
        return Run(run_id, read_name(folder), folder, config, read_status(folder))
    except (OSError, ValueError, ConfigError) as error:
        raise not_readable(run_id, folder, error) from error


def list_runs() -> list[Run]:
    """All runs that can be read, newest first."""
    runs, _ = _index.look()
    return sorted(runs, key=lambda run: (run.status.created, run.id), reverse=True)


def unreadable() -> dict[str, str]:
    """Folders that look like runs and cannot be read: their name, and why in a sentence."""
    _, errors = _index.look()
    found = {
        name: error for name, error in errors.items() if not isinstance(error, UnknownRunError)
    }
    return {name: str(error) for name, error in sorted(found.items())}


_index = FolderIndex(find)


def create(config: EnsembleConfig) -> Run:
    """A new run's folder, state `queued`; nothing works on it yet.

    Raises:
      RunError: the folder cannot be written.
    """
    now = time.time()
    with new_run(config.dataset, now) as folder:
        status = Status(created=now, queued=now, updated=now, epochs=config.epochs,
                        **blank_best(config))  # fmt: skip
        write_status(folder, status)
        # config.json comes last: a folder without it is not yet a run.
        write_json(folder / "config.json", {
            "schema": SCHEMA, "packages": package_versions(), "settings": config.as_dict(),
        })  # fmt: skip
    return find(folder.name)


def rename(run_id: str, name: str) -> Run:
    """Give a run a name for people; an empty one takes the name away.

    Raises:
      RunError: longer than 80 characters, or the folder cannot be written.
    """
    folder = folder_of(run_id)
    name = " ".join(name.split())
    if len(name) > NAME_LENGTH:
        raise RunError(f"A name has at most {NAME_LENGTH} characters; this has {len(name)}.")
    with changing(folder):
        write_bytes(folder / "name.txt", name.encode())
    return find(run_id)


def delete(run_id: str) -> None:
    """Delete a run and all its files.

    Raises:
      RunError: a worker is at it: stop it first.
    """
    folder = folder_of(run_id)
    busy = f"The run “{run_id}” is still active: stop it, then delete it."
    measured = (
        f"The run “{run_id}” is being measured under shift: stop that on Inspect, or let it "
        "end, then delete the run."
    )
    for job in active_in(folder):
        raise RunError(measured if job.kind is STRESS else busy)
    stress = folder / STRESS.part
    with without_worker(folder, busy):
        if not folder.is_symlink():  # What a link leads to stays as it is.
            with contextlib.suppress(OSError):
                stress.mkdir(exist_ok=True)  # So that nobody begins to measure what is going.
        with without_worker(stress, measured):
            for job in jobs_in(folder):
                if job.awaited:
                    raise RunError(measured if job.kind is STRESS else busy)
            remove(folder)


# What a run of any kind has in common.


@functools.lru_cache(maxsize=4096)
def _read_config(folder: Path, mtime_ns: int) -> EnsembleConfig:
    kind, settings = read_config(folder)
    if kind:
        raise OtherKindError(f"“{folder.name}” is no ensemble: it is a run of the kind “{kind}”.")
    return EnsembleConfig.from_disk(settings)
