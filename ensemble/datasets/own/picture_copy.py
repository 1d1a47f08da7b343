"""Every picture of a source read once, and written to where it belongs as it is read."""

import contextlib
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own import arrays
from ensemble.datasets.own.row_writer import RowWriter
from ensemble.datasets.own.source import DatasetImageFormat, PictureSource, Pixels, UnreadablePicture
from ensemble.datasets.progress import REPORT_INTERVAL_S, Progress

_MAX_UNREADABLE_LISTED = 20  # unreadable files; the others are counted
SPLITS = arrays.SPLITS


@dataclass
class CopyResult:
    """What is gathered while pictures are copied."""

    labels: dict[str, list[int]] = field(default_factory=lambda: {split: [] for split in SPLITS})
    groups: dict[str, list[int]] = field(default_factory=lambda: {split: [] for split in SPLITS})
    hashes: dict[str, "array[int]"] = field(default_factory=lambda: {split: array("Q") for split in SPLITS})
    unreadable: list[UnreadablePicture] = field(default_factory=list)
    unreadable_count: int = 0
    digests: list[str] = field(default_factory=list)


class CopyProgress:
    """Says how many pictures are read, ten times a second."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total = progress, total
        self._done, self._told = 0, -REPORT_INTERVAL_S

    def count_picture(self) -> None:
        """One more is read."""
        self._done += 1
        if self._progress and time.monotonic() - self._told >= REPORT_INTERVAL_S:
            self._told = time.monotonic()
            message = f"Reading pictures, {self._done:,} of {self._total:,}"
            self._progress(min(self._done / self._total, 0.99), message)


def copy_pictures(
    folder: Path, source: PictureSource, form: DatasetImageFormat, tests: NDArray[np.bool_] | None, teller: CopyProgress
) -> CopyResult:
    copied = CopyResult()
    with contextlib.ExitStack() as open_files:

        def open_row_writer(split: str, what: str, dtype: str, shape: tuple[int, ...]) -> RowWriter:
            path = folder / f"{split}_{what}.npy"
            return open_files.enter_context(RowWriter(path, dtype, shape))

        images = {split: open_row_writer(split, "images", "uint8", form.shape) for split in SPLITS}
        labels = {split: open_row_writer(split, "labels", "int32", ()) for split in SPLITS}
        for split, number, picture in _iterate_source_pictures(source, form):
            teller.count_picture()
            if isinstance(picture, UnreadablePicture):
                copied.unreadable_count += 1
                if len(copied.unreadable) < _MAX_UNREADABLE_LISTED:
                    copied.unreadable.append(picture)
                continue
            part = split if tests is None else SPLITS[int(tests[number])]
            images[part].append(picture[np.newaxis])
            copied.labels[part].append(int(source.labels[split][number]))
            if split in source.groups:
                copied.groups[part].append(int(source.groups[split][number]))
            copied.hashes[part].append(_hash_picture(picture))
        for split in SPLITS:
            labels[split].append(np.array(copied.labels[split], np.int32))
        writers = [*images.values(), *labels.values()]
        for split in SPLITS:
            if copied.groups[split]:
                groups = open_row_writer(split, "groups", "int64", ())
                groups.append(np.array(copied.groups[split], np.int64))
                writers.append(groups)
        copied.digests = [writer.finish() for writer in writers]
    return copied


def _iterate_source_pictures(
    source: PictureSource, form: DatasetImageFormat
) -> Iterator[tuple[str, int, Pixels | UnreadablePicture]]:
    for split in source.labels:
        for number, picture in enumerate(source.iterate_pictures(split, form)):
            yield split, number, picture


def _hash_picture(image: Pixels) -> int:
    """A number of 64 bits that equal pictures share, within this process."""
    return hash(image.tobytes()) & 0xFFFF_FFFF_FFFF_FFFF
