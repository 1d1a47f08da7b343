"""Parquet of encoded pictures, as Hugging Face's datasets are kept: a file, or several shards.

A column holds the pictures (`image`, a struct of `bytes` and `path`, or the bytes alone), another
the class: a number whose name the file's own metadata tells (`ClassLabel`), or a name.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from ensemble.datasets.own.source import (
    format_class_names,
    sort_class_names,
)
from ensemble.datasets.own.sources.encoded.encoded_pictures import EncodedPictures
from ensemble.datasets.own.sources.encoded.parquet_columns import (
    NEEDED,
    find_shard_columns,
)
from ensemble.datasets.own.sources.encoded.picture_shards import (
    assign_shard_splits,
    describe_unlabelled_pictures,
)
from ensemble.datasets.own.sources.folders.group_table import number_group_names
from ensemble.datasets.own.sources.folders.split_names import normalize_name
from ensemble.errors import DataError
from ensemble.storage.arrays.parquet_page_sizes import iterate_page_sizes
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

MAX_GROUP_BYTES = 2**30  # of a row group's pictures, which are unpacked together
CACHED_GROUPS = 2
MAX_TEXT = 1_000  # characters of a class's or group's name
Labels = list[str | None]


class PictureShard:
    """A Parquet file whose pictures are read by row; the last row groups are kept.

    Raises:
      DataError: it cannot be read, or has no such columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._cached: dict[int, list[bytes | None]] = {}
        self._metadata = None
        with self._open() as file:
            self._metadata = file.metadata
            self.columns = find_shard_columns(path, file.schema_arrow)
        self._check_sizes()
        self.starts = [0]
        for number in range(self._metadata.num_row_groups):
            self.starts.append(self.starts[-1] + self._metadata.row_group(number).num_rows)

    def read_labels(self) -> Labels:
        """The class of each row as text; None where it has none."""
        names = self.columns.names
        labels: Labels = []
        for value in self._read_column(self.columns.labels):
            if value is None or value == "" or (names and value == -1):
                labels.append(None)
            elif names is None:
                labels.append(normalize_name(" ".join(str(value).split())))
            elif isinstance(value, int) and 0 <= value < len(names):
                labels.append(names[value])
            else:
                raise DataError(
                    f"{self.path.name} has a class {value!r:.40}, but names {len(names):,} from 0 "
                    "on: use another copy."
                )
        return labels

    def read_groups(self) -> list[str]:
        """The group of each row; none without such a column."""
        if not self.columns.groups:
            return []
        return [str(value) for value in self._read_column(self.columns.groups)]

    def list_pictures(self) -> "list[ParquetPicture]":
        """Where each row's picture is."""
        return [
            ParquetPicture(self, group, place)
            for group, (start, end) in enumerate(pairwise(self.starts))
            for place in range(end - start)
        ]

    def read_picture(self, group: int, place: int) -> bytes:
        """The picture at a place of a row group; DataError where it cannot be read."""
        with self._lock:
            if group not in self._cached:
                while len(self._cached) >= CACHED_GROUPS:
                    del self._cached[next(iter(self._cached))]
                self._cached[group] = self._read_pictures(group)
            content = self._cached[group][place]
        return content or b""

    def _read_pictures(self, group: int) -> list[bytes | None]:
        with self._open() as file:
            table = file.read_row_group(group, columns=[self._picture_path()])
        column = table.column(0).combine_chunks()
        if self.columns.is_struct:
            column = column.field("bytes")
        pictures: list[bytes | None] = column.to_pylist()
        return pictures

    def _picture_path(self) -> str:
        return f"{self.columns.pictures}.bytes" if self.columns.is_struct else self.columns.pictures

    def _read_column(self, name: str) -> list[Any]:
        values: list[Any] = []
        with self._open(name) as file:
            for batch in file.iter_batches(2**14, columns=[name]):
                column = batch.column(0)
                if not pa.types.is_dictionary(column.type):
                    values += column.to_pylist()
                    continue
                # A text that stands in many rows is there once.
                texts = column.dictionary.to_pylist()
                if any(isinstance(text, str) and len(text) > MAX_TEXT for text in texts):
                    raise DataError(
                        f"{self.path.name} has a text of more than {MAX_TEXT:,} characters in "
                        f"{name}: a class or group has a short name."
                    )
                values += [None if at is None else texts[at] for at in column.indices.to_pylist()]
        return values

    @contextmanager
    def _open(self, *texts: str) -> Iterator[Any]:
        """The file, open while it is read: of thousands of shards few are at once.

        Args:
          texts: columns of which each text is kept once, if they are of text.
        """
        try:
            with open_plain_file(self.path) as file:
                yield pa.parquet.ParquetFile(
                    file, metadata=self._metadata, read_dictionary=list(texts)
                )
        except (pa.ArrowException, ValueError, OSError) as error:
            raise self._convert(error) from error

    def _check_sizes(self) -> None:
        """Refuse pictures that are none, and pages that ask for more memory than is given."""
        wanted = (self._picture_path(), self.columns.labels, self.columns.groups)
        without = []
        with self._open() as file, open_plain_file(self.path) as raw:
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                for place in range(group.num_columns):
                    column = group.column(place)
                    if column.path_in_schema not in wanted:
                        continue
                    if sum(iterate_page_sizes(raw, column)) > MAX_GROUP_BYTES:
                        raise DataError(
                            f"{self.path.name} has row groups of more than "
                            f"{MAX_GROUP_BYTES / 2**30:.0f} GB: save it with smaller ones."
                        )
                    if column.path_in_schema == wanted[0] and column.statistics:
                        without.append(column.statistics.null_count == group.num_rows)
        if without and all(without):
            raise DataError(
                f"{self.path.name} holds the paths of pictures, not the pictures: save it with "
                "their bytes."
            )

    def _convert(self, error: Exception) -> DataError:
        if isinstance(error, DataError):
            return error
        if isinstance(error, OSError) and error.errno:
            return DataError(
                f"{self.path.name} cannot be read ({describe_error_with_path(error)}): use another."
            )
        return DataError(f"{self.path.name} is no Parquet file, or damaged: use another copy.")


@dataclass(frozen=True)
class ParquetPicture:
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


class ParquetSource(EncodedPictures[ParquetPicture]):
    """Pictures in Parquet files; a `source.PictureSource`.

    Args:
      paths: of the files.
      root: the folder that was named, or the file.

    Raises:
      DataError: a file cannot be read, they do not fit together, or not at least two classes.
    """

    def __init__(self, paths: Sequence[Path], root: Path) -> None:
        super().__init__([])
        self.origin = f"Parquet of {Path(os.path.abspath(root)).name}"
        self.groups: dict[str, NDArray[np.int64]] = {}
        splits, self.notes = assign_shard_splits(paths, root)
        shards = {path: PictureShard(path) for path in splits}
        self._check_same_columns(list(shards.values()))
        columns = next(iter(shards.values())).columns
        labels = {path: shard.read_labels() for path, shard in shards.items()}
        every = {label for each in labels.values() for label in each if label is not None}
        ordered = [name for name in columns.names or sort_class_names(every) if name in every]
        if len(ordered) < 2:
            count = f"{len(ordered)} class{'' if len(ordered) == 1 else 'es'}"
            raise DataError(f"{root.name} holds pictures of {count}, not of 2 or more: {NEEDED}.")
        self.class_names = format_class_names(ordered)
        self.notes.insert(
            0,
            f"Classes are read from the column {columns.labels}, pictures from {columns.pictures}.",
        )
        numbers = {name: number for number, name in enumerate(ordered)}
        hidden = sum(label is None for each in labels.values() for label in each)
        if hidden:
            self.notes.append(f"{describe_unlabelled_pictures(hidden)}.")
        named: dict[str, list[str]] = {}
        for split in sorted(set(splits.values()), reverse=True):
            files, of_files, groups = list[ParquetPicture](), list[int](), list[str]()
            for path in (path for path in splits if splits[path] == split):
                pictures = shards[path].list_pictures()
                group_names = shards[path].read_groups() or [""] * len(pictures)
                for picture, label, group in zip(pictures, labels[path], group_names, strict=True):
                    if label is not None:
                        files.append(picture)
                        of_files.append(numbers[label])
                        groups.append(group)
            if files:
                self.add_ordered_split(split, files, of_files)
                named[split] = groups
        if "train" not in self.labels:
            raise DataError(f"{root.name} holds no picture with a class to learn from: {NEEDED}.")
        if columns.groups:
            self.groups = number_group_names(named)

    def _check_same_columns(self, shards: Sequence[PictureShard]) -> None:
        first = shards[0]
        for shard in shards[1:]:
            if shard.columns != first.columns:
                raise DataError(
                    f"{shard.path.name} has other columns or classes than {first.path.name}: keep "
                    "the files of one dataset in the folder."
                )
