"""A folder of folders, one a class, perhaps within splits; `groups.csv` beside them.

Which folders are splits is `folder_layout`'s to tell. Hidden files, `__MACOSX` and what file
managers leave are passed over without a word. Links to a
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
    DatasetImageFormat,
    PictureSurvey,
    Pixels,
    UnreadablePicture,
    format_class_names,
    format_name_list,
    sort_class_names,
)
from ensemble.datasets.own.sources import (
    folder_layout,
    folder_walk,
    group_table,
    picture_decoding,
    picture_survey,
)
from ensemble.datasets.own.sources.layout_reading import ClassFiles
from ensemble.errors import DataError
from ensemble.pictures.files.levels import STANDARD_LEVELS

BATCH = 256  # pictures that are decoded ahead
ORDER_STREAM = 0x0DE5  # tells this draw from any other by the same seed


class FolderSource:
    """Pictures in a folder of folders; a `source.PictureSource`.

    Args:
      root: the folder.
      seed: of the order in which the pictures are kept.

    Attributes:
      tree: how the folders were understood, a line for each.

    Raises:
      DataError: it cannot be read, or its folders are not those of at least two classes.
    """

    def __init__(self, root: Path, seed: int = 0) -> None:
        self.origin = f"pictures of the folder {Path(os.path.abspath(root)).name}"
        self._walk = folder_walk.FolderWalk(root)
        layout = folder_layout.read_folder_layout(self._walk)
        splits, empty = self._check_splits(layout.splits, layout.top)
        names = sort_class_names(name for files in splits.values() for name in files)
        self.class_names = format_class_names(names)
        table = self._take_group_table(layout.top)
        self.notes = [*layout.notes, *self._walk.describe_skipped()]
        self.tree = layout.tree
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
        self._levels, survey.tree = survey.levels, self.tree
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
