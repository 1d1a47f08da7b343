"""Files that another process may be reading while they are written: the old one or the new one.

All is written beside and put in place as a whole. A crash leaves the old file, and a hidden
`.part` that nobody reads; a full disk raises OSError and leaves nothing.
"""

import errno
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ensemble.storage.plain_files import parse_json, read_limited_bytes

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_BLOCK_BYTES = 4096  # bytes that a file system gives out at once
_MAX_JSON_BYTES = 2**20  # of JSON that is one object; the largest there is has 200 kB


@contextmanager
def open_atomic_write(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` at the end of the context.

    Whatever is raised within it leaves `path` as it was. Any number of processes and threads
    may write the same path at once: each writes a whole file, and one of them is the last.

    Args:
      path: the file; its folder exists.
      durable: wait until it has reached the disk, so that a power cut leaves no empty file.

    Raises:
      OSError: a full disk, or a folder that cannot be written.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.part")
    file = beside.open("xb")
    try:
        with file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def remove_partial_files(folder: Path, name: str = "*") -> None:
    """Remove what killed writers left of `name`; only while no other can be writing it."""
    for pattern in (f".{name}.*.part", f"{name}.*.part"):  # the second as earlier versions did
        for part in folder.glob(pattern):
            part.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write all of a file's content."""
    with open_atomic_write(path) as file:
        file.write(content)


def write_json(path: Path, value: Any, *, durable: bool = False) -> None:
    """Write a value as JSON; ValueError where it holds what JSON has no word for, as NaN."""
    text = json.dumps(value, indent=1, allow_nan=False)
    with open_atomic_write(path, durable=durable) as file:
        file.write(text.encode() + b"\n")


def overwrite_json(path: Path, value: Any) -> bool:
    """Write a short value into the room that its file has: for a full disk, where no new file fits.

    One write of less than a block: a reader meets the old one or the new one here as well.

    Returns:
      Whether it was written; not where there is not a file, or it would need more room.
    """
    text = json.dumps(value, allow_nan=False).encode() + b"\n"
    try:
        with path.open("r+b", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if not 0 < max(len(text), size) <= _BLOCK_BYTES:
                return False
            return file.write(text.ljust(size)) >= len(text)
    except OSError:
        return False


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file of at most a megabyte; ValueError or OSError for all else."""
    value = parse_json(read_limited_bytes(path, _MAX_JSON_BYTES))
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} does not hold a JSON object")
    return value
