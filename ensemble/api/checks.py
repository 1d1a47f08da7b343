"""Arrays as somebody hands them in, made what the analysis takes, or refused by their entry."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.analysis.quality.averaging import Floats
from ensemble.errors import DataError

TOLERANCE = 1e-3  # of a row's sum: a softmax in half precision rounds by so much


def checked_probabilities(given: ArrayLike, *place: int) -> Floats:
    """(M, N, C) of what is given as (M, N, C), or as (N, C) of one member.

    Args:
      given: the numbers.
      place: where they stand in a larger array, to name an entry by.

    Raises:
      DataError: it has another shape, or an entry is no probability or a row sums to something
        else than 1.
    """
    found = _numbers(given, "Probabilities")
    for m, member in enumerate(found):
        low, high = member.min(axis=-1), member.max(axis=-1)
        wrong = ~((low >= 0) & (high <= 1 + TOLERANCE))  # so that NaN is wrong too
        sums = member.sum(axis=-1, dtype=np.float64)
        off = ~(np.abs(sums - 1) <= TOLERANCE)
        if wrong.any() or off.any():
            n = int((wrong | off).argmax())
            what = f"sum to {sums[n]:.6g}" if not wrong[n] else f"are {_row(member[n])}"
            raise DataError(
                f"Probabilities{_at(*place, m, n)} {what}: each row has to be at least 0 and "
                "sum to 1. Of numbers before a softmax say logits=True."
            )
    return found


def softmax(given: ArrayLike, *place: int) -> Floats:
    """Probabilities (M, N, C) of logits (M, N, C), or (N, C) of one member.

    Args:
      given: the numbers.
      place: where they stand in a larger array, to name an entry by.

    Raises:
      DataError: they have another shape, or one is not a finite number.
    """
    found = _numbers(given, "Logits")
    made = np.empty(found.shape, found.dtype)
    for m, member in enumerate(found):
        if not (finite := np.isfinite(member).all(axis=-1)).all():
            n = int(finite.argmin())
            raise DataError(
                f"Logits{_at(*place, m, n)} are {_row(member[n])}: each has to be finite."
            )
        powers = np.exp(member - member.max(axis=-1, keepdims=True))
        made[m] = powers / powers.sum(axis=-1, keepdims=True)
    return made


def checked_labels(given: ArrayLike, examples: int, classes: int) -> NDArray[np.int32]:
    """(N,) class numbers in [0, C).

    Raises:
      DataError: there are more or fewer than N, or one is no class number.
    """
    found = array_of(given, "Labels")
    if found.shape != (examples,):
        raise DataError(
            f"Labels of shape {found.shape} for {examples:,} examples: give one number for each."
        )
    if found.dtype.kind not in "iuf":
        raise DataError(f"Labels are of type {found.dtype}: give class numbers from 0.")
    wrong = ~((found >= 0) & (found < classes)) | (found % 1 != 0)
    if wrong.any():
        n = int(wrong.argmax())
        raise DataError(
            f"Labels[{n}] is {found[n]}: with {classes:,} classes it has to be a whole number "
            f"from 0 to {classes - 1:,}."
        )
    return found.astype(np.int32)


def _numbers(given: ArrayLike, what: str) -> Floats:
    found = array_of(given, what)
    if found.dtype.kind not in "iuf":
        raise DataError(f"{what} are of type {found.dtype}: give real numbers.")
    if found.ndim == 2:
        found = found[None]
    if found.ndim != 3 or 0 in found.shape or found.shape[-1] < 2:
        raise DataError(
            f"{what} of shape {found.shape} are not (members, examples, classes), with two classes "
            "or more, nor (examples, classes) of one member."
        )
    kept = found.dtype in (np.float32, np.float64)
    # A view: it is marked read-only, and the array that was handed in is not.
    return found.view() if kept else found.astype(np.float32)


def array_of(given: ArrayLike, what: str) -> NDArray[Any]:
    """One array of what is given, lists of lists as well.

    Raises:
      DataError: its parts are of different lengths.
    """
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:  # members of different lengths
        raise DataError(f"{what} are no array of one shape: {error!s:.120}.") from error


def _at(*place: int) -> str:
    return f"[{', '.join(map(str, place))}]"


def _row(row: NDArray[Any]) -> str:
    shown = ", ".join(f"{value:.4g}" for value in row[:4])
    return f"[{shown}{', …' if len(row) > 4 else ''}]"
