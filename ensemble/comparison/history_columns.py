"""What runs wrote as they trained, as arrays: read once for each version of a file."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.runs.store import Run
from ensemble.storage.folder_index import file_version
from ensemble.storage.records.jsonl_tail import JsonlTail

Doubles = NDArray[np.float64]
# Whose images the figures of a line are of.
_LINE_SPLITS = {"steps": ("train",), "epoch": ("train", "validation", "test")}


@dataclass(frozen=True, eq=False)
class _HistoryColumns:
    """The lines of one kind, P of them, in their order; what is not known is NaN.

    Attributes:
      single: (P,) by field: where the line stands, and the ensemble's figures.
      members: (P, M) by field: the members' figures.
    """

    single: dict[str, Doubles]
    members: dict[str, Doubles]


def load_history_columns(run: Run, kind: str) -> _HistoryColumns:
    """The run's lines of a kind, "steps" or "epoch"; shared, so treat it as read-only.

    Of a long run's steps only so many as curves need: see `LineThinner`.

    Raises:
      RunError: the history cannot be read.
    """
    path = run.path / "history.jsonl"
    return _parse_history_columns(path, file_version(str(path)), run.config.members)[kind]


@functools.lru_cache(maxsize=64)  # of 10 epochs and 4 members 40 kB, of 1,000 and 64 8 MB
def _parse_history_columns(path: Path, version: Any, members: int) -> dict[str, _HistoryColumns]:
    rows = JsonlTail(path, members, thinned=True).read_lines()
    return {
        kind: _build_history_columns([row for row in rows if row.get("kind") == kind], members, splits)
        for kind, splits in _LINE_SPLITS.items()
    }


def _build_history_columns(rows: list[dict[str, Any]], members: int, splits: tuple[str, ...]) -> _HistoryColumns:
    whole = [f"ensemble_{split}_{figure}" for split in splits for figure in ("nll", "accuracy")]
    single = {
        name: np.array([_number_or_nan(row.get(name)) for row in rows])
        for name in ("progress", "step", "seconds", *whole)
    }
    each = {
        name: np.array([_member_numbers(row.get(name), members) for row in rows])
        for split in splits
        for name in (f"{split}_loss", f"{split}_accuracy")
    }
    return _HistoryColumns(single, {name: column.reshape(-1, members) for name, column in each.items()})


def _number_or_nan(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else np.nan


def _member_numbers(values: Any, members: int) -> list[float]:
    if not isinstance(values, list) or len(values) != members:
        return [np.nan] * members
    return [_number_or_nan(value) for value in values]
