"""MATLAB's .mat files, as those of SVHN: X (H, W, channels, N) or (H, W, N), and y (N, 1).

SciPy reads them. What a file says of its variables is checked before any is read; cells, structs
and objects are refused.

Source of SVHN's form: Y. Netzer and others, "Reading Digits in Natural Images with Unsupervised
Feature Learning", 2011.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.arrays import array_source, array_values
from ensemble.datasets.own.sources.arrays.array_files import MAX_FORTRAN_BYTES, MAX_LABEL_BYTES
from ensemble.datasets.own.sources.source_folder import SourceFolder
from ensemble.errors import DataError
from ensemble.storage.arrays.npy import ArrayHeader
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

SUFFIX, _SVHN_SUFFIX = ".mat", "_32x32.mat"
# MATLAB's names of types that are numbers; what else there is are cells, structs and objects.
_DTYPES: dict[str, "np.dtype[Any]"] = {
    "double": np.dtype("float64"),
    "single": np.dtype("float32"),
    "logical": np.dtype("bool"),
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_SVHN_SHAPE = (32, 32, 3)
_HDF5_START = b"MATLAB 7.3"
BLOCK = 1000  # images that are turned in one go

_Variable = tuple[str, tuple[int, ...], str]  # name, shape, MATLAB's type


@dataclass(frozen=True)
class _MatPart:
    """The images and labels in one file.

    Attributes:
      path: the file.
      images, labels: the variables' names.
      shape: of the images, (N, H, W, channels) or (N, H, W).
      dtype: of the images.
      last: whether the images' last axis counts them in the file, as MATLAB has it; else the first.
    """

    path: Path
    images: str
    labels: str
    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    last: bool


class MatArrays:
    """The arrays of .mat files; an `array_source.NamedArrays`.

    Args:
      files: of each split, in their order.
      where: the file or folder that was given.

    Raises:
      DataError: one cannot be read, or does not hold images and labels.
    """

    required = "A .mat file has to hold X (H, W, channels, N), of whole numbers, and y (N, 1), as SVHN's."

    def __init__(self, files: dict[str, list[Path]], where: Path) -> None:
        self.name, self.notes = where.name, list[str]()
        self.origin = f"MATLAB's arrays in {where.name}"
        self._parts = {split: [_read_mat_part(path, self.required) for path in paths] for split, paths in files.items()}
        self.names = [f"{split}_{role}" for split in self._parts for role in ("images", "labels")]
        for split, parts in self._parts.items():
            if len({(part.shape[1:], part.dtype) for part in parts}) > 1:
                raise DataError(
                    f"The {split} images of {self.name} have different shapes or types: leave one file of them."
                )
        self._labels = {
            split: np.concatenate([_load_labels(part) for part in parts]) for split, parts in self._parts.items()
        }
        self._number_svhn_digits()
        self._note_extra()

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array."""
        split, role = name.split("_")
        if role == "labels":
            labels = self._labels[split]
            return ArrayHeader(labels.dtype, labels.shape, fortran_order=False, start=0)
        first, *_ = parts = self._parts[split]
        count = sum(part.shape[0] for part in parts)
        return ArrayHeader(first.dtype, (count, *first.shape[1:]), fortran_order=False, start=0)

    def read_array(self, name: str) -> NDArray[Any]:
        """The labels (N,) of a split."""
        return self._labels[name.split("_")[0]]

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The images of a split, some at a time; a file is in memory as a whole meanwhile."""
        for part in self._parts[name.split("_")[0]]:
            images = _load_variable(part.path, part.images)
            if part.last:
                images = np.moveaxis(images, -1, 0)
            if images.shape != part.shape:
                raise DataError(f"{part.path.name} is damaged: use another copy.")
            for start in range(0, len(images), BLOCK):
                yield np.ascontiguousarray(images[start : start + BLOCK], part.dtype)

    def _number_svhn_digits(self) -> None:
        """SVHN gives the digit 0 the label 10: where all speaks for it, it becomes 0."""
        shapes = {part.shape[1:] for parts in self._parts.values() for part in parts}
        every = np.unique(np.concatenate(list(self._labels.values())))
        if shapes == {_SVHN_SHAPE} and set(every.tolist()) <= set(range(1, 11)) and 10 in every:
            self._labels = {split: labels % 10 for split, labels in self._labels.items()}
            self.notes.append("The label 10 stands for the digit 0, as in SVHN.")

    def _note_extra(self) -> None:
        for part in self._parts["train"]:
            if len(self._parts["train"]) > 1 and _parse_mat_split(part.path) == "extra":
                self.notes.append(
                    f"The {part.shape[0]:,} images of {part.path.name} join the training images: "
                    "take it out of the folder to learn without them."
                )


def find_mat_files(folder: SourceFolder) -> dict[str, list[Path]]:
    """The .mat files of a folder by split; "extra" ones are for training. Empty where none are."""
    files: dict[str, list[Path]] = {}
    # Beside pictures a .mat file may hold lists of them, unless it is called as SVHN's are.
    every = folder.select_files(_SVHN_SUFFIX if folder.holds_pictures else SUFFIX)
    if len(every) == 1 and not folder.holds_pictures:
        return {"train": every}
    for path in every:
        if split := _parse_mat_split(path):
            files.setdefault("train" if split == "extra" else split, []).append(path)
    for paths in files.values():
        paths.sort(key=lambda path: _parse_mat_split(path) == "extra")
    return files if "train" in files else {}


def _read_mat_part(path: Path, required: str) -> _MatPart:
    """Which images and labels a .mat file says that it holds.

    Raises:
      DataError: it cannot be read, or holds others.
    """
    from scipy import io  # late: it is needed for this alone

    with _convert_mat_errors(path), open_plain_file(path) as file:
        if file.read(len(_HDF5_START)) == _HDF5_START:
            raise DataError(
                f"{path.name} is in MATLAB's form 7.3 (HDF5), which is not read here: save it "
                "with -v7, or as .npz from Python."
            )
        file.seek(0)
        variables = io.whosmat(file)
    images, labels = _choose_variables(path, variables, required)
    return _describe_part(path, images, labels, required)


def _choose_variables(path: Path, variables: Sequence[_Variable], required: str) -> tuple[_Variable, _Variable]:
    """The variables that are images and labels, by their names; both hold numbers."""
    found: dict[str, _Variable] = {}
    for variable in variables:
        role = array_source.parse_array_role(variable[0])[1]
        if role in found and role in ("images", "labels"):
            raise DataError(f"{path.name} holds several arrays of {role}. {required}")
        found[role] = variable
    if not {"images", "labels"} <= set(found):
        names = format_name_list([name for name, *_ in variables], 8) or "nothing"
        raise DataError(f"{path.name} holds {names}, or is cut short. {required}")
    for name, _, kind in (found["images"], found["labels"]):
        if kind not in _DTYPES:
            raise DataError(f"{name} of {path.name} is a {kind} of MATLAB, no numbers. {required}")
    return found["images"], found["labels"]


def _describe_part(path: Path, images: _Variable, labels: _Variable, required: str) -> _MatPart:
    (name, shape, kind), (label_name, label_shape, label_kind) = images, labels
    count = math.prod(label_shape)
    if count * _DTYPES[label_kind].itemsize > MAX_LABEL_BYTES:
        raise DataError(f"{label_name} of {path.name} is too large for labels.")
    if math.prod(shape) * _DTYPES[kind].itemsize > MAX_FORTRAN_BYTES:
        raise DataError(
            f"{name} of {path.name} has shape {shape}, which takes more than the "
            f"{MAX_FORTRAN_BYTES / 2**30:.0f} GiB that a .mat file may take: save it as .npz."
        )
    if len(shape) not in (3, 4) or count not in (shape[0], shape[-1]):
        raise DataError(f"{path.name} has {name} of shape {shape} and {count:,} labels. {required}")
    last = shape[-1] == count
    turned = (shape[-1], *shape[:-1]) if last else shape
    array_values.parse_image_layout(turned, f"{name} of {path.name}")
    return _MatPart(path=path, images=name, labels=label_name, shape=turned, dtype=_DTYPES[kind], last=last)


def _load_labels(part: _MatPart) -> NDArray[Any]:
    labels = _load_variable(part.path, part.labels).reshape(-1)
    if len(labels) != part.shape[0]:
        raise DataError(f"{part.path.name} is damaged: use another copy.")
    return labels


def _load_variable(path: Path, name: str) -> NDArray[Any]:
    from scipy import io

    with _convert_mat_errors(path), open_plain_file(path) as file:
        array = io.loadmat(file, variable_names=[name])[name]
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise DataError(f"{name} of {path.name} holds no real numbers: save it as numbers.")
    return array


def _parse_mat_split(path: Path) -> str | None:
    """The split that a file's name says, or "extra"; None for none."""
    for word in re.split(r"[_\-. ]", path.name.lower())[:-1]:
        if word == "extra" or (word := array_values.parse_split_name(word) or ""):
            return word
    return None


@contextmanager
def _convert_mat_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # SciPy raises many kinds where a file is not what it says
        if isinstance(error, OSError) and error.errno:
            raise DataError(
                f"{path.name} cannot be read ({describe_error_with_path(error)}): check what is there."
            ) from error
        raise DataError(
            f"{path.name} is damaged, or not a .mat file that SciPy reads: save it again with -v7."
        ) from error
