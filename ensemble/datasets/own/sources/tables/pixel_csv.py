"""Pictures in tables of pixels, a row each: see `pixel_columns` for their forms.

A file is read line by line, gzipped or not: once for the labels, then for the pixels.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.datasets.own.sources.source_folder import SourceFolder
from ensemble.datasets.own.sources.tables.pixel_table import PixelTable, find_pixel_table
from ensemble.errors import DataError
from ensemble.files.labels import find_missing_labels
from ensemble.storage.arrays.npy import ArrayHeader

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,15}(\.0*)?")  # as pandas writes them where one is missing
_FER_NAMES = ("Angry", "Disgust", "Fear", "Happy", "Sad", "Surprise", "Neutral")


class _PixelArrays:
    """The arrays of tables of pixels; an `array_source.NamedArrays`.

    Args:
      tables: by the split that the file's name says; one that names splits itself has "train".
      where: the file or folder that was given.
      notes: what was left out by now.

    Raises:
      DataError: one cannot be read, or has rows of other lengths.
    """

    required = "The table has to hold a label and the pixels of an image in each row."

    def __init__(self, tables: dict[str, PixelTable], where: Path, notes: Sequence[str] = ()) -> None:
        self.name, self.notes = where.name, list(notes)
        self.origin = f"pixels in the table {where.name}"
        self._parts: dict[str, tuple[PixelTable, str]] = {}
        for file_split, table in tables.items():
            if table.columns.label is None:
                raise DataError(f"{table.name} has no column of labels: each row needs one beside its pixels.")
            table.read_labels(table.columns.label)
            self.notes += [note for note in table.columns.notes if note not in self.notes]
            for split in table.list_splits():
                named = split or file_split
                if named in self._parts:
                    raise DataError(
                        f"{self._parts[named][0].name} and {table.name} both have {named} images: give one of them."
                    )
                self._parts[named] = table, split
        if any(map(_is_turned, tables.values())):
            self.notes.append("EMNIST's tables hold images on their side: they were turned upright.")
        every = [label for table in tables.values() for label in table.labels]
        self._numbers = all(map(_WHOLE_NUMBER.fullmatch, set(every) - find_missing_labels(every)))
        self._class_names = self._find_emotion_names()
        self.names = [f"{split}_{role}" for split in self._parts for role in ("images", "labels")]
        if self._class_names:
            self.names.append("class_names")

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array."""
        if name == "class_names":
            names = np.array(self._class_names)
            return ArrayHeader(names.dtype, names.shape, fortran_order=False, start=0)
        labels = self.read_array(f"{name.split('_')[0]}_labels")
        if name.endswith("labels"):
            return ArrayHeader(labels.dtype, labels.shape, fortran_order=False, start=0)
        shape = (len(labels), *self._parts[name.split("_")[0]][0].shape)
        return ArrayHeader(np.dtype(np.float32), shape, fortran_order=False, start=0)

    def read_array(self, name: str) -> NDArray[Any]:
        """The labels (N,) of a split, or the classes' names (C,)."""
        if name == "class_names":
            return np.array(self._class_names)
        table, split = self._parts[name.split("_")[0]]
        return table.select_labels(split, self._numbers)

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The pictures of a split, some at a time."""
        table, split = self._parts[name.split("_")[0]]
        for block in table.iterate_images(split):
            yield block.swapaxes(1, 2) if _is_turned(table) else block

    def _find_emotion_names(self) -> Sequence[str]:
        """FER2013 numbers its seven emotions, which its description names."""
        numbers = set(map(str, range(len(_FER_NAMES))))
        for table, _ in self._parts.values():
            columns = table.columns
            if not columns.joined or columns.label_name != "emotion":
                return ()
            if not set(table.labels) <= numbers:
                return ()
        self.notes.append(f"The labels 0 to 6 are FER2013's emotions: {format_name_list(_FER_NAMES, 7)}.")
        return _FER_NAMES


def _is_turned(table: PixelTable) -> bool:
    """Whether pictures have height and width the other way round, as EMNIST has them."""
    return table.name.lower().startswith("emnist")


def open_pixel_file(path: Path) -> _PixelArrays:
    """The arrays of one table of pixels; DataError where it is none."""
    table = find_pixel_table(path)
    if table is None:
        raise DataError(
            f"{path.name} is not a table of pixels: it has to have a column label and one for each pixel "
            "(label, pixel0, pixel1, …). For a table of labels beside images, give their folder."
        )
    return _PixelArrays({"train": table}, path)


def find_pixel_files(folder: SourceFolder) -> _PixelArrays | None:
    """The arrays of the tables of pixels in a folder; None where there are none.

    Raises:
      DataError: several are of the same images, or one cannot be read.
    """
    labelled, notes, left = list[PixelTable](), list[str](), list[str]()
    problem: DataError | None = None
    for path in _list_tables(folder):
        try:
            table = find_pixel_table(path)
        except DataError as error:
            table, problem = None, problem or error  # any other table may be next to pictures
        # Beside folders, which may be of pictures, other columns of numbers may be features.
        if table and folder.folders and not table.columns.pixel_name.startswith("p"):
            table = None
        if table is None:
            left.append(path.name)
        elif table.columns.label is None:
            notes.append(f"{table.name} has no labels and is left out.")
        else:
            labelled.append(table)
    if problem and not labelled and not folder.holds_pictures:
        raise problem
    if not labelled:
        return None
    if left:
        notes.append(f"Tables that hold no pixels are not used: {format_name_list(left)}.")
    tables: dict[str, PixelTable] = {}
    for table in labelled:
        split = "train" if len(labelled) == 1 else _parse_file_split(table.name) or "train"
        if split in tables:
            raise DataError(
                f"{tables[split].name} and {table.name} both have {split} images: give one of "
                "them, or leave one in the folder."
            )
        tables[split] = table
    if "train" not in tables:
        raise DataError(f"{folder.path.name} has no table of training images: call one train.csv.")
    return _PixelArrays(tables, folder.path, notes)


def _parse_file_split(name: str) -> str | None:
    """The split that a file's name says, as `sign_mnist_test.csv` does; None for none."""
    words = re.split(r"[_\-. ]", name.lower())
    return next((split for word in words if (split := array_values.parse_split_name(word))), None)


def _list_tables(folder: SourceFolder) -> list[Path]:
    """The tables in a folder; of one that is there gzipped too, only the other."""
    paths = folder.select_files(*SUFFIXES)
    names = {path.name for path in paths}
    return [path for path in paths if path.name.removesuffix(".gz") not in names - {path.name}]
