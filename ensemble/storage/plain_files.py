"""Files as they are found, which may be anything: plain ones alone are read, up to a size."""

import errno
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NoReturn


def open_plain_file(path: Path) -> BufferedReader:
    """A plain file, open to be read.

    Raises:
      OSError: there is none, it may not be read, or it is a folder, a FIFO or a device: opening
        a FIFO would wait for somebody to write into it.
    """
    return os.fdopen(_open_plain_descriptor(path), "rb")


def open_plain_append(path: Path) -> BinaryIO:
    """A plain file, made if there is none, that is written at its end.

    Raises:
      OSError: it may not be written, or is a folder, a FIFO or a device: opening a FIFO would
        wait for somebody to read from it.
    """
    way = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    way |= getattr(os, "O_NONBLOCK", 0)
    return os.fdopen(_check_plain_file(os.open(path, way, 0o666), path), "ab")


def read_limited_bytes(path: Path, most: int) -> bytes:
    """A file's content; OSError if there is none, ValueError where it has more bytes."""
    with open_plain_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{path.name} has more than {most:,} bytes")
    return content


def read_file_start(path: Path, most: int) -> tuple[bytes, int]:
    """The first bytes of a plain file, at most so many, and how many it has.

    With as few calls as can be, for whoever reads many files.

    Raises:
      OSError: as of `open_plain_file`.
    """
    descriptor = _open_plain_descriptor(path)
    try:
        size = os.fstat(descriptor).st_size
        return _read_descriptor(descriptor, min(size, most)), size
    finally:
        os.close(descriptor)


def read_small_file(path: Path, most: int) -> bytes | None:
    """All of a plain file, likewise; None where it has more bytes than that.

    Raises:
      OSError: as of `open_plain_file`.
    """
    descriptor = _open_plain_descriptor(path)
    try:
        size = os.fstat(descriptor).st_size
        return None if size > most else _read_descriptor(descriptor, size)
    finally:
        os.close(descriptor)


def read_text_beginning(path: Path, most: int) -> str:
    """The first bytes of a text, as far as they can be read; OSError if there is none."""
    with open_plain_file(path) as file:
        return file.read(most).decode(errors="replace")


def parse_json(text: bytes) -> Any:
    """The value that JSON stands for; ValueError for all that is none.

    That includes NaN and infinities, which JSON has no word for, and what is nested so deeply
    that reading it fails.
    """
    try:
        return _DECODER.decode(text.decode(json.detect_encoding(text), "surrogatepass"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _open_plain_descriptor(path: Path) -> int:
    way = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return _check_plain_file(os.open(path, way), path)


def _read_descriptor(descriptor: int, count: int) -> bytes:
    """So many bytes, or all where a file has become shorter."""
    content = os.read(descriptor, count)
    while len(content) < count and (more := os.read(descriptor, count - len(content))):
        content += more
    return content


def _check_plain_file(descriptor: int, path: Path) -> int:
    """The descriptor, if it is of a plain file; else it is closed."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


# Made once: a history has hundreds of thousands of lines.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
