"""What a killed import, launch or delete left in the folder of runs: found, and removed.

None of it is a run: a folder that nobody ever worked in and that has no `config.json`, which is
written last; or one that was put out of sight to be deleted. It counts in the
quota, as all there does.
"""

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ensemble.access import Action, usage_limits
from ensemble.jobs.folders import change_job_files, is_run_id
from ensemble.jobs.job import LOCK_FILE
from ensemble.storage.folders import count_folder_bytes, runs_folder

# Whoever makes a folder, or deletes one, changes something in it all the time.
QUIET_SECONDS = 600.0
# As `create_unique_folder` names a folder, and as others are named on their way in and out.
_NEW_PATTERN = re.compile(r"[a-z0-9_]+-\d{4}-\d{6}(-\d+)?")
_HIDDEN_PATTERN = re.compile(r"\.(deleted|new)-.+-[0-9a-f]{8}")
# Any of them says that it was a run, whatever became of its config.json.
_SIGNS_OF_WORK = ("config.json", "log.txt", LOCK_FILE, "checkpoints", "groups")


@dataclass(frozen=True)
class Leftover:
    """A folder that is of no more use to anybody.

    Attributes:
      path: where it is.
      size: bytes of its files.
    """

    path: Path
    size: int


def list_leftovers() -> list[Leftover]:
    """All of them, by name; none of the last ten minutes, which somebody may still be at.

    Raises:
      RunError: there can be no folder of runs.
    """
    folder = runs_folder()
    try:
        paths = sorted(path for path in folder.iterdir() if _is_leftover(path))
    except OSError:  # There is none yet, or it cannot be read: what reads runs says so.
        return []
    return [Leftover(path, count_folder_bytes(path)) for path in paths]


def remove_leftovers() -> int:
    """Remove all that `list_leftovers` finds; the bytes that were freed.

    Raises:
      AccessError: one is somebody else's.
      RunError: one cannot be removed, or not all of it.
    """
    freed = 0
    for leftover in list_leftovers():
        failed = f"What is left of “{leftover.path.name}” cannot be removed"
        with change_job_files(leftover.path, failed, action=Action.DELETE):
            shutil.rmtree(leftover.path)
        freed += leftover.size
    usage_limits.invalidate_disk_quota()
    return freed


def _is_leftover(path: Path) -> bool:
    hidden = bool(_HIDDEN_PATTERN.fullmatch(path.name))
    begun = is_run_id(path.name) and bool(_NEW_PATTERN.fullmatch(path.name))
    try:
        if not (hidden or begun) or path.is_symlink() or not path.is_dir():
            return False
        if begun and any((path / name).exists() for name in _SIGNS_OF_WORK):
            return False
        return time.time() - max(_iterate_change_times(path)) > QUIET_SECONDS
    except OSError:  # Somebody is at it.
        return False


def _iterate_change_times(folder: Path) -> Iterator[float]:
    yield folder.lstat().st_ctime
    for path in folder.rglob("*"):
        yield path.lstat().st_ctime
