"""Paths from above to below through ink that touches, crossing as little of it as can be.

Found by dynamic programming (Wang and Jean, "Segmentation of merged characters by neural networks
and shortest path", 1994); the drop-fall of Congedo, Dimauro, Impedovo and Pirlo ("Segmentation of
numeric strings", 1995) follows one such path greedily.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CELL_ROWS = 40  # cells of a piece's height, at which paths are looked for
_MAX_DRIFT = 8  # cells that a path may leave its column to either side
_EDGE_CELLS = 6  # cells at the left and right that belong to the outermost digits
_SIDESTEP_COST = 0.02  # cost of a step aside, and a tenth of that of each cell away: ink costs 1
_MIN_PATH_DISTANCE = 6  # cells between the means of two paths
_MAX_PATHS = 6


class CutPath(NamedTuple):
    """A way through a piece of ink, in cells."""

    columns: NDArray[np.intp]  # (CELL_ROWS,): what lies left of it is one side
    ink: int  # cells of ink crossed


def find_cut_paths(ink: NDArray[np.bool_]) -> list[CutPath]:
    """The ways from above to below that cross little ink, the least first, at most `_MAX_PATHS`.

    Args:
      ink: bool (CELL_ROWS, w).
    """
    width = ink.shape[1]
    middles = np.arange(_EDGE_CELLS, width - _EDGE_CELLS, 2)
    if not len(middles):
        return []
    totals, steps = _compute_path_costs(ink, middles)
    ends = totals.argmin(axis=1)
    least = totals[np.arange(len(middles)), ends]
    cut_paths: list[CutPath] = []
    for k in np.argsort(least, kind="stable"):
        columns = _trace_path_columns(steps, int(k), int(ends[k])) + middles[k] - _MAX_DRIFT
        if all(abs(columns.mean() - other.columns.mean()) >= _MIN_PATH_DISTANCE for other in cut_paths):
            cut_paths.append(CutPath(columns, int(ink[np.arange(CELL_ROWS), columns].sum())))
        if len(cut_paths) == _MAX_PATHS:
            break
    return cut_paths


def _compute_path_costs(
    ink: NDArray[np.bool_], middles: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The least cost of arriving at each cell of the last row, and the steps that lead there.

    Args:
      ink: bool (CELL_ROWS, w).
      middles: (n,) columns around which a path each is looked for.

    Returns:
      costs (n, 2·_MAX_DRIFT + 1) and steps (CELL_ROWS, n, 2·_MAX_DRIFT + 1): -1, 0 or 1 column in the row above.
    """
    cost = np.full((CELL_ROWS, ink.shape[1] + 2 * _MAX_DRIFT), 1000, np.float32)
    cost[:, _MAX_DRIFT + _EDGE_CELLS // 2 : -_MAX_DRIFT - _EDGE_CELLS // 2] = ink[
        :, _EDGE_CELLS // 2 : -(_EDGE_CELLS // 2)
    ]
    window = np.arange(2 * _MAX_DRIFT + 1)
    here = cost[:, middles[:, None] + window]  # (CELL_ROWS, n, window)
    here += (0.1 * _SIDESTEP_COST * np.abs(window - _MAX_DRIFT)).astype(np.float32)
    total = here[0]
    steps = np.zeros(here.shape, np.int8)
    ways = np.full((3, *total.shape), np.inf, np.float32)
    for row in range(1, CELL_ROWS):
        ways[0, :, 1:] = total[:, :-1]
        ways[1] = total
        ways[2, :, :-1] = total[:, 1:]
        ways[::2] += 0.41 * here[row] + _SIDESTEP_COST  # a step aside crosses √2 as much
        steps[row] = ways.argmin(axis=0) - 1
        total = ways.min(axis=0) + here[row]
    return total, steps


def _trace_path_columns(steps: NDArray[np.int8], k: int, end: int) -> NDArray[np.intp]:
    """The columns (CELL_ROWS,) in the window of path `k`, back from where it ends."""
    columns = np.empty(CELL_ROWS, np.intp)
    for row in range(CELL_ROWS - 1, -1, -1):
        columns[row] = end
        end += int(steps[row, k, end])
    return columns
