"""Run lengths: a mask as its rows' unbroken runs of ink, which label its components in a few ms.

Ink is on a few hundredths of a photo, so working on runs, as in Rosenfeld and Pfaltz
("Sequential operations in digital picture processing", 1966) and the run-based labelling of He,
Chao and Suzuki (2008), is several times faster than labelling every pixel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RunLengths(NamedTuple):
    """R runs of ink, each in one row; from top to bottom and left to right unless sorted again.

    Attributes:
      rows: (R,) the row of each.
      starts: (R,) its first column.
      ends: (R,) the column after its last.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    def take(self, which: NDArray[np.generic] | slice) -> "RunLengths":
        """The runs of these numbers, in this order."""
        return RunLengths(self.rows[which], self.starts[which], self.ends[which])


def encode_run_lengths(mask: NDArray[np.bool_]) -> RunLengths:
    """The run lengths of a mask, bool (H, W)."""
    inked = np.flatnonzero(mask.any(axis=1))
    if not len(inked):
        empty = np.zeros(0, np.intp)
        return RunLengths(empty, empty, empty)
    top, bottom = int(inked[0]), int(inked[-1]) + 1
    width = mask.shape[1] + 1
    # A column of ground at the right keeps the end of one row from the start of the next.
    flat = np.zeros((bottom - top) * width + 1, bool)
    flat[1:].reshape(-1, width)[:, :-1] = mask[top:bottom]
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    rows = changes[::2] // width
    return RunLengths(rows + top, changes[::2] - rows * width, changes[1::2] - rows * width)


def label_run_components(lengths: RunLengths) -> tuple[int, NDArray[np.int32]]:
    """The number of connected components, and that of each run, (R,), from 0; corners connect."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, starts, ends = lengths
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


def paint_run_lengths(lengths: RunLengths, box: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """A mask of the box's size; all runs have to lie in the box (left, top, right, bottom)."""
    left, top, right, bottom = box
    steps = np.zeros((bottom - top, right - left + 1), np.int8)
    steps[lengths.rows - top, lengths.starts - left] = 1
    steps[lengths.rows - top, lengths.ends - left] -= 1
    return np.cumsum(steps[:, :-1], axis=1, dtype=np.int8).view(bool)
