"""The safetensors format: arrays by name; a damaged or hostile file is told as it is read.

Eight bytes are the length of the header, that is JSON: for each array its type, shape and where its
bytes lie; the bytes follow. Whatever the header says is compared with the file's length before
anything is allocated.

Source: github.com/huggingface/safetensors, "Format".
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, open_bounded_file
from ensemble.storage.atomic_files import open_atomic_write
from ensemble.storage.plain_files import parse_json

_LENGTH_BYTES = 8
_ALIGNMENT = 8  # bytes, of where the arrays begin
_MAX_HEADER_BYTES = 2**24
_MAX_ARRAYS, _MAX_AXES = 100_000, 32
_CHUNK_BYTES = 2**16
_METADATA_KEY = "__metadata__"
# What NumPy calls each type; bfloat16, the upper half of a float32, has no name there.
_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def read_safetensors(path: Path, most_bytes: int) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name; bfloat16 becomes float32.

    Args:
      path: the file.
      most_bytes: what all arrays may take at most.

    Raises:
      DamagedFileError: it is something else, or holds more.
      OSError: it cannot be read; FileNotFoundError if there is none.
    """
    with open_bounded_file(path) as file:
        length = int.from_bytes(_read_bytes(file, _LENGTH_BYTES).tobytes(), "little")
        if length > min(_MAX_HEADER_BYTES, file.size - _LENGTH_BYTES):
            raise DamagedFileError("it is no safetensors file, or its header is too long")
        header = _parse_header(_read_bytes(file, length).tobytes())
        start = _LENGTH_BYTES + length
        if file.size - start > most_bytes:
            raise DamagedFileError("it holds more than can be used")
        _check_places(header, file.size - start)
        return {name: _read_array(file, start, entry) for name, entry in header.items()}


def write_safetensors(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write arrays by name, and texts about them.

    Args:
      path: the file; its folder exists.
      arrays: of types that the format has a name for.
      metadata: what stands in the header beside them.

    Raises:
      ValueError: an array of another type.
      OSError: a full disk, or a folder that cannot be written; nothing half-written is left.
    """
    kinds = {np.dtype(form): kind for kind, form in _DTYPES.items() if kind != "BF16"}
    header: dict[str, Any] = {_METADATA_KEY: dict(metadata)}
    # Arrays of the widest numbers first: each then begins where its numbers may.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    end = 0
    for name in order:
        array = arrays[name]
        if (dtype := array.dtype.newbyteorder("<")) not in kinds:
            raise ValueError(f"{name} is {array.dtype}, which safetensors has no name for.")
        header[name] = {"dtype": kinds[dtype], "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with open_atomic_write(path) as file:
        file.write(len(text).to_bytes(_LENGTH_BYTES, "little"))
        file.write(text)
        for name in order:
            little = arrays[name].astype(arrays[name].dtype.newbyteorder("<"), copy=False)
            file.write(np.ascontiguousarray(little).tobytes())


def _parse_header(text: bytes) -> dict[str, dict[str, Any]]:
    try:
        header = parse_json(text)
    except ValueError as error:
        raise DamagedFileError("its header is no JSON") from error
    if not isinstance(header, dict) or len(header) > _MAX_ARRAYS:
        raise DamagedFileError("its header does not list its arrays")
    header.pop(_METADATA_KEY, None)
    for entry in header.values():
        if not _is_entry(entry):
            raise DamagedFileError("its header says something else of an array than it has to")
        if entry["dtype"] not in _DTYPES:
            raise DamagedFileError(f"an array has the type {str(entry['dtype'])[:20]}")
    return header


def _is_entry(entry: Any) -> bool:
    """Whether an entry has a type, a shape of at most 32 axes, and two places."""
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
        return False
    shape, places = entry.get("shape"), entry.get("data_offsets")
    return (
        isinstance(shape, list)
        and len(shape) <= _MAX_AXES
        and isinstance(places, list)
        and len(places) == 2
        and all(type(number) is int and 0 <= number < 2**62 for number in (*shape, *places))
    )


def _check_places(header: dict[str, dict[str, Any]], size: int) -> None:
    end = 0
    for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
        first, last = entry["data_offsets"]
        nbytes = math.prod(entry["shape"]) * np.dtype(_DTYPES[entry["dtype"]]).itemsize
        if first != end or last - first != nbytes:
            raise DamagedFileError("its arrays do not lie one behind the other")
        end = last
    if end != size:
        raise DamagedFileError("its arrays do not fill it")


def _read_array(file: BoundedReader, start: int, entry: dict[str, Any]) -> NDArray[Any]:
    first, last = entry["data_offsets"]
    file.seek(start + first)
    flat = _read_bytes(file, last - first).view(_DTYPES[entry["dtype"]])
    if entry["dtype"] == "BF16":
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.reshape(entry["shape"])


def _read_bytes(file: BoundedReader, count: int) -> NDArray[np.uint8]:
    if count > file.size:
        raise DamagedFileError("it is truncated")
    content = np.empty(count, np.uint8)
    for start in range(0, count, _CHUNK_BYTES):
        piece = content[start : start + _CHUNK_BYTES]
        if file.readinto(piece.data) != len(piece):
            raise DamagedFileError("it is truncated")
    return content
