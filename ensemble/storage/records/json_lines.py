"""Files of JSON lines: appended to by one writer, read while they grow."""

import contextlib
import io
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ensemble.errors import RunError
from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.plain_files import open_plain_append, open_plain_file, parse_json
from ensemble.storage.records.history_lines import Line, is_valid_line

_BLOCK_BYTES = 4 * 2**20  # of a history that are looked at at a time
_END_BLOCK_BYTES = 2**16  # of its end
MOST_ROW_BYTES = 2**20  # of one line: those of an epoch of 4,096 members take 600 kB


def read_lines(path: Path, members: int | None = None) -> list[Line]:
    """The objects in a file of JSON lines, without those that are torn or odd.

    Args:
      path: a history.jsonl, which need not be there.
      members: M, where it is known: see `parse_history_line`.

    Raises:
      RunError: the file is there and cannot be read.
    """
    with open_history(path) as file:
        rows = file.read().split(b"\n")
    return [line for row in rows if (line := parse_history_line(row, members)) is not None]


@contextlib.contextmanager
def open_history(path: Path) -> Iterator[BinaryIO]:
    """A history to be read within this; an empty one where there is not a file.

    Raises:
      RunError: the file is there and cannot be read.
    """
    try:
        try:
            file = open_plain_file(path)
        except FileNotFoundError:
            yield io.BytesIO()
            return
        with file:
            yield file
    except OSError as error:
        raise RunError(
            f"The history of the run “{path.parent.name}” cannot be read ({error.strerror}): "
            f"put {path} back, or delete it to continue without it."
        ) from error


def iterate_rows(file: BinaryIO) -> Iterator[bytes]:
    """The whole rows of a file from where it stands, without their ends; some are read at a time.

    What comes after the last end of a line is none: the rest of it is still being written.
    """
    torn = b""
    while block := file.read(_BLOCK_BYTES):
        *rows, torn = (torn + block).split(b"\n")
        yield from rows


def iterate_lines_from_end(path: Path) -> Iterator[Line]:
    """Iterate over the objects in a file of JSON lines, the last first, reading only as much as is asked for.

    Args:
      path: a history.jsonl, which need not be there.

    Raises:
      RunError: the file is there and cannot be read.
    """
    with open_history(path) as file:
        at, first_row = file.seek(0, os.SEEK_END), b""
        while at or first_row:
            size = min(at, _END_BLOCK_BYTES)
            at -= size
            file.seek(at)
            rows = (file.read(size) + first_row).split(b"\n")
            first_row = rows.pop(0) if at else b""
            for row in reversed(rows):
                if (line := parse_history_line(row)) is not None:
                    yield line


def parse_history_line(row: bytes, members: int | None = None) -> Line | None:
    """The object in one row; None if it is torn, or no line of a history.

    Args:
      row: without its end.
      members: M, where it is known: lines with figures of another number of members are none.
    """
    if not 0 < len(row) <= MOST_ROW_BYTES:
        return None
    try:
        line = parse_json(row)
    except ValueError:
        return None
    if isinstance(line, dict) and line.get("kind") == "numeric_epoch":  # of a regression of version 1.0
        line["kind"] = "epoch"
    return line if is_valid_line(line, members) else None


def append_line(path: Path, line: Line) -> None:
    """Add a line in one write."""
    with open_plain_append(path) as file:
        file.write((json.dumps(convert_to_json(line), allow_nan=False) + "\n").encode())


def keep_matching_lines(path: Path, wanted: Callable[[Line], bool]) -> None:
    """Rewrite the file with the wanted lines alone: what came after a checkpoint comes again."""
    rows = [json.dumps(line) + "\n" for line in read_lines(path) if wanted(line)]
    write_bytes(path, "".join(rows).encode())


def convert_to_json(value: Any) -> Any:
    """NumPy and nested values as JSON has them; NaN and infinities as None."""
    if isinstance(value, dict):
        return {key: convert_to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [convert_to_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
