"""CIFAR-10 and CIFAR-100 in their binary version; their Python version is pickled, and refused.

A record is a label (of CIFAR-100 a coarse one, then a fine one) and the 32×32 pixels of the red,
the green and the blue plane, row by row, a byte each.

Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009, and the
description that comes with the files.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.arrays.array_files import convert_array_errors, read_exact_bytes
from ensemble.datasets.own.sources.source_folder import SourceFolder
from ensemble.errors import DataError
from ensemble.storage.arrays.npy import ArrayHeader
from ensemble.storage.plain_files import open_plain_file, read_limited_bytes

SIDE = 32
PIXELS = 3 * SIDE * SIDE
BLOCK = 1000  # records that are read in one go
_MAX_NAMES_BYTES = 2**16
_MAX_NAME = 200  # characters of a class's name that are read
# Files of the Python version, which are pickles and have no ending, and their archives.
_PICKLED_PATTERN = re.compile(r"data_batch_\d+|test_batch|batches\.meta|cifar-100?-python\.(tar|tar\.gz|tgz)", re.I)
_PICKLED_CIFAR100 = {"train", "test", "meta"}
_BINARY_NAME_PATTERN = re.compile(r"data_batch_\d+\.bin|test_batch\.bin", re.I)


@dataclass(frozen=True)
class _CifarVersion:
    """How the files of one of the two are called, and how their records begin.

    Attributes:
      title: as it is known.
      pattern: of the training files' names.
      test: the test file's name.
      names: the file of the classes' names, one a line.
      label_bytes: bytes before the pixels; the last is the class.
      batches: how many training files there are.
    """

    title: str
    pattern: re.Pattern[str]
    test: str
    names: str
    label_bytes: int
    batches: int


_VERSIONS = (
    _CifarVersion(
        title="CIFAR-10",
        pattern=re.compile(r"data_batch_(\d+)\.bin"),
        test="test_batch.bin",
        names="batches.meta.txt",
        label_bytes=1,
        batches=5,
    ),
    _CifarVersion(
        title="CIFAR-100",
        pattern=re.compile(r"train()\.bin"),
        test="test.bin",
        names="fine_label_names.txt",
        label_bytes=2,
        batches=1,
    ),
)


class CifarArrays:
    """The arrays of CIFAR's binary files; an `array_source.NamedArrays`.

    Args:
      folder: where they lie.
      version: which of the two they are of.

    Raises:
      DataError: they cannot be read, or have other lengths than they should.
    """

    def __init__(self, folder: SourceFolder, version: _CifarVersion) -> None:
        self.name, self._version = folder.path.name, version
        self.origin = f"{version.title}'s binary version in the folder {self.name}"
        self.required = f"The folder has to hold the files of {version.title}'s binary version."
        self._files = {"train": _find_training_files(folder, version)}
        if tests := [path for path in folder.files if path.name.lower() == version.test]:
            self._files["test"] = tests
        self._counts = {path: self._count_records(path) for paths in self._files.values() for path in paths}
        self._class_names = _read_class_names(folder, version)
        self.names = [f"{split}_{role}" for split in self._files for role in ("images", "labels")]
        if self._class_names:
            self.names.append("class_names")
        self.notes = self._describe_files()

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array."""
        if name == "class_names":
            names = np.array(self._class_names)
            return ArrayHeader(names.dtype, names.shape, fortran_order=False, start=0)
        split, role = name.split("_")
        count = sum(self._counts[path] for path in self._files[split])
        shape = (count, SIDE, SIDE, 3) if role == "images" else (count,)
        return ArrayHeader(np.dtype(np.uint8), shape, fortran_order=False, start=0)

    def read_array(self, name: str) -> NDArray[Any]:
        """The labels (N,) of a split, or the classes' names (C,)."""
        if name == "class_names":
            return np.array(self._class_names)
        blocks = [block[:, 0] for block in self._iterate_records(name.split("_")[0], labels=True)]
        return np.concatenate(blocks)

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The pictures of a split, some at a time: uint8 (n, 32, 32, 3)."""
        for block in self._iterate_records(name.split("_")[0], labels=False):
            yield block.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)

    def _iterate_records(self, split: str, labels: bool) -> Iterator[NDArray[np.uint8]]:
        """The classes (n, 1) or the pixels (n, 3·32·32) of a split's records."""
        first = self._version.label_bytes
        for path in self._files[split]:
            with convert_array_errors(path), open_plain_file(path) as file:
                for start in range(0, self._counts[path], BLOCK):
                    some = min(BLOCK, self._counts[path] - start)
                    records = read_exact_bytes(file, some * (first + PIXELS)).reshape(some, -1)
                    yield records[:, first - 1 : first] if labels else records[:, first:]

    def _count_records(self, path: Path) -> int:
        record = self._version.label_bytes + PIXELS
        with convert_array_errors(path), open_plain_file(path) as file:
            size = os.fstat(file.fileno()).st_size
        if not size or size % record:
            raise DataError(
                f"{path.name} has {size:,} bytes, and {self._version.title}'s binary files have "
                f"{record:,} for each image: use another copy."
            )
        return size // record

    def _describe_files(self) -> list[str]:
        notes, files = [], [path.name for path in self._files["train"]]
        if self._version.label_bytes == 2:
            notes.append("The fine labels are the classes; the coarse labels are not used.")
        if len(files) != self._version.batches:
            notes.append(
                f"The folder has {len(files)} training files ({format_name_list(files, 5)}); "
                f"{self._version.title} has {self._version.batches}."
            )
        if not self._class_names:
            notes.append(f"The classes are numbers: {self._version.names}, with their names, is not there.")
        return notes


def find_cifar_version(folder: SourceFolder) -> _CifarVersion | None:
    """Which of the two a folder holds in its binary version; None for none.

    Raises:
      DataError: it holds the Python version.
    """
    names = {path.name.lower() for path in folder.files}
    for version in _VERSIONS:
        if any(map(version.pattern.fullmatch, names)):
            return version
    if any(map(_PICKLED_PATTERN.fullmatch, names)) or names >= _PICKLED_CIFAR100:
        raise DataError(_describe_pickled_cifar(folder.path.name))
    return None


def _describe_pickled_cifar(name: str) -> str:
    return (
        f"{name} is CIFAR's Python version, which is pickled, and nothing is ever unpickled here: "
        "give the folder of the binary version (cifar-10-binary.tar.gz or "
        "cifar-100-binary.tar.gz, unpacked)."
    )


def check_cifar_file(path: Path) -> None:
    """DataError where one file of CIFAR is given for all of them."""
    if _PICKLED_PATTERN.fullmatch(path.name):
        raise DataError(_describe_pickled_cifar(path.name))
    if _BINARY_NAME_PATTERN.fullmatch(path.name):
        raise DataError(f"{path.name} is a part of CIFAR-10: give the folder that it lies in.")


def _find_training_files(folder: SourceFolder, version: _CifarVersion) -> list[Path]:
    found = [
        (int(match[1] or 0), path) for path in folder.files if (match := version.pattern.fullmatch(path.name.lower()))
    ]
    return [path for _, path in sorted(found)]


def _read_class_names(folder: SourceFolder, version: _CifarVersion) -> Sequence[str]:
    for path in folder.files:
        if path.name.lower() == version.names:
            try:
                text = read_limited_bytes(path, _MAX_NAMES_BYTES).decode("utf-8", "replace")
            except (OSError, ValueError) as error:
                raise DataError(
                    f"{path.name} cannot be read ({error}): give one with a class's name in each line, or remove it."
                ) from error
            return [line.strip()[:_MAX_NAME] for line in text.splitlines() if line.strip()]
    return []
