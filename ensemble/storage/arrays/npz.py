"""Several arrays in one .npz file, which any tool reads: written as a whole, checked when read.

The archive's comment is `sha256:` and the digest of all that it holds (array_digest.py). A file of
an earlier version, without one, is read on the CRC-32 that each entry has. What a file says of
itself is checked before any of it is read, unpacked or allocated: entries, names, sizes, types,
shapes.
"""

import errno
import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as numpy_format
from numpy.typing import NDArray

from ensemble.storage.arrays.array_digest import CHUNK_BYTES, ArrayDigest, view_array_bytes
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import (
    DTYPE_KINDS,
    MAX_HEADER_BYTES,
    ArrayHeader,
    BoundedReader,
    ExpectedArray,
    open_bounded_file,
    read_header,
)
from ensemble.storage.atomic_files import open_atomic_write

_SPOOL_BYTES = 2**20  # of a file that is written at once

Arrays = dict[str, NDArray[Any]]

_CHECKSUM_PATTERN = re.compile(rb"sha256:([0-9a-f]{64})")
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Bits of an entry that change nothing for us: how hard it was packed, sizes after it, UTF-8.
HARMLESS_FLAGS = 0x2 | 0x4 | 0x8 | 0x800
MAX_ENTRIES = 1000
_MAX_ZIP_OVERHEAD = 2**17  # of the archive's own records, at most
_END_RECORD_BYTES = 22  # of its last record, without the comment
# What zipfile is known to raise of a damaged archive, beside OSError.
ZIP_ERRORS = (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, OverflowError, struct.error, zlib.error)


@dataclass(frozen=True)
class ArrayParts:
    """An array by its parts, one after another along its first axis: not all need be there at once.

    Attributes:
      shape: of the whole.
      dtype: of all parts.
      parts: taken once.
    """

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    parts: Iterable[NDArray[Any]]


def write_arrays(
    path: Path,
    arrays: Mapping[str, NDArray[Any]] | Iterable[tuple[str, NDArray[Any] | ArrayParts]],
    *,
    compressed: bool = False,
) -> None:
    """Write an .npz with its checksum, which can be read without pickle.

    Args:
      path: the file; its folder exists.
      arrays: by name; taken one after another, so that pairs made on the way need not all be
        there at once.
      compressed: whether to deflate them.

    Raises:
      ValueError: an array of objects.
      OSError: a full disk, or a folder that cannot be written; nothing half-written is left.
    """
    pairs = arrays.items() if isinstance(arrays, Mapping) else arrays
    digest = ArrayDigest()
    with open_atomic_write(path) as raw:
        spool = _SpooledFile(raw)
        with zipfile.ZipFile(cast(BinaryIO, spool), "w", ZIP_METHODS[compressed]) as archive:
            for name, array in pairs:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    _write_npz_entry(cast(BinaryIO, file), name, array, digest)
            archive.comment = f"sha256:{digest.hexdigest()}".encode()
        spool.write_out()


def read_arrays(
    path: Path,
    expected: Mapping[str, ExpectedArray] | None,
    most_bytes: int | None = None,
    *,
    need_checksum: bool = False,
    only: str | None = None,
    required: Collection[str] | None = None,
) -> Arrays:
    """The arrays of an .npz file, compared with what was written and with what is expected.

    Args:
      path: the file.
      expected: what each array has to be; None takes any numbers and text by any names.
      most_bytes: what all arrays may take at most; None is what the expected ones take, where
        none of their axes is free.
      need_checksum: refuse a file that has none, as of an earlier version.
      only: read this array alone, of a file that was read as a whole before: what the others hold
        is not looked at.
      required: the expected arrays that have to be there; None for all of them.

    Raises:
      DamagedFileError: it is something else than was written, or than is expected.
      OSError: it cannot be read; FileNotFoundError if there is none.
    """
    if most_bytes is None:
        most_bytes = sum(array.nbytes for array in (expected or {}).values())
    try:
        with open_bounded_file(path) as file:
            # Packing makes what cannot be packed a little longer.
            if file.size > most_bytes + most_bytes // 100 + _MAX_ZIP_OVERHEAD:
                raise DamagedFileError("it is longer than its arrays can be")
            with zipfile.ZipFile(file) as archive:
                checksum = _read_npz_checksum(file, archive.comment)
                if need_checksum and checksum is None:
                    raise DamagedFileError("it has no checksum")
                entries = _check_npz_entries(archive, most_bytes, file.size)
                if only is not None:
                    entries = {name: entry for name, entry in entries.items() if name == only}
                    checksum = None if entries else checksum
                headers = _read_npz_headers(archive, entries, expected, most_bytes, required)
                return _read_npz_arrays(archive, entries, headers, checksum)
    except DamagedFileError:
        raise
    except MemoryError as error:  # Not the file's doing: what it may ask for is bounded.
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)) from error
    except ZIP_ERRORS as error:
        if isinstance(error.__context__, OSError):  # zipfile takes that for a bad end
            raise error.__context__ from None
        raise DamagedFileError("it is corrupt") from error


class _SpooledFile:
    """A file that is written at once where it is small: each piece costs a slow disk its time.

    Args:
      file: what is written into, from its beginning on.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._target, self._memory = file, io.BytesIO()
        self._file: BinaryIO = self._memory

    def write(self, content: Any) -> int:
        """As of any file, until it is more than is kept in memory; then into the file itself."""
        if self._file.tell() + memoryview(content).nbytes > _SPOOL_BYTES:
            self.write_out()
        return self._file.write(content)

    def write_out(self) -> None:
        """Write what is still in memory."""
        if self._file is self._memory:
            at = self._memory.tell()
            self._target.write(self._memory.getbuffer())
            if at != self._target.tell():
                self._target.seek(at)
            self._file, self._memory = self._target, io.BytesIO()

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """As of any file."""
        return self._file.seek(position, whence)

    def tell(self) -> int:
        """As of any file."""
        return self._file.tell()

    def flush(self) -> None:
        """Nothing: whoever opened the file sees to that."""


def _write_npz_entry(file: BinaryIO, name: str, array: NDArray[Any] | ArrayParts, digest: ArrayDigest) -> None:
    if not isinstance(array, ArrayParts):
        array = np.asarray(array, order="C")
        array = ArrayParts(array.shape, array.dtype, [array])
    if array.dtype.kind not in DTYPE_KINDS:
        raise ValueError("Object arrays cannot be saved: they would have to be pickled.")
    form = numpy_format.dtype_to_descr(array.dtype)
    header = {"descr": form, "fortran_order": False, "shape": array.shape}
    numpy_format.write_array_header_1_0(file, header)
    digest.begin(name, array.dtype, array.shape)
    for part in array.parts:
        content = view_array_bytes(part)
        for start in range(0, len(content), CHUNK_BYTES):
            piece = content[start : start + CHUNK_BYTES]
            digest.update(piece)
            file.write(piece.data)


def _read_npz_checksum(file: BoundedReader, comment: bytes) -> str | None:
    """What the comment says; a cut or changed one is damage, and not an earlier version's file."""
    file.seek(-_END_RECORD_BYTES - len(comment), os.SEEK_END)
    if file.read(4) != b"PK\5\6":
        raise DamagedFileError("its end is not the end of an archive")
    match = _CHECKSUM_PATTERN.fullmatch(comment)
    if comment and not match:
        raise DamagedFileError("its checksum cannot be read")
    return match[1].decode() if match else None


def _check_npz_entries(archive: zipfile.ZipFile, most_bytes: int, size: int) -> dict[str, zipfile.ZipInfo]:
    entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    infos = list(entries.values())
    if len(infos) != len(archive.infolist()) or len(infos) > MAX_ENTRIES:
        raise DamagedFileError("its arrays are not the ones that were written")
    for info in infos:
        stored = info.compress_type == zipfile.ZIP_STORED
        if info.compress_type not in ZIP_METHODS or info.flag_bits & ~HARMLESS_FLAGS:
            raise DamagedFileError("it is packed differently than when it was written")
        if stored and info.compress_size != info.file_size:
            raise DamagedFileError("its sizes do not fit together")
    unpacked = sum(entry.file_size for entry in infos)
    if unpacked > most_bytes + len(infos) * MAX_HEADER_BYTES or sum(entry.compress_size for entry in infos) > size:
        raise DamagedFileError("it claims to hold more than it can")
    return entries


def _read_npz_headers(
    archive: zipfile.ZipFile,
    entries: Mapping[str, zipfile.ZipInfo],
    expected: Mapping[str, ExpectedArray] | None,
    most_bytes: int,
    required: Collection[str] | None,
) -> dict[str, ArrayHeader]:
    """Each array's header, once it is as expected and its entry has just the bytes for it."""
    if (
        expected is not None
        and not set(expected if required is None else required) <= entries.keys() <= expected.keys()
    ):
        raise DamagedFileError("its arrays have other names than when they were written")
    headers, axes = {}, dict[str, int]()
    for name, info in entries.items():
        with archive.open(info) as file:
            header = read_header(cast(BinaryIO, file))
        if expected is not None:
            header.check_expected(name, expected[name], axes)
        if info.file_size != header.start + header.nbytes:
            raise DamagedFileError("an array's shape does not match its length")
        if max(header.shape, default=0) > most_bytes:  # beside an axis of no length
            raise DamagedFileError("an array's shape is impossible")
        headers[name] = header
    return headers


def _read_npz_arrays(
    archive: zipfile.ZipFile,
    entries: Mapping[str, zipfile.ZipInfo],
    headers: Mapping[str, ArrayHeader],
    checksum: str | None,
) -> Arrays:
    arrays, digest = {}, ArrayDigest()
    for name, header in headers.items():
        digest.begin(name, header.dtype, header.shape)
        content = np.empty(header.nbytes, np.uint8)
        with archive.open(entries[name]) as file:
            file.read(header.start)
            for start in range(0, len(content), CHUNK_BYTES):
                piece = content[start : start + CHUNK_BYTES]
                if cast(io.BufferedIOBase, file).readinto(piece.data) != len(piece):
                    raise DamagedFileError("an array is truncated")
                digest.update(piece)
        arrays[name] = header.view_as_array(content)
    if checksum not in (None, digest.hexdigest()):
        raise DamagedFileError("its checksum does not match")
    return arrays
