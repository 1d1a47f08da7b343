"""An index of the folder of runs: a run is read again only where one of its files has changed.

Without it a list of 1,000 runs would open 3,000 files at each look. The files are replaced, never
written into: inode, time of change and size together tell a new version.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ensemble.errors import RunError
from ensemble.storage.folders import runs_folder

INDEXED_FILES = ("config.json", "status.json", "name.txt")

Item = TypeVar("Item")
Version = tuple[tuple[int, int, int] | None, ...]


class FolderIndex(Generic[Item]):
    """An item for every folder among the runs, cached by its files' versions. Thread-safe.

    Args:
      read: makes the item of a folder, given its name; RunError if there is none. It may
        depend on nothing but `files`.
      files: paths below a folder.
    """

    def __init__(self, read: Callable[[str], Item], files: Sequence[str] = INDEXED_FILES) -> None:
        self._read, self._files = read, tuple(files)
        self._cached: dict[str, tuple[Version | None, Item | RunError]] = {}

    def list_items(self) -> tuple[list[Item], dict[str, RunError]]:
        """All items, in no order; and for each folder that has none, by name, why."""
        items_by_path: dict[str, tuple[Version | None, Item | RunError]] = {}
        items: list[Item] = []
        errors: dict[str, RunError] = {}
        with contextlib.suppress(FileNotFoundError), os.scandir(runs_folder()) as entries:
            for entry in entries:
                item = self._read_item(entry, items_by_path)
                if isinstance(item, RunError):
                    errors[entry.name] = item
                else:
                    items.append(item)
        self._cached = items_by_path  # Those that are gone are forgotten.
        return items, errors

    def _read_item(
        self,
        entry: "os.DirEntry[str]",
        items_by_path: dict[str, tuple[Version | None, Item | RunError]],
    ) -> Item | RunError:
        # Before it is read: what changes after that is another version the next time.
        version = tuple(file_version(f"{entry.path}/{name}") for name in self._files)
        cached = self._cached.get(entry.path)
        if cached is None or cached[0] != version:
            try:
                cached = version, self._read(entry.name)
            except RunError as error:
                # What the disk refuses it may give a moment later, from files that look the same.
                refused = isinstance(error.__cause__, OSError)
                cached = None if refused else version, error.with_traceback(None)
            except Exception:
                # A fault of the program, but no reason why all other runs should not be shown.
                logging.getLogger("ensemble").exception("The run %s cannot be read", entry.name)
                cached = (
                    version,
                    RunError(
                        f"The run “{entry.name}” cannot be read because of an error in the "
                        "program. All others can be used; the details are in the log."
                    ),
                )
        items_by_path[entry.path] = cached
        return cached[1]


def file_version(path: str) -> tuple[int, int, int] | None:
    """The file's (inode, time of change in ns, bytes), new once it is replaced; None: no file."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
