"""Copies among examples that come without images: rows of predictions that repeat exactly."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import number_groups

_MIN_DIFFERENT_ROWS = 10  # below which nothing can be said about how rows differ
_FEW_SHARING_ROWS = 2  # other rows with the same number, up to which that looks like coincidence
_MIN_COPY_RATIO = 4  # rows that repeat as a whole, per row that shares a number by coincidence


def find_repeated_rows(probabilities: NDArray[np.float32], labels: NDArray[np.int32]) -> NDArray[np.int64] | None:
    """Return the groups of examples that are copies of each other, (N,); None if there are none.

    A row is an example's label and all its members' probabilities. Rows also repeat by coincidence
    if members give only votes, leaves of a tree, few decimals or exact zeros and ones. Then rows
    that differ share numbers too. So a row that repeats is a copy only if, for some member, one of
    its numbers is in no different row, and if at most one row in `_MIN_COPY_RATIO` repeated ones
    shares even its rarest number with one or two different rows, as coincidence would have it.

    Args:
      probabilities: (E, M, N, C).
      labels: (N,).
    """
    rows = number_groups(
        np.array(
            [
                hashlib.blake2b(bytes(label) + probabilities[:, :, n].tobytes()).hexdigest()
                for n, label in enumerate(labels[:, None])
            ]
        )
    )
    counts = np.bincount(rows)
    if len(counts) == len(rows) or len(counts) < _MIN_DIFFERENT_ROWS:
        return None
    first = np.unique(rows, return_index=True)[1]
    shared = np.min([_count_sharing_rows(member[first]) for member in probabilities[-1]], axis=0)
    copied = (counts > 1) & (shared == 0)
    by_chance = (shared > 0) & (shared <= _FEW_SHARING_ROWS)
    if copied.sum() <= _MIN_COPY_RATIO * by_chance.sum():
        return None
    joined = np.where(copied[rows], rows, len(counts) + np.arange(len(rows)))
    return number_groups(joined).astype(np.int64)


def describe_repeated_rows(repeats: NDArray[np.int64] | None) -> list[str]:
    """Return what is assumed of copies, of `find_repeated_rows`, as at most one sentence."""
    if repeats is None:
        return []
    copies = len(repeats) - (int(repeats.max()) + 1)
    return [
        f"{copies:,} of the {len(repeats):,} examples {'repeats' if copies == 1 else 'repeat'} "
        "another one exactly: its label and all numbers of all members. They are taken as copies "
        "and count once. If they are different examples, import them with their images."
    ]


def _count_sharing_rows(numbers: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return for each of K rows of (K, C) how many others have its rarest number, (K,)."""
    rows, classes = numbers.shape
    codes = np.unique(numbers, return_inverse=True)[1].reshape(rows, classes)
    codes.sort(axis=1)
    is_new = np.ones((rows, classes), bool)
    is_new[:, 1:] = codes[:, 1:] != codes[:, :-1]
    sharing = np.bincount(codes[is_new]) - 1
    return np.asarray(sharing[codes].min(axis=1))
