"""A .npy file written row by row, whose number of rows is known at the end."""

import hashlib
import os
from pathlib import Path
from types import TracebackType

import numpy as np

_BLOCK_BYTES = 2**20  # of rows that are written at once
HEADER = 128  # bytes, whatever the shape: a multiple of 64, as NumPy wants it
MAGIC = b"\x93NUMPY\x01\x00"


class RowWriter:
    """Rows of one type and shape, to a file that `storage.arrays.npy` and NumPy read.

    Args:
      path: the file, which must not be there yet.
      dtype: of the rows.
      shape: of one row; () for a number.

    Attributes:
      rows: how many there are by now.
    """

    def __init__(self, path: Path, dtype: str, shape: tuple[int, ...]) -> None:
        self._dtype, self._shape = np.dtype(dtype), shape
        self.rows = 0
        self._digest, self._held, self._held_bytes = hashlib.sha256(), bytearray(_BLOCK_BYTES), 0
        self._file = path.open("xb")
        self._file.write(bytes(HEADER))

    def append(self, rows: np.ndarray) -> None:
        """Add rows (B, …) of the type; OSError where the disk is full."""
        content = np.ascontiguousarray(rows, self._dtype).reshape(-1, *self._shape)
        data = content.reshape(-1).view(np.uint8).data
        if self._held_bytes + len(data) > _BLOCK_BYTES:
            self._write_held_rows()
        if len(data) > _BLOCK_BYTES:
            self._write_bytes(data)
        else:
            self._held[self._held_bytes : self._held_bytes + len(data)] = data
            self._held_bytes += len(data)
        self.rows += len(content)

    def finish(self) -> str:
        """Say how many rows there are, wait for the disk; returns the SHA-256 of the rows."""
        self._write_held_rows()
        self._file.seek(0)
        self._file.write(self._format_header())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()

    def _write_held_rows(self) -> None:
        self._write_bytes(memoryview(self._held)[: self._held_bytes])
        self._held_bytes = 0

    def _write_bytes(self, data: "memoryview[int]") -> None:
        self._file.write(data)
        self._digest.update(data)

    def _format_header(self) -> bytes:
        shape = (self.rows, *self._shape)
        text = f"{{'descr': '{self._dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
        length = HEADER - len(MAGIC) - 2
        return MAGIC + length.to_bytes(2, "little") + text.ljust(length - 1).encode() + b"\n"

    def __enter__(self) -> "RowWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A full disk says so a second time when what is buffered is let go.
        try:
            self._file.close()
        except OSError:
            if error is None:
                raise
