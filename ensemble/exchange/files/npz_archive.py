"""An .npz of anybody's: its headers first, its numbers a piece at a time, never its pickles.

Unlike our own files (storage/arrays/npz.py) it may hold arrays that nobody asked for, any numbers,
either order of axes and no checksum but the CRC-32 of each entry.
"""

import functools
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.storage.arrays.array_digest import CHUNK_BYTES
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BFLOAT16, PICKLED_MESSAGE, ArrayHeader, BoundedReader, read_header
from ensemble.storage.arrays.npz import HARMLESS_FLAGS, MAX_ENTRIES, ZIP_ERRORS, ZIP_METHODS

_DAMAGED_MESSAGE = "it is damaged and cannot be read completely: save it again."


class InMemoryFile(BoundedReader):
    """A file that was uploaded, and is in memory as a whole."""

    def __init__(self, content: bytes) -> None:
        super().__init__(cast(io.RawIOBase, io.BytesIO(content)))
        self._length = len(content)

    @functools.cached_property
    def size(self) -> int:
        """Its length in bytes."""
        return self._length


class NpzArchive:
    """The arrays of an .npz: what each says of itself, and its numbers."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries = _find_array_entries(archive)
        self._headers: dict[str, ArrayHeader] = {}

    @property
    def array_names(self) -> list[str]:
        """The arrays' names, in the file's order."""
        return list(self._entries)

    def array_header(self, name: str) -> ArrayHeader:
        """What the file says of an array, once its entry has just the bytes for it.

        Raises:
          PredictionsError: it holds Python objects, or no numbers or text.
          DamagedFileError: the file is cut short, or says what cannot be.
        """
        if name in self._headers:
            return self._headers[name]
        info = self._entries[name]
        with self._archive.open(info) as file:
            try:
                header = read_header(cast(BinaryIO, file), bfloat16=True)
            except DamagedFileError as error:
                if str(error) == PICKLED_MESSAGE:
                    raise PredictionsError(
                        f"`{name}` holds Python objects, which are not unpickled here: save it "
                        f"as an array of text or numbers, np.array(list({name}))."
                    ) from error
                raise PredictionsError(
                    f"`{name}` is not a readable array of numbers or text ({error}): save "
                    "numbers with .astype('float32'), names and text labels with .astype(str)."
                ) from error
        if info.file_size != header.start + header.nbytes:
            raise DamagedFileError("an array's shape does not match its length")
        self._headers[name] = header
        return header

    def load_array(self, name: str) -> NDArray[Any]:
        """An array, as NumPy would load it; its size is the caller's to have looked at.

        Raises:
          PredictionsError: it takes more memory than there is; as `array_header`.
        """
        header = self.array_header(name)
        check_free_memory(header.nbytes)
        content = np.empty(header.nbytes, np.uint8)
        with self._open_array_data(name, header) as file:
            _read_into_buffer(file, content)
        return _widen_bfloat16(header.view_as_array(content))

    def iterate_blocks(self, name: str, columns: int) -> Iterator[NDArray[Any]]:
        """The numbers of an array in C order, (R, columns) at a time."""
        header = self.array_header(name)
        rows = max(1, CHUNK_BYTES // (columns * header.dtype.itemsize))
        if header.fortran_order and len(header.shape) > 1:
            flat = np.ascontiguousarray(self.load_array(name)).reshape(-1, columns)
            yield from (flat[start : start + rows] for start in range(0, len(flat), rows))
            return
        row = columns * header.dtype.itemsize
        with self._open_array_data(name, header) as file:
            for left in range(header.nbytes, 0, -rows * row):
                content = np.empty(min(rows * row, left), np.uint8)
                _read_into_buffer(file, content)
                yield _widen_bfloat16(content.view(header.dtype).reshape(-1, columns))

    @contextmanager
    def _open_array_data(self, name: str, header: ArrayHeader) -> Iterator[io.BufferedIOBase]:
        with self._archive.open(self._entries[name]) as file:
            file.read(header.start)
            yield cast(io.BufferedIOBase, file)
            file.read(1)  # at its end the CRC-32 is compared


@contextmanager
def open_prediction_archive(file: BoundedReader) -> Iterator[NpzArchive]:
    """An .npz to be read within the context.

    Raises:
      PredictionsError: it is none, is damaged or packed in an unusual way; or what is read in the
        context says so.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            yield NpzArchive(archive)
    except DamagedFileError as error:
        raise PredictionsError(_DAMAGED_MESSAGE) from error
    except ZIP_ERRORS as error:
        if isinstance(error.__context__, OSError):  # zipfile takes that for a bad end
            raise error.__context__ from None
        raise PredictionsError(_DAMAGED_MESSAGE) from error


def _find_array_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if any(info.filename.endswith("data.pkl") for info in infos):
        raise PredictionsError(
            "it is a file of torch.save, which is not unpickled here: save NumPy arrays with np.savez(...)."
        )
    entries = {info.filename.removesuffix(".npy"): info for info in infos if info.filename.endswith(".npy")}
    if not entries:
        raise PredictionsError("it is an archive without arrays: save them with np.savez(...).")
    if len(infos) > MAX_ENTRIES or len({info.filename for info in infos}) != len(infos):
        raise PredictionsError(
            f"it has several entries with the same name, or more than {MAX_ENTRIES:,}: save it "
            "again with np.savez(...)."
        )
    for name, entry in entries.items():
        if entry.compress_type not in ZIP_METHODS or entry.flag_bits & ~HARMLESS_FLAGS:
            raise PredictionsError(
                f"`{name}` is packed or encrypted in an unusual way: save it with np.savez or np.savez_compressed."
            )
    return entries


def _widen_bfloat16(array: NDArray[Any]) -> NDArray[Any]:
    """bfloat16 as float32, of which it is the upper half; other arrays as they are."""
    if array.dtype != BFLOAT16:
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _read_into_buffer(file: io.BufferedIOBase, content: NDArray[np.uint8]) -> None:
    for start in range(0, len(content), CHUNK_BYTES):
        piece = content[start : start + CHUNK_BYTES]
        if file.readinto(piece.data) != len(piece):
            raise DamagedFileError("an array is truncated")
