"""The folder of runs: make, find, list, delete.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
import functools
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ensemble.access import Action, owners
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.datasets.record import entry_from
from ensemble.datasets.registry import Entry
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.folders import (
    folder_of,
    is_id,
    new_run,
    not_readable,
    read_name,
    read_whole_config,
    remove,
)
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import GROUP, IMPORTED, STRESS, TRAINING, Kind
from ensemble.jobs.placement import FILE as PLACEMENT
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import active_in, jobs_in, without_worker
from ensemble.machine.arrangement import groups_here
from ensemble.runs.annotations.baseline import forget_baseline
from ensemble.runs.annotations.tags import FILE as TAGS
from ensemble.runs.annotations.tags import checked_tags, read_tags
from ensemble.runs.contents import fill
from ensemble.runs.status import RESUMABLE, Status, read_status, remaining
from ensemble.storage.folder_index import FILES, FolderIndex


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
      data: what is known of the images that it learns and is tested on.
      member_names: what its members are called, M of them; none where they only have numbers.
      tags: words by which it is found and compared with others.
      origin: of one that came in a report: its id where it was made; else "".
    """

    id: str
    name: str
    path: Path
    config: EnsembleConfig | ImportedConfig
    status: Status
    data: Entry
    member_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""
    kind: Kind = TRAINING

    @property
    def numbers(self) -> range:
        """Its members by number, from 0: those that its worker trains."""
        return range(self.config.members)

    @property
    def whole(self) -> bool:
        """Whether these are all members of the ensemble."""
        return True

    @property
    def in_groups(self) -> bool:
        """Whether its members are shared out among tasks; see `runs.groups`."""
        if self.trained is None or self.origin:
            return False
        return self.trained.groups > 1 or (self.path / PLACEMENT).exists()

    @property
    def may_resume(self) -> bool:
        """Whether its training can go on here: not of one that came without its checkpoints."""
        return self.state in RESUMABLE and not self.origin

    def remaining(self, epoch: int | None = None) -> tuple[int, ...]:
        """Its members, from 0, but for those set aside by the end of this epoch; by now for None.

        In this order stand the members in what is read of an epoch: predictions, parameters.
        """
        return remaining(self.status, self.config.members, epoch)

    @property
    def trained(self) -> EnsembleConfig | None:
        """The settings that it was trained with here; None where it was trained elsewhere."""
        return self.config if isinstance(self.config, EnsembleConfig) else None


def find(run_id: str) -> Run:
    """The run with this id.

    Raises:
      UnknownRunError: there is none.
      RunError: its files cannot be read.
    """
    folder = folder_of(run_id)
    try:
        known = _read_config(folder, (folder / "config.json").stat().st_mtime_ns)
        data = known.data or registry.find(known.config.dataset)
        return Run(run_id, read_name(folder), folder, known.config, read_status(folder), data,
                   known.member_names, read_tags(folder), known.origin)  # fmt: skip
    except (OSError, ValueError, ConfigError) as error:
        raise not_readable(run_id, folder, error) from error


def trained_here(run: Run) -> EnsembleConfig:
    """The settings that the run was trained with.

    Raises:
      RunError: it was trained elsewhere, and brought predictions alone.
    """
    if run.trained is None:
        raise RunError(
            f"The run “{run.id}” was trained elsewhere: its predictions are here, but not its "
            "members. Choose a run that was trained here."
        )
    return run.trained


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


_index = FolderIndex(find, (*FILES, TAGS))


def create(
    config: EnsembleConfig, placement: Placement | None = None, tags: Iterable[str] = ()
) -> Run:
    """A new run's folder, state `queued`; nothing works on it yet.

    Args:
      config: its settings.
      placement: where it is to be trained; by default on this machine.
      tags: words to find it by.

    Raises:
      RunError: the folder cannot be written, or a tag is too long.
    """
    tags = checked_tags(tags)
    if not config.groups:
        images = registry.find(config.dataset).train_size
        config = replace(config, groups=groups_here(config, images))
    with new_run(config.dataset, time.time()) as folder:
        fill(folder, config, placement, tags)
    return find(folder.name)


def delete(run_id: str) -> None:
    """Delete a run and all its files; a baseline that it was, it is no more.

    Raises:
      AccessError: it is somebody else's.
      RunError: a worker is at it: stop it first.
    """
    folder = folder_of(run_id)
    owners.check_own(Action.DELETE, folder)
    busy = f"The run “{run_id}” is still active: stop it, then delete it."
    measured = (
        f"The run “{run_id}” is being measured under shift: stop that on Inspect, or let it "
        "end, then delete the run."
    )
    for job in active_in(folder):
        if job.kind is GROUP:
            raise RunError(
                f"A task of the run “{run_id}” trains a part of its members still: resume the "
                "run, stop it, then delete it."
            )
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
    with contextlib.suppress(RunError):  # It is gone, and read as none, all the same.
        forget_baseline(run_id)


# What a run of any kind has in common.


class _Known(NamedTuple):
    config: EnsembleConfig | ImportedConfig
    data: Entry | None
    member_names: tuple[str, ...]
    origin: str


@functools.lru_cache(maxsize=4096)
def _read_config(folder: Path, mtime_ns: int) -> _Known:
    found = read_whole_config(folder)
    if found.kind not in (None, "", IMPORTED):
        raise OtherKindError(
            f"“{folder.name}” is no ensemble: it is a run of the kind “{found.kind}”."
        )
    data = None if found.dataset is None else entry_from(found.dataset)
    origin = found.origin if isinstance(found.origin, str) and is_id(found.origin) else ""
    if found.kind == IMPORTED:
        if data is None:
            raise ValueError("it does not say what its images are")
        names = tuple(found.member_names or ())
        return _Known(ImportedConfig.from_dict(found.settings), data, names, origin)
    return _Known(EnsembleConfig.from_disk(found.settings), data, (), origin)
