"""Modules of a person's own in the working folder, found where nothing else has their name."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class _WorkingFolderFinder(MetaPathFinder):
    """Finds modules in one folder; it is asked last.

    At the end of `sys.path` the folder would come before packages that are spread over several
    places, as Orbax and Google's are: there any module is taken first that has their name.

    Args:
      folder: where modules are looked for.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of the folder; None where there is none, and of what lies within a package."""
        return PathFinder.find_spec(fullname, [self.folder]) if path is None else None


def find_modules_in_working_folder() -> None:
    """Have modules that are found nowhere else looked for in the working folder, from now on.

    Folders that were it before come after it.
    """
    here = os.getcwd()
    former = [finder for finder in sys.meta_path if isinstance(finder, _WorkingFolderFinder)]
    if former and former[0].folder == here:
        return
    place = sys.meta_path.index(former[0]) if former else len(sys.meta_path)
    sys.meta_path.insert(place, _WorkingFolderFinder(here))
    for finder in former:
        if finder.folder == here:
            sys.meta_path.remove(finder)
