"""HDF5 files with images and labels, at the top or in a group for each split; h5py reads them.

Links out of the file, and data that is kept outside it, are not followed.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.sources.arrays.array_files import BLOCK, MAX_LABEL_BYTES
from ensemble.datasets.own.sources.source_folder import SourceFolder
from ensemble.errors import DataError
from ensemble.storage.arrays.npy import DTYPE_KINDS, ArrayHeader
from ensemble.storage.plain_files import open_plain_file

SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5")
_MAX_CHUNK_BYTES = 2**28  # which h5py unpacks at once
_MAX_ARRAYS = 1_000
# h5py raises one of these for each kind of damage; numpy and zlib run out of memory if a size is wrong.
_ERRORS = (OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError)


class Hdf5Arrays:
    """The arrays of an HDF5 file; an `array_source.NamedArrays`.

    Args:
      path: of the file.

    Raises:
      DataError: it cannot be read, or h5py is not installed.
    """

    required = (
        "An HDF5 file has to hold images (N, H, W) or (N, H, W, channels) and labels (N,), or the same in groups train "
        "and test."
    )

    def __init__(self, path: Path) -> None:
        self.name, self.origin, self._path = path.name, f"arrays of the HDF5 file {path.name}", path
        self.notes = list[str]()
        self._places = dict[str, str]()
        self._headers = dict[str, ArrayHeader]()
        with self._open_file() as file:
            file.visititems(self._note_array)
        self.names = list(self._places)

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array."""
        return self._headers[name]

    def read_array(self, name: str) -> NDArray[Any]:
        """All of an array of labels or names; DataError if it is too large for one."""
        header = self._headers[name]
        if math.prod(header.shape) * max(8, header.dtype.itemsize) > MAX_LABEL_BYTES:
            raise DataError(f"{name} of {self.name} is too large for labels or names.")
        with self._open_file() as file:
            array = file[self._places[name]]
            return np.array(array.asstr()[()]).astype(str) if header.dtype.kind == "U" else np.array(array[()])

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The rows of an array, some at a time."""
        header = self._headers[name]
        rows = max(1, BLOCK // max(1, math.prod(header.shape[1:]) * header.dtype.itemsize))
        for start in range(0, header.shape[0] if header.shape else 0, rows):
            with self._open_file() as file:
                yield np.ascontiguousarray(file[self._places[name]][start : start + rows])

    def _note_array(self, place: str, array: Any) -> None:
        import h5py

        if not isinstance(array, h5py.Dataset) or not array.shape or len(self._places) >= _MAX_ARRAYS:
            return
        kind = np.dtype("U1") if h5py.check_string_dtype(array.dtype) else array.dtype
        chunk = math.prod(array.chunks or ()) * array.dtype.itemsize
        name = place.replace("/", "_")
        if kind.kind not in DTYPE_KINDS or array.is_virtual or array.external or chunk > _MAX_CHUNK_BYTES:
            self.notes.append(
                f"{place} of {self.name} is not read: it is not an array of numbers or text in this file."
            )
            return
        self._places[name] = place
        self._headers[name] = ArrayHeader(kind, array.shape, False, 0)

    @contextmanager
    def _open_file(self) -> Iterator[Any]:
        try:
            import h5py
        except ImportError as error:
            raise DataError(
                f"{self.name} is HDF5, which h5py reads: install it (pip install h5py), or save the arrays as .npz."
            ) from error
        try:
            with open_plain_file(self._path) as plain, h5py.File(plain, "r") as file:
                yield file
        except _ERRORS as error:
            raise DataError(f"{self.name} is damaged or not an HDF5 file: use another copy.") from error


def find_hdf5_file(folder: SourceFolder) -> Path | None:
    """The HDF5 file of a folder without pictures; None if it has none.

    Raises:
      DataError: it has several.
    """
    files = folder.select_files(*SUFFIXES)
    if folder.holds_pictures or not files:
        return None
    if len(files) > 1:
        raise DataError(f"{folder.path.name} has {len(files):,} HDF5 files: give one that holds images and labels.")
    return files[0]
