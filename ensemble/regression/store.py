"""The regressions in the folder of runs: make, find, list, delete."""

import functools
import time
from dataclasses import dataclass
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
from ensemble.jobs.kinds import REGRESSION, Kind
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import delete_idle
from ensemble.jobs.remote.record import place
from ensemble.jobs.status import write_status
from ensemble.machine.packages import package_versions
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import SolveStatus, read_solve_status
from ensemble.storage.atomic import write_json
from ensemble.storage.folder_index import FolderIndex

WORD = str(REGRESSION.kept_as)


@dataclass(frozen=True)
class Solve(Job):
    """One regression, with and without `pmap`, as it stood when it was read.

    Attributes:
      id: the folder's name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: LbfgsConfig
    status: SolveStatus
    kind: Kind = REGRESSION


def create_solve(config: LbfgsConfig, placement: Placement | None = None) -> Solve:
    """A new regression's folder, state `queued`; nothing works on it yet.

    Args:
      config: its settings.
      placement: where it is to be solved, if not on this machine.

    Raises:
      RunError: the folder cannot be written.
    """
    now = time.time()
    with new_run(WORD, now) as folder:
        place(folder, placement)
        write_status(folder, SolveStatus(created=now, queued=now, updated=now))
        # config.json comes last: a folder without it is not yet a run.
        write_json(folder / "config.json", {
            "schema": SCHEMA, "kind": WORD, "packages": package_versions(),
            "settings": config.as_dict(),
        })  # fmt: skip
    return find_solve(folder.name)


def find_solve(solve_id: str) -> Solve:
    """The regression with this id.

    Raises:
      UnknownRunError: there is none.
      RunError: its files cannot be read.
    """
    folder = folder_of(solve_id)
    try:
        config = _read_config(folder, (folder / "config.json").stat().st_mtime_ns)
        return Solve(solve_id, read_name(folder), folder, config, read_solve_status(folder))
    except (OSError, ValueError, ConfigError) as error:
        raise not_readable(solve_id, folder, error) from error


def list_solves() -> list[Solve]:
    """All regressions that can be read, newest first."""
    found, _ = _index.look()
    return sorted(found, key=lambda one: (one.status.created, one.id), reverse=True)


def unreadable_solves() -> dict[str, str]:
    """Folders of regressions that cannot be read: their name, and why in a sentence."""
    _, errors = _index.look()
    return {
        name: str(error)
        for name, error in sorted(errors.items())
        if not isinstance(error, UnknownRunError)
    }


_index = FolderIndex(find_solve)


def delete_solve(solve_id: str) -> None:
    """Delete a regression and all its files.

    Raises:
      RunError: a worker is at it: stop it first.
    """
    delete_idle(find_solve, solve_id, "run")


@functools.lru_cache(maxsize=4096)
def _read_config(folder: Path, mtime_ns: int) -> LbfgsConfig:
    kind, settings = read_config(folder)
    if kind != WORD:
        raise UnknownRunError(f"“{folder.name}” is no regression: it is an ensemble.")
    return LbfgsConfig.from_disk(settings)
