"""An index of the folder of runs: a run is read again only where one of its files has changed.

Without it a list of 1,000 runs would open 3,000 files at each look. The files are replaced, never
written into: inode, time of change and size together tell a new version. Of a run on which nothing
works even its files need not be asked: to replace one changes the folder's own time.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ensemble.errors import RunError, UnknownRunError
from ensemble.storage.folders import runs_folder

INDEXED_FILES = ("config.json", "status.json", "name.txt")
# Two changes of a folder within one tick of its disk's clock look alike: its time says something
# once it is so old. What is written into a file, by a copying program say, shows in no folder:
# so often all files are asked.
QUIET_SECONDS, FILES_CHECK_INTERVAL_S = 10.0, 30.0

Item = TypeVar("Item")
Version = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True)
class _IndexedFolder(Generic[Item]):
    """What is known of a folder.

    Attributes:
      version: of its files; None where it has to be read again.
      item: what it holds, or why it holds none.
      folder_times: when the folders of these files changed, in ns, before they were asked; None
        where they do not tell whether that is so still.
    """

    version: Version | None
    item: Item | RunError
    folder_times: tuple[int, ...] | None


class FolderIndex(Generic[Item]):
    """An item for every folder among the runs, cached by its files' versions. Thread-safe.

    Args:
      read: makes the item of a folder, given its name; RunError if there is none. It may
        depend on nothing but `files`.
      files: paths below a folder.
      is_settled: whether nothing works on an item: its files are then replaced, and never written
        into, as a worker does on a full disk.
    """

    def __init__(
        self,
        read: Callable[[str], Item],
        files: Sequence[str] = INDEXED_FILES,
        is_settled: Callable[[Item], bool] = lambda item: False,
    ) -> None:
        self._read, self._files, self._is_settled = read, tuple(files), is_settled
        self._parents = tuple(sorted({os.path.dirname(name) for name in files}))
        self._cached: dict[str, _IndexedFolder[Item]] = {}
        self._files_checked_at = float("-inf")

    def list_items(self) -> tuple[list[Item], dict[str, RunError]]:
        """All items, in no order; and for each folder that has none, by name, why."""
        folders_by_path: dict[str, _IndexedFolder[Item]] = {}
        items: list[Item] = []
        errors: dict[str, RunError] = {}
        began = time.monotonic()
        checks_files = began - self._files_checked_at > FILES_CHECK_INTERVAL_S
        with contextlib.suppress(FileNotFoundError), os.scandir(runs_folder()) as entries:
            for entry in entries:
                found = self._find_folder(entry, checks_files)
                folders_by_path[entry.path] = found
                if isinstance(found.item, RunError):
                    errors[entry.name] = found.item
                else:
                    items.append(found.item)
        self._cached = folders_by_path  # Those that are gone are forgotten.
        if checks_files:
            self._files_checked_at = began
        return items, errors

    def _find_folder(self, entry: "os.DirEntry[str]", checks_files: bool) -> _IndexedFolder[Item]:
        cached = self._cached.get(entry.path)
        # Before the files are asked: what changes after that is another time, or version.
        times = self._read_folder_times(entry.path)
        if cached and cached.folder_times and cached.folder_times == times and not checks_files:
            return cached
        version = tuple(file_version(f"{entry.path}/{name}") for name in self._files)
        if cached is None or cached.version != version:
            return self._read_folder(entry.name, version, times)
        return _IndexedFolder(version, cached.item, self._select_telling_times(cached.item, times))

    def _read_folder(self, name: str, version: Version, times: tuple[int, ...]) -> _IndexedFolder[Item]:
        item: Item | RunError
        kept: Version | None = version
        try:
            item = self._read(name)
        except RunError as error:
            # What the disk refuses it may give a moment later, from files that look the same.
            kept = None if isinstance(error.__cause__, OSError) else version
            item = error.with_traceback(None)
        except Exception:
            # A fault of the program, but no reason why all other runs should not be shown.
            logging.getLogger("ensemble").exception("The run %s cannot be read", name)
            item = RunError(
                f"The run “{name}” cannot be read because of an error in the "
                "program. All others can be used; the details are in the log."
            )
        return _IndexedFolder(kept, item, self._select_telling_times(item, times))

    def _read_folder_times(self, path: str) -> tuple[int, ...]:
        """When each folder of the files changed, in ns; 0 where there is none."""
        times = []
        for parent in self._parents:
            try:
                times.append(os.stat(f"{path}/{parent}").st_mtime_ns)
            except OSError:
                times.append(0)
        return tuple(times)

    def _select_telling_times(self, item: Item | RunError, times: tuple[int, ...]) -> tuple[int, ...] | None:
        """The times, where a change of the item would change them; else None."""
        # An unknown run is one of another kind, or not yet a run.
        is_settled = isinstance(item, UnknownRunError) if isinstance(item, RunError) else self._is_settled(item)
        quiet = max(times) < (time.time() - QUIET_SECONDS) * 1e9
        return times if is_settled and quiet else None


def file_version(path: str) -> tuple[int, int, int] | None:
    """The file's (inode, time of change in ns, bytes), new once it is replaced; None: no file."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
