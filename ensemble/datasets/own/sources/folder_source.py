"""A folder of folders, one a class, perhaps within `train/` and `test/`; `groups.csv` beside them.

Hidden files, `__MACOSX` and what file managers leave are passed over without a word. Links to a
folder, and those that lead out of the source, are not followed; these, files that are no pictures
by their names, and folders without a picture are left out and said.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import (
    SPLIT_NAMES,
    VALIDATION_TESTED_NOTE,
    VALIDATION_TRAINED_NOTE,
    DatasetImageFormat,
    PictureSurvey,
    Pixels,
    UnreadablePicture,
    format_class_names,
    format_name_list,
    sort_class_names,
)
from ensemble.datasets.own.sources import folder_walk, group_table, picture_decoding, picture_survey
from ensemble.errors import DataError
from ensemble.pictures.files.levels import STANDARD_LEVELS

BATCH = 256  # pictures that are decoded ahead
ORDER_STREAM = 0x0DE5  # tells this draw from any other by the same seed

ClassFiles = dict[str, list[Path]]  # by the class's folder


class FolderSource:
    """Pictures in a folder of folders; a `source.PictureSource`.

    Args:
      root: the folder.
      seed: of the order in which the pictures are kept.

    Raises:
      DataError: it cannot be read, or its folders are not those of at least two classes.
    """

    def __init__(self, root: Path, seed: int = 0) -> None:
        self.origin = f"pictures of the folder {Path(os.path.abspath(root)).name}"
        self._walk = folder_walk.FolderWalk(root)
        top = self._find_class_root(root)
        splits, empty = self._find_splits(top)
        names = sort_class_names(name for files in splits.values() for name in files)
        self.class_names = format_class_names(names)
        table = self._take_group_table(top)
        self.notes = [*self._notes, *self._walk.describe_skipped()]
        self.groups: dict[str, NDArray[np.int64]] = {}
        if empty:
            self.notes.append(
                f"Folders without a picture are not used as classes: {format_name_list(empty)}."
            )
        self._levels = STANDARD_LEVELS
        numbers = {name: number for number, name in enumerate(names)}
        self._files: dict[str, list[Path]] = {}
        self.labels: dict[str, NDArray[np.int32]] = {}
        for split, files in splits.items():
            self._shuffle_split(split, files, numbers, seed)
        if table:
            self.groups, left = group_table.number_picture_groups(table, self._files)
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
            if Path(name).name.lower() == group_table.TABLE_NAME
            and top.is_relative_to((self._walk.root / name).parent)
        ]
        for name in names:
            skipped.remove(name)
        if len(names) > 1:
            raise DataError(f"There are several tables of groups: {format_name_list(names)}.")
        return self._walk.root / names[0] if names else None

    def survey(self) -> PictureSurvey:
        """The sizes and colours that headers tell, and what is black and white in all pictures."""
        paths = [path for files in self._files.values() for path in files]
        with (
            picture_decoding.silence_pillow_warnings(),
            ThreadPoolExecutor(count_decoder_threads()) as pool,
        ):
            survey = picture_survey.survey_picture_files(paths, pool, self.notes)
        self._levels = survey.levels
        return survey

    def iterate_pictures(
        self, split: str, form: DatasetImageFormat
    ) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split, decoded in several threads a few hundred ahead."""
        files = self._files[split]

        def read_picture(path: Path) -> Pixels | UnreadablePicture:
            try:
                return picture_decoding.read_picture_pixels(path, form, self._levels)
            except picture_decoding.UnreadablePictureError as error:
                return UnreadablePicture(self._walk.relative_path(path), str(error))

        with (
            picture_decoding.silence_pillow_warnings(),
            ThreadPoolExecutor(count_decoder_threads()) as pool,
        ):
            for start in range(0, len(files), BATCH):
                yield from pool.map(read_picture, files[start : start + BATCH])

    def _find_class_root(self, root: Path) -> Path:
        """The folder that holds the classes or splits: an archive often wraps it in another."""
        top = root
        while True:
            folders, pictures = self._walk.list_folder(top)
            if (
                len(folders) != 1
                or pictures
                or len(top.parts) > len(root.parts) + folder_walk.MAX_DEPTH
            ):
                return top
            inner, _ = self._walk.list_folder(folders[0])
            if not inner:
                return top
            top = folders[0]

    def _find_splits(self, top: Path) -> tuple[dict[str, ClassFiles], list[str]]:
        """The pictures of each split by class, and the folders without one."""
        self._notes: list[str] = []
        folders, beside = self._walk.list_folder(top)
        self._walk.skipped_files += [self._walk.relative_path(path) for path in beside]
        parts = {
            SPLIT_NAMES[subfolder.name.lower()]: subfolder
            for subfolder in folders
            if subfolder.name.lower() in SPLIT_NAMES
        }
        if "train" not in parts or len(parts) < 2:
            return self._check_splits({"train": self._list_class_files(folders)}, top)
        if left := [subfolder.name for subfolder in folders if subfolder not in parts.values()]:
            self._notes.append(
                f"Folders besides train and test are left out: {format_name_list(left)}."
            )
        files_by_split = {}
        for split, folder in parts.items():
            inner, pictures = self._walk.list_folder(folder)
            self._walk.skipped_files += [self._walk.relative_path(path) for path in pictures]
            files_by_split[split] = self._list_class_files(inner)
        return self._check_splits(self._merge_validation(files_by_split), top)

    def _merge_validation(self, files_by_split: dict[str, ClassFiles]) -> dict[str, ClassFiles]:
        if (held := files_by_split.pop("val", None)) is None:
            return files_by_split
        if "test" not in files_by_split:
            self._notes.append(VALIDATION_TESTED_NOTE)
            return {**files_by_split, "test": held}
        self._notes.append(VALIDATION_TRAINED_NOTE)
        for name, files in held.items():
            files_by_split["train"].setdefault(name, []).extend(files)
        return files_by_split

    def _list_class_files(self, folders: list[Path]) -> ClassFiles:
        return {folder.name: self._walk.list_pictures(folder) for folder in folders}

    def _check_splits(
        self, splits: dict[str, ClassFiles], top: Path
    ) -> tuple[dict[str, ClassFiles], list[str]]:
        every = {name for files in splits.values() for name in files}
        full = {name for files in splits.values() for name, paths in files.items() if paths}
        if len(full) < 2:
            raise DataError(
                f"{top} holds pictures of {len(full)} class{'' if len(full) == 1 else 'es'}, "
                "but at least 2 are needed: put the pictures of each class into a separate "
                "folder with the name of the class." + self._walk.format_skipped_hint()
            )
        kept = {
            split: {name: paths for name, paths in files.items() if paths}
            for split, files in splits.items()
        }
        return kept, sorted(every - full)

    def _shuffle_split(
        self, split: str, files: ClassFiles, numbers: dict[str, int], seed: int
    ) -> None:
        """The pictures of a split in an order drawn by the seed: the first are of all classes."""
        pairs = [(path, numbers[name]) for name in sorted(files) for path in files[name]]
        drawn = np.random.PCG64([ORDER_STREAM, seed]).random_raw(len(pairs))
        order = np.argsort(drawn, kind="stable")
        self._files[split] = [pairs[place][0] for place in order]
        self.labels[split] = np.array([pairs[place][1] for place in order], np.int32)


def count_decoder_threads() -> int:
    """How many pictures are decoded at once."""
    return min(8, os.cpu_count() or 1)
