"""Checkpoints of finished runs: what can go, put aside for a day, brought back, gone for good.

A checkpoint is all that training goes on from. A run that has finished never goes on; its members
at its last and at its best epoch lie in `parameters/`, which stay. What is removed lies beside, out
of sight of all that reads a run, until a day has passed.
"""

import contextlib
import functools
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ensemble.access import Action, owners, permissions, usage_limits
from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.kinds import list_nested_kinds
from ensemble.jobs.queue import exclude_worker, list_active_run_jobs
from ensemble.runs.checkpoints.folders import (
    CHECKPOINTS_FOLDER,
    REMOVAL_FILE,
    REMOVED_FOLDER,
    find_last_tick,
    list_checkpoint_ticks,
    read_removal,
    write_removal,
)
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.store import GROUPS_FOLDER, Run, find_run, list_runs
from ensemble.storage.folders import count_folder_bytes, runs_folder

KEPT_SECONDS = 86_400.0  # after which what was removed goes for good


@dataclass(frozen=True)
class StoredCheckpoints:
    """What a run's checkpoints take.

    Attributes:
      run_id: whose.
      nbytes: of their files.
      until: of those that were removed: when they go for good, unix seconds; None where that is not
        known, and of all others.
    """

    run_id: str
    nbytes: int
    until: float | None = None


def list_removable_checkpoints() -> list[StoredCheckpoints]:
    """Those of finished runs, the largest first.

    Raises:
      RunError: there can be no folder of runs.
    """
    sizes = (StoredCheckpoints(run.id, _count_bytes(run)) for run in list_runs())
    return sorted((size for size in sizes if size.nbytes), key=lambda size: -size.nbytes)


def list_removed_checkpoints() -> list[StoredCheckpoints]:
    """Those that were removed and can be brought back.

    Raises:
      RunError: there can be no folder of runs.
    """
    return [
        StoredCheckpoints(
            folder.name, sum(map(count_folder_bytes, _list_part_folders(folder, REMOVED_FOLDER))), _find_expiry(folder)
        )
        for folder in _list_folders_with_removed()
    ]


def delete_expired_checkpoints(now: float | None = None) -> None:
    """Delete for good what was removed more than a day ago.

    Args:
      now: unix seconds; by default the clock's.

    Raises:
      RunError: there can be no folder of runs.
    """
    now = time.time() if now is None else now
    for folder in _list_folders_with_removed():
        expiry = _find_expiry(folder)
        if expiry is not None and now >= expiry:
            _delete_removed(folder)


def remove_checkpoints(run_ids: Iterable[str], now: float | None = None) -> int:
    """Put the checkpoints of finished runs aside; how many bytes that will free.

    Args:
      run_ids: of the runs, in any order.
      now: unix seconds; by default the clock's.

    Raises:
      AccessError: a run is somebody else's.
      UnknownRunError: there is no such run.
      RunError: a run goes on or can go on, its members lie nowhere else, or its folder cannot be
        changed. Those before it are removed.
    """
    freed = 0
    for run_id in run_ids:
        run = find_run(run_id)
        if why := _explain_kept_checkpoints(run):
            raise RunError(f"The checkpoints of the run “{run.id}” are kept: {why}")
        busy = f"The run “{run.id}” is being worked on: wait until that has ended."
        with ExitStack() as held:
            held.enter_context(change_job_files(run.path, action=Action.DELETE))
            held.enter_context(exclude_worker(run.path, busy))
            for folder in (run.path / kind.subfolder for kind in list_nested_kinds()):
                if folder.is_dir():
                    held.enter_context(exclude_worker(folder, busy))
            for _ in list_active_run_jobs(run.path):
                raise RunError(busy)
            freed += sum(map(count_folder_bytes, _list_part_folders(run.path, CHECKPOINTS_FOLDER)))
            # First what remembers them: whatever cuts this off, what was moved is found.
            when = time.time() if now is None else now
            write_removal(run.path, when, find_last_tick(run.path))
            _move_checkpoints(run.path, CHECKPOINTS_FOLDER, REMOVED_FOLDER)
    return freed


def restore_checkpoints(run_ids: Iterable[str]) -> None:
    """Bring back what was removed, as it was.

    Raises:
      AccessError: a run is somebody else's.
      UnknownRunError: there is no such run.
      RunError: nothing of it was removed, it is gone for good, or its folder cannot be changed.
    """
    for run_id in run_ids:
        run = find_run(run_id)
        if not _has_removed(run.path):
            raise RunError(
                f"The run “{run.id}” has no removed checkpoints: they were never removed, or a day has passed since."
            )
        with change_job_files(run.path):
            _move_checkpoints(run.path, REMOVED_FOLDER, CHECKPOINTS_FOLDER)
            (run.path / REMOVAL_FILE).unlink(missing_ok=True)


def delete_removed_checkpoints(run_ids: Iterable[str]) -> int:
    """Delete for good what was removed, before its day has passed; the bytes that were freed.

    Raises:
      AccessError: a run is somebody else's.
      UnknownRunError: there is no such run.
      RunError: not all of it can be deleted.
    """
    freed = 0
    for run_id in run_ids:
        run = find_run(run_id)
        with change_job_files(run.path, action=Action.DELETE):
            for part in _list_part_folders(run.path, REMOVED_FOLDER):
                nbytes = count_folder_bytes(part)
                shutil.rmtree(part)
                freed += nbytes
    usage_limits.invalidate_disk_quota()
    return freed


def _explain_kept_checkpoints(run: Run) -> str:
    """Why a run's checkpoints are not removed, and what to do: a sentence; "" where they can be."""
    if run.can_resume or run.active:
        return "it goes on from them. Let it finish, or delete it."
    if not _list_part_folders(run.path, CHECKPOINTS_FOLDER):
        return "it has none."
    wanted = {run.status.epoch, run.status.best_epoch or run.status.epoch}
    if not wanted <= set(list_parameter_epochs(run.path)):
        return "its members are stored nowhere else. Delete the run if nobody needs them."
    return ""


def _may_remove_checkpoints(run: Run) -> bool:
    is_denied = permissions.describe_denied_action(Action.DELETE, owners.find_owner(run.path))
    return not is_denied and not _explain_kept_checkpoints(run)


def _count_bytes(run: Run) -> int:
    if not _may_remove_checkpoints(run):
        return 0
    parts = _list_part_folders(run.path, CHECKPOINTS_FOLDER)
    return sum(_count_unchanged_bytes(part, part.stat().st_mtime_ns) for part in parts)


@functools.lru_cache(maxsize=8192)
def _count_unchanged_bytes(folder: Path, mtime_ns: int) -> int:
    return count_folder_bytes(folder)


def _list_part_folders(run_folder: Path, name: str) -> list[Path]:
    parts = [run_folder / name, *sorted(run_folder.glob(f"{GROUPS_FOLDER}/*/{name}"))]
    return [part for part in parts if part.is_dir() and not part.is_symlink()]


def _list_folders_with_removed() -> Iterator[Path]:
    with contextlib.suppress(OSError), os.scandir(runs_folder()) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and _has_removed(Path(entry.path)):
                yield Path(entry.path)


def _has_removed(run_folder: Path) -> bool:
    return (run_folder / REMOVAL_FILE).exists() and bool(_list_part_folders(run_folder, REMOVED_FOLDER))


def _find_expiry(run_folder: Path) -> float | None:
    """When what was removed goes for good, unix seconds; None where nobody knows since when."""
    removal = read_removal(run_folder)
    return removal.when + KEPT_SECONDS if removal else None


def _move_checkpoints(run_folder: Path, source: str, target: str) -> None:
    for part in _list_part_folders(run_folder, source):
        destination = part.with_name(target)
        if destination.is_dir() and not list_checkpoint_ticks(part.parent):
            shutil.rmtree(destination)  # It holds none: a worker made it and wrote nothing.
        part.rename(destination)


def _delete_removed(run_folder: Path) -> None:
    for part in _list_part_folders(run_folder, REMOVED_FOLDER):
        shutil.rmtree(part, ignore_errors=True)  # What is left is tried again at the next look.
    usage_limits.invalidate_disk_quota()
