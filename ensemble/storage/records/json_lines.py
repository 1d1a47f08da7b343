"""Files of JSON lines: appended to by one writer, read while they grow."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.errors import RunError
from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.plain_files import open_plain_append, open_plain_file, parse_json
from ensemble.storage.records.history_lines import Line, is_valid_line


def read_lines(path: Path, members: int | None = None) -> list[Line]:
    """The objects in a file of JSON lines, without those that are torn or odd.

    Args:
      path: a history.jsonl, which need not be there.
      members: M, where it is known: see `parse_history_line`.

    Raises:
      RunError: the file is there and cannot be read.
    """
    raw = read_history_bytes(path, 0)
    return [
        line for row in raw.split(b"\n") if (line := parse_history_line(row, members)) is not None
    ]


def read_history_bytes(path: Path, start: int) -> bytes:
    """A history's bytes from `start` on; none where there is not a file.

    Raises:
      RunError: the file is there and cannot be read.
    """
    try:
        with open_plain_file(path) as file:
            file.seek(start)
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RunError(
            f"The history of the run “{path.parent.name}” cannot be read ({error.strerror}): "
            f"put {path} back, or delete it to continue without it."
        ) from error


def parse_history_line(row: bytes, members: int | None = None) -> Line | None:
    """The object in one row; None if it is torn, or no line of a history.

    Args:
      row: without its end.
      members: M, where it is known: lines with figures of another number of members are none.
    """
    try:
        line = parse_json(row)
    except ValueError:
        return None
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
