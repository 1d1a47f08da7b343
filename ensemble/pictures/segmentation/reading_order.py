"""Reading order: which marks stand on one line, lines from above, marks from the left.

Handwriting climbs or falls and is not all of one height. Each mark's next one to the right gives
a slope; their median turns the whole picture level (O'Gorman, "The document spectrum for page
layout analysis", 1993), and what then overlaps in height stands on one line.
"""

import numpy as np
from numpy.typing import NDArray

_MAX_SLOPE = 0.2  # rise for a step: 11 degrees, about twice what people write on blank paper
_NEIGHBOR_REACH = 4.0  # heights of a mark, in which its neighbour is looked for
_MIN_LINE_OVERLAP = 0.4  # of the lower mark's height, that two on one line have in common


def determine_reading_order(boxes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order in which marks are read, and their lines.

    Args:
      boxes: (N, 4) left, top, right, bottom of each mark.

    Returns:
      order (N,), indices into `boxes` as they are read, and lines (N,) from 0, of `boxes`.
    """
    lines = _assign_text_lines(boxes, estimate_line_slope(boxes))
    middle = boxes[:, 0] + boxes[:, 2]
    return np.lexsort((middle, lines)), lines


def estimate_line_slope(boxes: NDArray[np.intp]) -> float:
    """How much the lines fall for a step to the right: the median from mark to next mark."""
    if len(boxes) < 2:
        return 0.0
    left, top, right, bottom = boxes.T.astype(float)
    x, height = (left + right) / 2, bottom - top
    step = x[None, :] - x[:, None]
    common = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    lower = np.minimum(height[:, None], height)
    tall = np.maximum(height[:, None], height)
    fit = (step > 0) & (step < _NEIGHBOR_REACH * tall) & (common >= _MIN_LINE_OVERLAP * lower) & (lower >= tall / 2)
    step = np.where(fit, step, np.inf)
    nearest = step.argmin(axis=1)
    here = np.flatnonzero(np.isfinite(step.min(axis=1)))
    if not len(here):
        return 0.0
    there = nearest[here]
    # Tops and bottoms both: a 4 reaches lower, a 6 higher than its neighbours.
    steps = np.tile(step[here, there], 2)
    slopes = np.concatenate([top[there] - top[here], bottom[there] - bottom[here]]) / steps
    order = np.argsort(slopes)
    half = np.searchsorted(np.cumsum(steps[order]), steps.sum() / 2)
    return float(np.clip(slopes[order][half], -_MAX_SLOPE, _MAX_SLOPE))


def _assign_text_lines(boxes: NDArray[np.intp], slope: float) -> NDArray[np.intp]:
    """The line (N,) of each mark, from 0 for the topmost, once the slope is taken out."""
    left, top, right, bottom = boxes.T.astype(float)
    level = slope * (left + right) / 2
    top, bottom = top - level, bottom - level
    lines: list[list[int]] = []
    # The highest marks found the lines; commas and dashes then join them.
    for mark in np.argsort(top - bottom, kind="stable"):
        shares = [_compute_line_overlap(top, bottom, line, mark) for line in lines]
        best = int(np.argmax(shares)) if shares else -1
        if best >= 0 and shares[best] >= _MIN_LINE_OVERLAP:
            lines[best].append(int(mark))
        else:
            lines.append([int(mark)])
    lines.sort(key=lambda line: float(np.mean([top[k] + bottom[k] for k in line])))
    numbers = np.zeros(len(boxes), np.intp)
    for number, line in enumerate(lines):
        numbers[line] = number
    return numbers


def _compute_line_overlap(top: NDArray[np.float64], bottom: NDArray[np.float64], line: list[int], mark: int) -> float:
    upper, lower = np.median(top[line]), np.median(bottom[line])
    common = min(bottom[mark], lower) - max(top[mark], upper)
    return float(common / min(bottom[mark] - top[mark], lower - upper))
