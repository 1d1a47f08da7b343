"""Every run in the folder of runs, read again only where one of its files has changed.

A list of 1,000 runs would else open 3,000 files each time that somebody looks. Each of the
files is replaced, never written into: its inode, time and size together tell a new one.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ensemble.errors import RunError
from ensemble.storage.folders import runs_folder

FILES = ("config.json", "status.json", "name.txt")

Item = TypeVar("Item")
Version = tuple[tuple[int, int, int] | None, ...]


class Shelf(Generic[Item]):
    """What `read` makes of every folder among the runs. Safe to use from several threads.

    Args:
      read: makes an item of a folder's name; RunError where it cannot. What it makes may
        depend on nothing but these files.
      files: paths below a folder.
    """

    def __init__(self, read: Callable[[str], Item], files: Sequence[str] = FILES) -> None:
        self._read, self._files = read, tuple(files)
        self._kept: dict[str, tuple[Version, Item | RunError]] = {}

    def look(self) -> tuple[list[Item], dict[str, RunError]]:
        """The items, in no order, and by folder's name why there is none."""
        found: dict[str, tuple[Version, Item | RunError]] = {}
        items: list[Item] = []
        errors: dict[str, RunError] = {}
        with contextlib.suppress(FileNotFoundError), os.scandir(runs_folder()) as entries:
            for entry in entries:
                item = self._item(entry, found)
                if isinstance(item, RunError):
                    errors[entry.name] = item
                else:
                    items.append(item)
        self._kept = found  # Those that are gone are forgotten.
        return items, errors

    def _item(
        self, entry: "os.DirEntry[str]", found: dict[str, tuple[Version, Item | RunError]]
    ) -> Item | RunError:
        # Before it is read: what changes after that is another version the next time.
        seen = tuple(version(f"{entry.path}/{name}") for name in self._files)
        kept = self._kept.get(entry.path)
        if kept is None or kept[0] != seen:
            try:
                kept = seen, self._read(entry.name)
            except RunError as error:
                kept = seen, error.with_traceback(None)
        found[entry.path] = kept
        return kept[1]


def version(path: str) -> tuple[int, int, int] | None:
    """Another one whenever the file has been replaced: (inode, modified in ns, bytes)."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
