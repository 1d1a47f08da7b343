"""The .npy format, read so that a damaged or hostile file is told from what it says of itself.

NumPy's reader evaluates the header as Python, which can raise nearly anything, and allocates what
it asks for. Here a header has the one form in which NumPy writes it, and is compared with what is
expected and with the file's length before anything is allocated.

Source: numpy.lib.format, "NPY format", versions 1.0 to 3.0.
"""

import errno
import functools
import io
import math
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.plain_files import open_plain_file as plain_file

DTYPE_KINDS = "biufU"  # of types: numbers and text; never objects, which are pickled, nor records
MAX_HEADER_BYTES = 4096  # NumPy's own takes 128, with a few axes
MAX_READ_BYTES = 2**17  # bytes that a file may have us read in one go
BFLOAT16 = np.dtype("V2")  # what NumPy writes of a type that it does not know
PICKLED_MESSAGE = "an array holds Python objects, which are not unpickled"
_HEADER_LENGTH_FORMATS = {b"\1\0": "<H", b"\2\0": "<I", b"\3\0": "<I"}  # of the header, by version
_HEADER_PATTERN = re.compile(
    r"\{'descr': '(\|O|[<>|][a-zA-Z]\d{1,9})', 'fortran_order': (True|False), "
    r"'shape': \((|\d{1,18},|\d{1,18}(?:, \d{1,18}){1,31})\), \} *\n"
)


@dataclass(frozen=True)
class ExpectedArray:
    """What an array has to be.

    Attributes:
      shape: the length of each axis; a letter for one of any length, which is the same for all
        axes of that letter.
      dtype: the name of its type.
    """

    shape: tuple[int | str, ...]
    dtype: str = "float32"

    @property
    def nbytes(self) -> int:
        """What an array without free axes takes; ValueError where one is free."""
        return math.prod(map(int, self.shape)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class ArrayHeader:
    """What a file says of its array; `start` is where in the file its bytes begin."""

    dtype: "np.dtype[Any]"
    shape: tuple[int, ...]
    fortran_order: bool
    start: int

    @property
    def nbytes(self) -> int:
        """What the array takes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def view_as_array(self, content: NDArray[np.uint8]) -> NDArray[Any]:
        """The array of these bytes, uint8 (nbytes,); a view of them."""
        flat = content.view(self.dtype)
        return flat.reshape(self.shape[::-1]).T if self.fortran_order else flat.reshape(self.shape)

    def check_expected(self, name: str, expected: ExpectedArray, axes: dict[str, int]) -> None:
        """Compare with what is expected.

        Args:
          name: the array's, for the message.
          expected: what it has to be.
          axes: the lengths of axes that are known by now; those that it tells are added.

        Raises:
          DamagedFileError: it is something else.
        """
        if self.dtype != np.dtype(expected.dtype):
            raise DamagedFileError(f"{name} is not {expected.dtype}")
        if len(self.shape) == len(expected.shape):
            wanted = [
                axes.setdefault(axis, length) if isinstance(axis, str) else axis
                for axis, length in zip(expected.shape, self.shape, strict=True)
            ]
            if wanted == list(self.shape):
                return
        axis_sizes = ", ".join(str(axes.get(str(axis), axis)) for axis in expected.shape)
        raise DamagedFileError(f"{name} has shape {_format_shape(self.shape)}, not ({axis_sizes})")


class BoundedReader(io.BufferedReader):
    """A file that is read in small pieces and within its ends, whatever its content asks for."""

    @functools.cached_property
    def size(self) -> int:
        """The file's length in bytes."""
        return os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """At most `size` bytes; DamagedFileError where that is more than anything needs."""
        size = self.size - self.tell() if size is None or size < 0 else size
        if size > MAX_READ_BYTES:
            raise DamagedFileError("its length is impossible")
        return super().read(size)

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place in the file; DamagedFileError where it is none."""
        if whence != os.SEEK_SET:
            place += self.tell() if whence == os.SEEK_CUR else self.size
        if not 0 <= place <= self.size:
            raise DamagedFileError("it is truncated")
        return super().seek(place)


@contextmanager
def open_bounded_file(path: Path) -> Iterator[BoundedReader]:
    """A file to read from.

    Raises:
      DamagedFileError: it is a folder, a pipe, a device.
      OSError: it cannot be read; FileNotFoundError if there is none.
    """
    try:
        raw_file = plain_file(path)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise DamagedFileError("it is not a file") from error
        raise
    with BoundedReader(raw_file.detach()) as file:
        yield file


def read_header(file: BinaryIO, *, bfloat16: bool = False) -> ArrayHeader:
    """The header of the array at the beginning of a file; the place after that is its data's.

    Args:
      file: from its beginning.
      bfloat16: whether two bytes without a type, as which bfloat16 is saved, are taken.

    Raises:
      DamagedFileError: there is none, or one of an array that is no numbers; the message is
        `PICKLED_MESSAGE` if they are Python objects.
    """
    version = file.read(8).removeprefix(b"\x93NUMPY")
    if version not in _HEADER_LENGTH_FORMATS:
        raise DamagedFileError("it holds no array")
    form = _HEADER_LENGTH_FORMATS[version]
    size = file.read(struct.calcsize(form))
    length = struct.unpack(form, size)[0] if len(size) == struct.calcsize(form) else 0
    if length > MAX_HEADER_BYTES:
        raise DamagedFileError("an array's header is too long")
    match = _HEADER_PATTERN.fullmatch(file.read(length).decode("ascii", "replace"))
    if not match:
        raise DamagedFileError("an array's header cannot be read")
    descr, order, lengths = match.groups()
    shape = tuple(int(dimension) for dimension in lengths.split(",") if dimension)
    dtype = BFLOAT16 if bfloat16 and descr[1:] == "V2" else _parse_dtype(descr)
    return ArrayHeader(dtype, shape, order == "True", 8 + len(size) + length)


def map_npy(path: Path, expected: ExpectedArray) -> NDArray[Any]:
    """The array of a .npy file as a read-only memory map: read as it is used.

    Raises:
      DamagedFileError: it is not what is expected, or its length does not fit.
      OSError: it cannot be read; FileNotFoundError if there is none.
    """
    with open_bounded_file(path) as file:
        header = read_header(cast(BinaryIO, file))
        header.check_expected("the array", expected, {})
        if file.size != header.start + header.nbytes or not header.nbytes:
            raise DamagedFileError("its length does not match its array")
        shape = header.shape[::-1] if header.fortran_order else header.shape
        mapped = np.memmap(path, header.dtype, "r", header.start, shape)
        return mapped.T if header.fortran_order else mapped


def _format_shape(shape: tuple[int, ...]) -> str:
    return str(shape) if len(shape) <= 6 else f"of {len(shape)} axes"


def _parse_dtype(descr: str) -> "np.dtype[Any]":
    if descr == "|O":
        raise DamagedFileError(PICKLED_MESSAGE)
    try:
        dtype = np.dtype(descr)
    except TypeError:
        raise DamagedFileError("an array has an unknown type") from None
    if dtype.kind not in DTYPE_KINDS or not dtype.itemsize:
        raise DamagedFileError("an array holds no numbers")
    return dtype
