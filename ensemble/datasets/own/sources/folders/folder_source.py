"""A folder of pictures: a folder each class, perhaps within splits; `groups.csv` beside them.

Which folders are splits is `folder_layout`'s to tell; classes may stand in a table instead
(`table_layout`) or in the pictures' names (`name_layout`). Hidden files, `__MACOSX` and what file
managers leave are passed over without a word. Links to a folder, and those that lead out of the
source, are not followed; these, files that are no pictures by their names, and folders without a
picture are left out and said.
"""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_class_names, format_name_list, sort_class_names
from ensemble.datasets.own.sources.encoded.encoded_pictures import EncodedPictures
from ensemble.datasets.own.sources.folders import (
    companions,
    folder_layout,
    folder_walk,
    group_table,
    name_layout,
    split_lists,
    table_layout,
)
from ensemble.datasets.own.sources.folders.layout_reading import ClassFiles
from ensemble.datasets.own.sources.folders.split_names import parse_split_folder
from ensemble.datasets.own.sources.foreign_files import describe_foreign_files
from ensemble.errors import DataError
from ensemble.files.labels import find_missing_labels


class FolderSource(EncodedPictures[Path]):
    """Pictures in a folder of folders; a `source.PictureSource`.

    Args:
      root: the folder.
      seed: of the order in which the pictures are kept.
      class_pattern: where the class stands in a picture's name; "" where it does not.
      masks: what to do with masks and the like, as of `PreparationSettings`.

    Attributes:
      tree: how the folders were understood, a line for each.

    Raises:
      DataError: it cannot be read, or its folders are not those of at least two classes.
      ConfigError: the pattern is none.
    """

    def __init__(self, root: Path, seed: int = 0, class_pattern: str = "", masks: str = "") -> None:
        self.origin = f"pictures of the folder {Path(os.path.abspath(root)).name}"
        self._walk = folder_walk.FolderWalk(root)
        left_out = companions.leave_out_companions(self._walk) if masks == "leave-out" else []
        layout = (
            name_layout.read_named_layout(self._walk, class_pattern)
            if class_pattern
            else table_layout.read_table_layout(self._walk) or folder_layout.read_folder_layout(self._walk)
        )
        split_lists.follow_split_lists(self._walk, layout)
        layout.notes += left_out or companions.ask_about_companions(self._walk, layout.splits, masks)
        layout.notes += _leave_out_unlabelled(layout.splits)
        splits, empty = self._check_splits(layout.splits, layout.top)
        names = sort_class_names(name for files in splits.values() for name in files)
        self.class_names = format_class_names(names)
        table = self._take_group_table(layout.top)
        super().__init__([*layout.notes, *self._walk.describe_skipped()], layout.tree)
        self.groups: dict[str, NDArray[np.int64]] = {}
        if empty:
            self.notes.append(f"Folders without a picture are not used as classes: {format_name_list(empty)}.")
        numbers = {name: number for number, name in enumerate(names)}
        for split, files in splits.items():
            self.add_split(split, {numbers[name]: files[name] for name in sorted(files)}, seed)
        if layout.groups:
            named = {split: [layout.groups[path] for path in files] for split, files in self.files.items()}
            self.groups = group_table.number_group_names(named)
        elif table:
            self.groups, left = group_table.number_picture_groups(table, self.files)
            self.notes += left

    def _take_group_table(self, top: Path) -> Path | None:
        """The table of groups beside the classes or splits, or above them; None without one.

        Args:
          top: the folder of the classes or splits.

        Raises:
          DataError: there are several.
        """
        skipped = self._walk.skipped_files
        names = [
            name
            for name in skipped
            if Path(name).name.lower() == group_table.TABLE_NAME and top.is_relative_to((self._walk.root / name).parent)
        ]
        for name in names:
            skipped.remove(name)
        if len(names) > 1:
            raise DataError(f"There are several tables of groups: {format_name_list(names)}.")
        return self._walk.root / names[0] if names else None

    def describe_location(self, file: Path) -> str:
        """A picture's path from the folder on."""
        return self._walk.relative_path(file)

    def _check_splits(self, splits: dict[str, ClassFiles], top: Path) -> tuple[dict[str, ClassFiles], list[str]]:
        every = {name for files in splits.values() for name in files}
        full = {name for files in splits.values() for name, paths in files.items() if paths}
        flat = bool(full) and all((said := parse_split_folder(name)) and said.is_plain for name in full)
        if len(full) < 2 or flat:
            if not full and (
                foreign := describe_foreign_files(self._walk.root / name for name in self._walk.skipped_files)
            ):
                raise DataError(f"{top.name}: {foreign}")
            count = 0 if flat else len(full)
            where = f"{top} ({format_name_list(sorted(full))})" if flat else f"{top}"
            raise DataError(
                f"{where} holds pictures of {count} class{'' if count == 1 else 'es'}, "
                "but at least 2 are needed: put the pictures of each class into a separate "
                "folder with the name of the class, or give a table labels.csv with the columns "
                "file and label beside them."
                + name_layout.propose_class_pattern(self._walk)
                + self._walk.format_skipped_hint()
            )
        kept = {split: {name: paths for name, paths in files.items() if paths} for split, files in splits.items()}
        return kept, sorted(every - full)


def _leave_out_unlabelled(splits: dict[str, ClassFiles]) -> list[str]:
    """Take the pictures of classes that mean "no label" out, such as a folder unknown; return a note about them."""
    missing = find_missing_labels(name for files in splits.values() for name in files)
    count = sum(len(files.pop(name, ())) for files in splits.values() for name in missing)
    if not count:
        return []
    are = "picture of it is" if count == 1 else "pictures of it are"
    return [
        f"{format_name_list(sorted(missing))} means no label: {count:,} {are} left out. Rename it if it is a class."
    ]
