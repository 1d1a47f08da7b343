"""Files of JSON lines: appended to by one writer, read while they grow."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.storage.atomic import write_bytes

Line = dict[str, Any]


def read_lines(path: Path) -> list[Line]:
    """The objects in a file of JSON lines, without those that are torn."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    return [line for row in raw.split(b"\n") if (line := parse(row)) is not None]


def parse(row: bytes) -> Line | None:
    """The object in one row; None where it is torn, or no line of a history."""
    try:
        line = json.loads(row)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "kind" in line and "step" in line else None


def append_line(path: Path, line: Line) -> None:
    """Add a line in one write."""
    with path.open("ab") as file:
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
