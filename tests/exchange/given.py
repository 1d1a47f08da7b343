"""Predictions as people save them, made from one seed."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from ensemble import exchange

M, N, C = 3, 40, 4
RNG = np.random.default_rng(7)
LOGITS = RNG.normal(size=(M, N, C)) * 3
PROBABILITIES = scipy.special.softmax(LOGITS, axis=-1).astype(np.float32)
LABELS = RNG.integers(0, C, N)
LABELS[:C] = range(C)


def saved(folder: Path, name: str = "a.npz", **arrays: Any) -> Path:
    """An .npz of these arrays, as NumPy writes it; an array of objects with pickle."""
    path = folder / name
    np.savez(path, **{key: np.asanyarray(value) for key, value in arrays.items()})
    return path


def taken(folder: Path, **arrays: Any) -> exchange.MemberOutputs:
    """What is read of an .npz of these arrays, with the labels if none are given."""
    return exchange.read_prediction_files([saved(folder, **{"labels": LABELS, **arrays})])


def written(folder: Path, text: str, name: str = "a.csv") -> Path:
    """A file of text."""
    path = folder / name
    path.write_text(text)
    return path


def rows_of(probabilities: NDArray[Any], labels: NDArray[Any]) -> list[list[Any]]:
    """A table's rows of (M, N, C): example, member, label, classes."""
    members, examples = probabilities.shape[:2]
    return [[n, m, labels[n], *probabilities[m, n].tolist()] for m in range(members) for n in range(examples)]


def csv_of(columns: list[str], rows: list[list[Any]], delimiter: str = ",") -> str:
    """The text of a table."""
    return "\n".join(delimiter.join(map(str, row)) for row in [columns, *rows]) + "\n"


def uploaded(path: Path) -> io.BytesIO:
    """A file as a page has it, once it was handed in."""
    found = io.BytesIO(path.read_bytes())
    found.name = path.name  # type: ignore[attr-defined]
    return found
