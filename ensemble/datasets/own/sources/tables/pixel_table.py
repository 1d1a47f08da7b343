"""One table of pixels: its labels by a first reading, its pictures by a second."""

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.request import sanitize_text
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.datasets.own.sources.tables.csv_rows import CsvRows
from ensemble.datasets.own.sources.tables.pixel_columns import (
    PixelColumns,
    check_features,
    choose_pixel_shape,
    find_pixel_columns,
    parse_split_word,
)
from ensemble.errors import DataError
from ensemble.files.labels import find_missing_labels

_SNIFFED_ROWS = 200  # that say which column of a table without names is the label
_MAX_SNIFFED = 2**25  # characters of them
_MOST_LABELS = 10_000  # different ones, far beyond the classes that are taken
_MAX_LABEL = 200  # characters
BLOCK = 2**20  # pixels that are read in one go
_NO_SPLIT = ""
_BYTE_VALUES = {str(value): value for value in range(256)}  # what most pixels are


@dataclass
class PixelTable:
    """A file of pixels, and what its first reading tells.

    Attributes:
      rows: of the file.
      columns: which are pixels.
      shape: of a picture, (H, W) or (H, W, 3).
      labels: each different one, by its number.
      label_numbers: of each row.
      splits, split_numbers: likewise; `_NO_SPLIT` where no column tells.
    """

    rows: CsvRows
    columns: PixelColumns
    shape: tuple[int, ...]
    labels: dict[str, int] = field(default_factory=dict)
    label_numbers: "array[int]" = field(default_factory=lambda: array("i"))
    splits: dict[str, int] = field(default_factory=dict)
    split_numbers: "array[int]" = field(default_factory=lambda: array("b"))

    @property
    def name(self) -> str:
        """The file's."""
        return self.rows.path.name

    def read_labels(self, label: int) -> None:
        """Reads every row's label, in that column, and its split.

        Raises:
          DataError: one is too long, there are too many, or a row has another number of columns.
        """
        split = self.columns.split
        for number, row in self._iterate_rows():
            name = row[label].strip()
            if len(name) > _MAX_LABEL or len(self.labels) > _MOST_LABELS:
                raise DataError(
                    f"{self.name} has no label of a class in line {number:,}: its column "
                    f"{label + 1} holds {sanitize_text(name):.60}."
                )
            word = row[split].strip() if split is not None else _NO_SPLIT
            if word not in self.splits and word and not parse_split_word(word):
                raise DataError(
                    f"{self.name} has the word “{sanitize_text(word):.60}” for a split in line "
                    f"{number:,}: use train, val or test."
                )
            self.label_numbers.append(self.labels.setdefault(name, len(self.labels)))
            self.split_numbers.append(self.splits.setdefault(word, len(self.splits)))
            if len(self.label_numbers) > array_values.MOST_IMAGES:
                raise DataError(f"{self.name} has more than {array_values.MOST_IMAGES:,} rows: add a part.")
        if not self.label_numbers:
            raise DataError(f"{self.name} has no rows below its header: use another copy.")

    def select_labels(self, split: str, numbers: bool) -> NDArray[Any]:
        """The labels (n,) of a split's rows, as numbers, NaN where there is none, or as text."""
        chosen = np.frombuffer(self.label_numbers, np.intc)[self._select_rows(split)]
        missing = find_missing_labels(self.labels)
        every = (
            [math.nan if name in missing else int(float(name)) for name in self.labels]
            if numbers
            else list(self.labels)
        )
        return np.array(every)[chosen]

    def list_splits(self) -> list[str]:
        """Which splits the rows name; `_NO_SPLIT` for none."""
        return sorted({parse_split_word(word) for word in self.splits}, reverse=True)

    def iterate_images(self, split: str) -> Iterator[NDArray[np.float32]]:
        """The pictures of a split's rows, some at a time: float32 (n, H, W) or (n, H, W, 3)."""
        chosen, held = self._select_rows(split), list[NDArray[np.float32]]()
        rows = max(1, BLOCK // math.prod(self.shape))
        for place, (number, row) in enumerate(self._iterate_rows()):
            if place >= len(chosen):
                raise DataError(f"{self.name} has changed meanwhile: add it again.")
            if chosen[place]:
                held.append(self._parse_pixels(row, number))
            if len(held) == rows:
                yield np.stack(held)
                held = []
        if held:
            yield np.stack(held)

    def _select_rows(self, split: str) -> NDArray[np.bool_]:
        words = [number for word, number in self.splits.items() if parse_split_word(word) == split]
        return np.isin(np.frombuffer(self.split_numbers, np.int8), words)

    def _iterate_rows(self) -> Iterator[tuple[int, list[str]]]:
        for number, row in self.rows.iterate_rows():
            if number == 1 and self.columns.header:
                continue
            if len(row) != self.columns.count:
                raise DataError(
                    f"{self.name} has {len(row):,} columns in line {number:,}, and {self.columns.count:,} in the first."
                )
            yield number, row

    def _parse_pixels(self, row: list[str], line: int) -> NDArray[np.float32]:
        """The picture in a row; DataError where it has other pixels than numbers."""
        columns = self.columns
        if columns.joined:
            fields = row[columns.pixels[0]].split()
        elif columns.contiguous:
            fields = row[columns.pixels[0] : columns.pixels[-1] + 1]
        else:
            fields = [row[place] for place in columns.pixels]
        try:
            pixels = _parse_numbers(fields)
            if len(pixels) == math.prod(self.shape):
                return pixels.reshape(self.shape)
        except ValueError:
            pass
        raise DataError(
            f"{self.name} has something else than {math.prod(self.shape):,} pixels in line "
            f"{line:,}: correct it, or leave it out."
        )


def _parse_numbers(fields: Sequence[str]) -> NDArray[np.float32]:
    """Numbers in text, (n,); ValueError where one is none."""
    try:
        return np.frombuffer(bytes(map(_BYTE_VALUES.__getitem__, fields)), np.uint8).astype("f4")
    except KeyError:
        return np.array(fields, np.float32)


def find_pixel_table(path: Path) -> PixelTable | None:
    """The table of pixels in a file; None where it is another table.

    Raises:
      DataError: it cannot be read, or its pixels make no square.
    """
    rows = CsvRows.open_file(path)
    first, size = list[list[str]](), 0
    for _, row in rows.iterate_rows():
        first.append(row)
        size += sum(map(len, row))
        if len(first) >= _SNIFFED_ROWS or size > _MAX_SNIFFED:
            break
    columns = find_pixel_columns(first)
    if columns is None:
        return None
    count = len(columns.pixels)
    if columns.joined:
        count = len(first[1][columns.pixels[0]].split()) if len(first) > 1 else 0
    check_features(columns, first[int(columns.header) :], path.name)
    return PixelTable(rows, columns, choose_pixel_shape(count, path.name))
