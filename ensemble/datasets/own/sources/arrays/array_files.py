"""Arrays in NumPy's .npy form, as entries of an archive or as files, read a few rows at a time.

They need not fit into memory, nor be unpacked. Nothing is unpickled.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import DataError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ArrayHeader, read_header
from ensemble.storage.arrays.npz import ZIP_ERRORS
from ensemble.storage.disk_errors import describe_error_with_path

MAX_LABEL_BYTES = 2**28  # bytes of labels and names
MAX_FORTRAN_BYTES = 2**31
BLOCK = 2**22  # bytes that are unpacked in one go
_PIECE = 2**17


class NumpyArrays(ABC):
    """Arrays in NumPy's .npy form; an `array_source.NamedArrays`.

    Args:
      path: of the archive or the folder.
      names: of the arrays in it.
    """

    origin: str
    required: str

    def __init__(self, path: Path, names: list[str]) -> None:
        self.path, self.name, self.names, self.notes = path, path.name, names, list[str]()

    @abstractmethod
    def open_array(self, name: str) -> AbstractContextManager[tuple[IO[bytes], int]]:
        """The file of an array, at its beginning, and how many bytes it has."""

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array; DataError where it is damaged or of Python objects."""
        with convert_array_errors(self.path, name), self.open_array(name) as (file, size):
            header = read_header(cast(BinaryIO, file))
            if size != header.start + header.nbytes:
                raise DamagedFileError("its shape does not match its length")
        return header

    def read_array(self, name: str) -> NDArray[Any]:
        """All of an array of labels or names; DataError where it is too large for one."""
        header = self.read_header(name)
        if header.nbytes > MAX_LABEL_BYTES:
            raise DataError(f"{name} of {self.name} is too large for labels or names.")
        with convert_array_errors(self.path, name), self.open_array(name) as (file, _):
            file.read(header.start)
            return header.view_as_array(read_exact_bytes(file, header.nbytes))

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The rows of an array, some at a time; all at once where its first axis varies fastest."""
        header = self.read_header(name)
        count, *shape = header.shape
        row = header.nbytes // max(1, count)
        rows = count if header.fortran_order else max(1, BLOCK // row)
        if header.fortran_order and header.nbytes > MAX_FORTRAN_BYTES:
            raise DataError(
                f"{name} of {self.name} is stored column by column and is too large to "
                "be reordered: save np.ascontiguousarray of it."
            )
        with convert_array_errors(self.path, name), self.open_array(name) as (file, _):
            file.read(header.start)
            for start in range(0, count, rows):
                flat = read_exact_bytes(file, min(rows, count - start) * row)
                if header.fortran_order:
                    yield header.view_as_array(flat)
                else:
                    yield flat.view(header.dtype).reshape(-1, *shape)


@contextmanager
def convert_array_errors(path: Path, name: str = "") -> Iterator[None]:
    what = f"{name} of {path.name}" if name else path.name
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{what} cannot be read ({describe_error_with_path(error)}): check what is there.") from error
    except DamagedFileError as error:
        raise DataError(
            f"{what} cannot be used ({error}): save it with NumPy, as numbers or text, not as Python objects."
        ) from error
    except ZIP_ERRORS as error:
        raise DataError(f"{what} is damaged, truncated or not an .npz file: save it again.") from error


def read_exact_bytes(file: IO[bytes], size: int) -> NDArray[np.uint8]:
    """So many bytes; DamagedFileError where there are fewer."""
    content = np.empty(size, np.uint8)
    for start in range(0, size, _PIECE):
        piece = content[start : start + _PIECE]
        got = file.read(len(piece))
        if len(got) != len(piece):
            raise DamagedFileError("it is truncated")
        piece[:] = np.frombuffer(got, np.uint8)
    return content
