"""Stretches: a mask as its rows' unbroken pieces, by which its parts are found in a few ms.

Ink is on a few hundredths of a photo, so working on stretches, as in Rosenfeld and Pfaltz
("Sequential operations in digital picture processing", 1966) and the run-based labelling of He,
Chao and Suzuki (2008), is several times faster than labelling every pixel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Stretches(NamedTuple):
    """R stretches of pixels, from above and from the left, sorted by part if `parts` says so.

    Attributes:
      rows: (R,) row of each.
      starts: (R,) first column.
      ends: (R,) column after the last.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    def take(self, which: NDArray[np.generic] | slice) -> "Stretches":
        """Some of them."""
        return Stretches(self.rows[which], self.starts[which], self.ends[which])


def stretches_of(mask: NDArray[np.bool_]) -> Stretches:
    """The stretches of a mask bool (H, W)."""
    inked = np.flatnonzero(mask.any(axis=1))
    if not len(inked):
        empty = np.zeros(0, np.intp)
        return Stretches(empty, empty, empty)
    top, bottom = int(inked[0]), int(inked[-1]) + 1
    width = mask.shape[1] + 1
    # A column of ground at the right keeps the end of one row from the start of the next.
    flat = np.zeros((bottom - top) * width + 1, bool)
    flat[1:].reshape(-1, width)[:, :-1] = mask[top:bottom]
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    rows = changes[::2] // width
    return Stretches(rows + top, changes[::2] - rows * width, changes[1::2] - rows * width)


def connect(stretches: Stretches) -> tuple[int, NDArray[np.int32]]:
    """How many parts the stretches make, and the part (R,) of each, from 0; corners connect."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, starts, ends = stretches
    count = len(rows)
    if not count:
        return 0, np.zeros(0, np.int32)
    wide = int(ends.max()) + 2
    below = (rows + 1) * wide
    first = np.searchsorted(rows * wide + ends, below + starts)
    last = np.searchsorted(rows * wide + starts, below + ends, side="right")
    touching = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(count), touching)
    lower = np.arange(len(upper)) + np.repeat(first - np.cumsum(touching) + touching, touching)
    links = coo_matrix((np.ones(len(upper), np.int8), (upper, lower)), (count, count))
    return connected_components(links, directed=False)


def paint(stretches: Stretches, box: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """The stretches, all of which lie in the box, as a mask of the box's size."""
    left, top, right, bottom = box
    steps = np.zeros((bottom - top, right - left + 1), np.int8)
    steps[stretches.rows - top, stretches.starts - left] = 1
    steps[stretches.rows - top, stretches.ends - left] -= 1
    return np.cumsum(steps[:, :-1], axis=1, dtype=np.int8).view(bool)
