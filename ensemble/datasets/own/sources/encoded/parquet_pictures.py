"""Parquet of encoded pictures, as Hugging Face's datasets are kept: a file, or several shards.

A column holds the pictures (`image`, a struct of `bytes` and `path`, or the bytes alone), another
the class: a number whose name the file's own metadata tells (`ClassLabel`), or a name.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_class_names, sort_class_names
from ensemble.datasets.own.sources.encoded.encoded_pictures import EncodedPictures
from ensemble.datasets.own.sources.encoded.parquet_columns import NEEDED, find_shard_columns
from ensemble.datasets.own.sources.encoded.picture_shards import assign_shard_splits, describe_unlabelled_pictures
from ensemble.datasets.own.sources.folders.group_table import number_group_names
from ensemble.datasets.own.sources.folders.layout_reading import assign_split_roles
from ensemble.datasets.own.sources.folders.split_columns import SplitColumns, read_split_columns
from ensemble.datasets.own.sources.folders.split_names import normalize_name
from ensemble.errors import DataError
from ensemble.files.columns import list_unused_notes
from ensemble.files.labels import find_missing_labels
from ensemble.files.table_process import LargeColumnError, TableProcess
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

MAX_GROUP_BYTES = 2**30  # of a row group's pictures, which are unpacked together
_PICTURE_BATCH_ROWS = 256
_CACHED_GROUPS = 2
_MAX_TEXT = 1_000  # characters of a class's or group's name
Labels = list[str | None]


class PictureShard:
    """A Parquet or Arrow file whose pictures are read by row; the last row groups are kept.

    Args:
      path: of the file.
      process: that reads it; the shards of one dataset share one.

    Raises:
      DataError: it cannot be read, or has no such columns.
    """

    def __init__(self, path: Path, process: TableProcess | None = None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._cached: dict[int, list[bytes | None] | DataError] = {}
        self._bomb: DataError | None = None  # once a row group was too large, none other is read
        self._process = process or TableProcess()
        with self._name_in_errors():
            with open_plain_file(path):  # a folder, a pipe or a device is refused here
                layout = self._process.read_layout(path)
            self.columns = find_shard_columns(path, layout.schema)
        if self._picture_path() in layout.empty:
            raise DataError(f"{path.name} holds the paths of pictures, not the pictures: save it with their bytes.")
        if layout.largest.get(self._picture_path(), 0) > MAX_GROUP_BYTES:
            raise self._refuse_large_groups()
        self.starts = [0, *accumulate(layout.row_groups)]

    def read_labels(self) -> Labels:
        """The class of each row as text; None where it has none.

        Raises:
          DataError: classes are fractions, or numbers that the file does not name.
        """
        names = self.columns.names
        labels: Labels = []
        values = self._read_column(self.columns.labels)
        missing = find_missing_labels({"" if value is None else value for value in values}, names or ())
        for value in values:
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if value is None or str(value) in missing:
                labels.append(None)
            elif isinstance(value, float):
                raise DataError(
                    f"{self.columns.labels} of {self.path.name} holds fractions such as {value:g}: these look like "
                    "numbers to predict, not classes. Give each picture one of a few classes."
                )
            elif names is None or value in names:
                labels.append(normalize_name(" ".join(str(value).split())))
            elif isinstance(value, int) and 0 <= value < len(names):
                labels.append(names[value])
            else:
                raise DataError(
                    f"{self.path.name} has a class {value!r:.40}, but names {len(names):,} from 0 on: use another copy."
                )
        return labels

    def read_splits(self) -> SplitColumns:
        """The split of each row by the columns of the file."""
        cells = {
            name: ["" if value is None else str(value) for value in self._read_column(name)]
            for name in self.columns.others
        }
        return read_split_columns(cells, self.path.name)

    def read_groups(self) -> list[str]:
        """The group of each row; none without such a column."""
        if not self.columns.groups:
            return []
        return [str(value) for value in self._read_column(self.columns.groups)]

    def list_pictures(self) -> "list[_ParquetPicture]":
        """Where each row's picture is."""
        return [
            _ParquetPicture(self, group, place)
            for group, (start, end) in enumerate(pairwise(self.starts))
            for place in range(end - start)
        ]

    def read_picture(self, group: int, place: int) -> bytes:
        """The picture at a place of a row group; DataError where it cannot be read."""
        with self._lock:
            if group not in self._cached:
                while len(self._cached) >= _CACHED_GROUPS:
                    del self._cached[next(iter(self._cached))]
                self._cached[group] = self._read_pictures(group)
            pictures = self._cached[group]
        if isinstance(pictures, DataError):
            raise pictures
        return pictures[place] or b""

    def _read_pictures(self, group: int) -> list[bytes | None] | DataError:
        """Read a row group; return the reason if it cannot be read, so that it is tried once."""
        if self._bomb:
            return self._bomb
        batches = self._process.read_batches(
            self.path,
            [self._picture_path()],
            row_group=group,
            batch_rows=_PICTURE_BATCH_ROWS,
            most_bytes=MAX_GROUP_BYTES,
        )
        pictures: list[bytes | None] = []
        try:
            with self._name_in_errors():
                for batch in batches:
                    column = batch.column(0)
                    encoded = column.field("bytes") if self.columns.is_struct else column
                    pictures += encoded.to_pylist()
        except DataError as error:
            if isinstance(error.__cause__, LargeColumnError):
                self._bomb = error
            return error
        return pictures

    def _picture_path(self) -> str:
        return f"{self.columns.pictures}.bytes" if self.columns.is_struct else self.columns.pictures

    def _read_column(self, name: str) -> list[Any]:
        values: list[Any] = []
        with self._name_in_errors():
            for batch in self._process.read_batches(self.path, [name], most_cell=_MAX_TEXT):
                values += batch.column(0).to_pylist()
        if any(isinstance(value, str) and len(value) > _MAX_TEXT for value in values):
            raise self._refuse_long_text(name)
        return values

    def _refuse_long_text(self, name: str) -> DataError:
        return DataError(
            f"{self.path.name} has a text of more than {_MAX_TEXT:,} characters in {name}: a class "
            "or group has a short name."
        )

    def _refuse_large_groups(self) -> DataError:
        return DataError(
            f"{self.path.name} has row groups of more than {MAX_GROUP_BYTES / 2**30:.0f} GB: save it with smaller ones."
        )

    @contextmanager
    def _name_in_errors(self) -> Iterator[None]:
        """Convert errors of the file to DataError with its name."""
        try:
            yield
        except LargeColumnError as error:
            if error.column:
                raise self._refuse_long_text(error.column) from error
            raise self._refuse_large_groups() from error
        except DamagedFileError as error:
            raise DataError(f"{self.path.name}: {error}") from error
        except OSError as error:
            raise DataError(
                f"{self.path.name} cannot be read ({describe_error_with_path(error)}): use another."
            ) from error


@dataclass(frozen=True)
class _ParquetPicture:
    """A picture in a row of a shard.

    Attributes:
      shard: the shard.
      group: the number of the row group.
      place: the row within it.
    """

    shard: PictureShard
    group: int
    place: int

    @property
    def name(self) -> str:
        """The file and the row, from 0."""
        return f"{self.shard.path.name}, row {self.shard.starts[self.group] + self.place:,}"

    def read_bytes(self) -> bytes:
        """The picture as encoded; nothing where the row has none."""
        return self.shard.read_picture(self.group, self.place)


class ParquetSource(EncodedPictures[_ParquetPicture]):
    """Pictures in Parquet or Arrow files; a `source.PictureSource`.

    Args:
      paths: of the files.
      root: the folder that was named, or the file.

    Raises:
      DataError: a file cannot be read, they do not fit together, or not at least two classes.
    """

    def __init__(self, paths: Sequence[Path], root: Path) -> None:
        super().__init__([])
        self.origin = f"{'Arrow' if paths[0].suffix == '.arrow' else 'Parquet'} of {Path(os.path.abspath(root)).name}"
        self.groups: dict[str, NDArray[np.int64]] = {}
        splits, self.notes = assign_shard_splits(paths, root)
        process = TableProcess()
        shards = {path: PictureShard(path, process) for path in splits}
        self._check_same_columns(list(shards.values()))
        columns = next(iter(shards.values())).columns
        labels = {path: shard.read_labels() for path, shard in shards.items()}
        every = {label for each in labels.values() for label in each if label is not None}
        ordered = [name for name in columns.names or sort_class_names(every) if name in every]
        if len(ordered) < 2:
            count = f"{len(ordered)} class{'' if len(ordered) == 1 else 'es'}"
            raise DataError(f"{root.name} holds pictures of {count}, not of 2 or more: {NEEDED}.")
        self.class_names = format_class_names(ordered)
        self.notes.insert(0, f"Classes are read from the column {columns.labels}, pictures from {columns.pictures}.")
        numbers = {name: number for number, name in enumerate(ordered)}
        hidden = sum(label is None for each in labels.values() for label in each)
        if hidden:
            self.notes.append(f"{describe_unlabelled_pictures(hidden)}.")
        rows_of: dict[str, list[tuple[_ParquetPicture, int, str]]] = {}
        split_of_rows = self._follow_columns(shards) if set(splits.values()) == {"train"} else {}
        for path, shard in shards.items():
            pictures = shard.list_pictures()
            group_names = shard.read_groups() or [""] * len(pictures)
            split_names = split_of_rows.get(path) or [splits[path]] * len(pictures)
            for picture, label, group, split in zip(pictures, labels[path], group_names, split_names, strict=True):
                if label is not None:
                    rows_of.setdefault(split, []).append((picture, numbers[label], group))
        named: dict[str, list[str]] = {}
        for split in sorted(rows_of, reverse=True):
            files, of_files, named[split] = map(list, zip(*rows_of[split], strict=True))
            self.add_ordered_split(split, files, of_files)
        self.notes += list_unused_notes(columns.unused, file=root.name)
        if "train" not in self.labels:
            raise DataError(f"{root.name} holds no picture with a class to learn from: {NEEDED}.")
        if columns.groups:
            self.groups = number_group_names(named)

    def _follow_columns(self, shards: Mapping[Path, PictureShard]) -> dict[Path, list[str]]:
        """The split of each row, "train" or "test", by columns; {} if no column divides them."""
        said = {path: shard.read_splits() for path, shard in shards.items()}
        self.notes += dict.fromkeys(note for each in said.values() for note in each.notes)
        splits = {path: [split or "train" for split in each.splits or ()] for path, each in said.items()}
        if not all(each.splits for each in said.values()):
            return {}
        roles, notes = assign_split_roles({split for each in splits.values() for split in each})
        self.notes += notes
        return {path: [roles[split] for split in each] for path, each in splits.items()}

    def _check_same_columns(self, shards: Sequence[PictureShard]) -> None:
        first = shards[0]
        for shard in shards[1:]:
            if shard.columns != first.columns:
                raise DataError(
                    f"{shard.path.name} has other columns or classes than {first.path.name}: keep "
                    "the files of one dataset in the folder."
                )
