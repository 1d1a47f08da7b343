"""Paths from above to below through ink that touches, crossing as little of it as can be.

Found by dynamic programming (Wang and Jean, "Segmentation of merged characters by neural networks
and shortest path", 1994); the drop-fall of Congedo, Dimauro, Impedovo and Pirlo ("Segmentation of
numeric strings", 1995) follows one such path greedily.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROWS = 40  # cells of a piece's height, at which paths are looked for
DRIFT = 8  # cells that a path may leave its column to either side
EDGE = 6  # cells at the left and right that belong to the outermost digits
ASIDE = 0.02  # cost of a step aside, and a tenth of that of each cell away: ink costs 1
APART = 6  # cells between the means of two paths
MOST = 6


class Path(NamedTuple):
    """A way through a piece of ink, in cells."""

    columns: NDArray[np.intp]  # (ROWS,): what lies left of it is one side
    ink: int  # cells of ink crossed


def paths_through(ink: NDArray[np.bool_]) -> list[Path]:
    """The ways from above to below that cross little ink, the least first, at most `MOST`.

    Args:
      ink: bool (ROWS, w).
    """
    width = ink.shape[1]
    middles = np.arange(EDGE, width - EDGE, 2)
    if not len(middles):
        return []
    totals, steps = spread(ink, middles)
    ends = totals.argmin(axis=1)
    least = totals[np.arange(len(middles)), ends]
    found: list[Path] = []
    for k in np.argsort(least, kind="stable"):
        columns = trace(steps, int(k), int(ends[k])) + middles[k] - DRIFT
        if all(abs(columns.mean() - other.columns.mean()) >= APART for other in found):
            found.append(Path(columns, int(ink[np.arange(ROWS), columns].sum())))
        if len(found) == MOST:
            break
    return found


def spread(
    ink: NDArray[np.bool_], middles: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The least cost of arriving at each cell of the last row, and the steps that lead there.

    Args:
      ink: bool (ROWS, w).
      middles: (n,) columns around which a path each is looked for.

    Returns:
      costs (n, 2·DRIFT + 1) and steps (ROWS, n, 2·DRIFT + 1): -1, 0 or 1 column in the row above.
    """
    cost = np.full((ROWS, ink.shape[1] + 2 * DRIFT), 1000, np.float32)
    cost[:, DRIFT + EDGE // 2 : -DRIFT - EDGE // 2] = ink[:, EDGE // 2 : -(EDGE // 2)]
    window = np.arange(2 * DRIFT + 1)
    here = cost[:, middles[:, None] + window]  # (ROWS, n, window)
    here += (0.1 * ASIDE * np.abs(window - DRIFT)).astype(np.float32)
    total = here[0]
    steps = np.zeros(here.shape, np.int8)
    ways = np.full((3, *total.shape), np.inf, np.float32)
    for row in range(1, ROWS):
        ways[0, :, 1:] = total[:, :-1]
        ways[1] = total
        ways[2, :, :-1] = total[:, 1:]
        ways[::2] += 0.41 * here[row] + ASIDE  # a step aside crosses √2 as much
        steps[row] = ways.argmin(axis=0) - 1
        total = ways.min(axis=0) + here[row]
    return total, steps


def trace(steps: NDArray[np.int8], k: int, end: int) -> NDArray[np.intp]:
    """The columns (ROWS,) in the window of path `k`, back from where it ends."""
    columns = np.empty(ROWS, np.intp)
    for row in range(ROWS - 1, -1, -1):
        columns[row] = end
        end += int(steps[row, k, end])
    return columns
