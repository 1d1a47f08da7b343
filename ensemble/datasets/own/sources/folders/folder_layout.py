"""Which folders are splits and which are classes, as far as names and the tree itself say.

Folders are splits where their names say so and hold classes, or where all of them hold the same
folders and one is named as a split. Else they are classes, which may hold their own train and test.
What is read is said, and drawn as a tree.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.class_folders import read_class_folders
from ensemble.datasets.own.sources.folders.folder_walk import MAX_DEPTH, FolderWalk
from ensemble.datasets.own.sources.folders.layout_reading import FolderLayout, LayoutReading
from ensemble.datasets.own.sources.folders.split_folders import find_split_folders, read_split_folders
from ensemble.datasets.own.sources.folders.split_names import parse_split_folder


def read_folder_layout(walk: FolderWalk, top: Path | None = None) -> FolderLayout:
    """Tells splits and classes of the folders below a root apart.

    Args:
      walk: looks into the folders.
      top: of the splits or classes; by default it is looked for.

    Raises:
      DataError: a folder cannot be read, or holds too many pictures.
    """
    top = top or _find_top_folder(walk)
    folders, beside = walk.list_folder(top)
    walk.skipped_files += [walk.relative_path(path) for path in beside]
    reading = LayoutReading(walk, top)
    if found := find_split_folders(reading, folders):
        return read_split_folders(reading, found, folders)
    if inner := _find_only_split_holder(walk, folders):
        layout = read_folder_layout(walk, inner)
        left = format_name_list([folder.name for folder in folders if folder != inner])
        layout.notes.append(f"Folders besides {inner.name}, which holds splits, are left out: {left}.")
        return layout
    return read_class_folders(reading, folders)


def _find_only_split_holder(walk: FolderWalk, folders: Sequence[Path]) -> Path | None:
    """The one of several folders that holds splits; None where none does, or several do."""
    holders = [
        folder for folder in folders if find_split_folders(LayoutReading(walk, folder), walk.list_folder(folder)[0])
    ]
    return holders[0] if len(holders) == 1 and len(folders) > 1 else None


def _find_top_folder(walk: FolderWalk) -> Path:
    """The folder that holds the classes or splits: an archive often wraps it in another.

    Folders without a picture may stand beside it.
    """
    top = walk.root
    while len(top.parts) <= len(walk.root.parts) + MAX_DEPTH:
        folders, pictures = walk.list_folder(top)
        full = folders
        if len(folders) > 1:  # of those with pictures, no more than two are of interest
            full = list(islice((one for one in folders if walk.has_pictures(one)), 2))
        if len(full) != 1 or pictures or not walk.list_folder(full[0])[0]:
            break
        if len(folders) > 1 and parse_split_folder(full[0].name):
            break
        top = full[0]
    return top
