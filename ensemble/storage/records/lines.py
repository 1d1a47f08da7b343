"""Files of JSON lines: appended to by one writer, read while they grow."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.errors import RunError
from ensemble.storage.atomic import write_bytes
from ensemble.storage.reading import opened, opened_to_append, parse_json
from ensemble.storage.records.kinds import Line, is_whole


def read_lines(path: Path, members: int | None = None) -> list[Line]:
    """The objects in a file of JSON lines, without those that are torn or odd.

    Args:
      path: a history.jsonl, which need not be there.
      members: M, where it is known: see `parse`.

    Raises:
      RunError: the file is there and cannot be read.
    """
    raw = whole_lines(path, 0)
    return [line for row in raw.split(b"\n") if (line := parse(row, members)) is not None]


def whole_lines(path: Path, start: int) -> bytes:
    """A history's bytes from `start` on; none where there is no file.

    Raises:
      RunError: the file is there and cannot be read.
    """
    try:
        with opened(path) as file:
            file.seek(start)
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RunError(
            f"The history of the run “{path.parent.name}” cannot be read ({error.strerror}): put "
            f"{path} back, or take it away to go on without it."
        ) from error


def parse(row: bytes, members: int | None = None) -> Line | None:
    """The object in one row; None where it is torn, or no line of a history.

    Args:
      row: without its end.
      members: M, where it is known: lines with figures of another number of members are none.
    """
    try:
        line = parse_json(row)
    except ValueError:
        return None
    return line if is_whole(line, members) else None


def append_line(path: Path, line: Line) -> None:
    """Add a line in one write."""
    with opened_to_append(path) as file:
        file.write((json.dumps(plain(line), allow_nan=False) + "\n").encode())


def keep_lines(path: Path, wanted: Callable[[Line], bool]) -> None:
    """Rewrite the file with the wanted lines alone: what came after a checkpoint comes again."""
    rows = [json.dumps(line) + "\n" for line in read_lines(path) if wanted(line)]
    write_bytes(path, "".join(rows).encode())


def plain(value: Any) -> Any:
    """NumPy and nested values as JSON has them; NaN and infinities as None."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
