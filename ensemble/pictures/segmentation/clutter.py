"""Clutter: ink that is no digit by where it lies, such as dots, underlines and punched holes.

Told from the other marks alone, so what is by itself is never dropped: whether that is a digit is
the ensemble's question. A minus sign or a full stop of some size stays, too.
"""

import numpy as np
from numpy.typing import NDArray

_MAX_DOT_HEIGHT = 0.3  # of the usual height: what is lower and narrower is a dot, a comma or dirt
_MAX_LINE_ASPECT = 0.25  # of its own width: an underline is lower
_MIN_UNDERLINE_LENGTH = 0.7  # usual heights: and at least so long
_MAX_UNDERLINE_GAP = 0.8  # usual heights below the marks above it, at most
_DIGIT_HEIGHT_RANGE = (0.6, 1.5)  # usual heights: what runs out of the picture and is not like this is no digit
_EDGE_MARGIN = 0.005  # of the picture: what ends so near its edge runs out of it
_MIN_PUNCHED_HOLES = 6  # equal marks under each other, evenly spaced, from which on they are holes
_MAX_HOLE_DEVIATION = 0.12  # deviation of their sizes and distances, as a share
_HOLE_RIM_SHARE = 0.2  # of the picture's width, in which holes are punched

_CLUTTER_NAMES = {
    "frame": "frame around others",
    "hole": "punched hole",
    "cut off": "shape cut off by the edge of the picture",
    "dot": "dot much smaller than the rest",
    "underline": "underline",
}
_CLUTTER_PLURALS = {
    "frame": "frames around others",
    "hole": "punched holes",
    "cut off": "shapes cut off by the edge of the picture",
    "dot": "dots much smaller than the rest",
    "underline": "underlines",
}


def exclude_clutter(boxes: NDArray[np.intp], size: tuple[int, int]) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which marks are no clutter, bool (N,), and a note on each kind that is left out.

    Args:
      boxes: (N, 4) left, top, right, bottom of the marks in pixels.
      size: (width, height) of the picture.
    """
    digits = np.ones(len(boxes), bool)
    notes = []
    for kind, find in _CLUTTER_FINDERS.items():
        clutter = np.flatnonzero(digits)[find(boxes[digits], size)]
        if 0 < len(clutter) < digits.sum():
            digits[clutter] = False
            what = _CLUTTER_NAMES[kind] if len(clutter) == 1 else _CLUTTER_PLURALS[kind]
            notes.append(f"Left out: {len(clutter)} {what}.")
    return digits, tuple(notes)


def estimate_digit_height(boxes: NDArray[np.intp]) -> float:
    """The height of the digits: half of all ink's height stands in marks at least this high."""
    if not len(boxes):
        return 0.0
    heights = np.sort(boxes[:, 3] - boxes[:, 1])[::-1]
    return float(heights[np.searchsorted(np.cumsum(heights), heights.sum() / 2)])


def _find_dot_marks(boxes: NDArray[np.intp], size: tuple[int, int]) -> NDArray[np.bool_]:
    """What is tiny beside the marks at its height of the picture; no commas, no dirt."""
    left, top, right, bottom = boxes.T
    height = bottom - top
    largest = np.maximum(height, right - left)
    level = (np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)) > -height
    # Small writing below a large headline is measured by its own line.
    line = np.array([estimate_digit_height(boxes[row]) for row in level]) if len(boxes) < 200 else 0.0
    return largest < _MAX_DOT_HEIGHT * np.maximum(line, _MAX_DOT_HEIGHT * estimate_digit_height(boxes))


def _find_underlines(boxes: NDArray[np.intp], size: tuple[int, int]) -> NDArray[np.bool_]:
    """Flat long marks close below others: underlines, and the bars of fractions."""
    left, top, right, bottom = boxes.T
    width, height = right - left, bottom - top
    usual = (
        estimate_digit_height(boxes[height > _MAX_LINE_ASPECT * width])
        if (height > _MAX_LINE_ASPECT * width).any()
        else 0.0
    )
    flat = (height <= _MAX_LINE_ASPECT * width) & (width >= _MIN_UNDERLINE_LENGTH * usual)
    middle = (left + right) / 2
    over = (middle > left[:, None]) & (middle < right[:, None])
    drop = top[:, None] - bottom
    below = over & (drop > -0.1 * usual) & (drop < _MAX_UNDERLINE_GAP * usual) & ~flat
    return flat & below.any(axis=1)


def _find_cut_off_marks(boxes: NDArray[np.intp], size: tuple[int, int]) -> NDArray[np.bool_]:
    left, top, right, bottom = boxes.T
    near = 1 + _EDGE_MARGIN * max(size)
    out = np.minimum(left, top) <= near
    out |= np.minimum(size[0] - right, size[1] - bottom) <= near
    usual = estimate_digit_height(boxes[~out])
    height = bottom - top
    return out & (usual > 0) & ((height < _DIGIT_HEIGHT_RANGE[0] * usual) | (height > _DIGIT_HEIGHT_RANGE[1] * usual))


def _find_punched_holes(boxes: NDArray[np.intp], size: tuple[int, int]) -> NDArray[np.bool_]:
    left, top, right, bottom = boxes.T
    x, y, width, height = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
    rim = (x < _HOLE_RIM_SHARE * size[0]) | (x > (1 - _HOLE_RIM_SHARE) * size[0])
    holes = np.zeros(len(boxes), bool)
    for k in np.flatnonzero(rim)[:100]:
        alike = np.abs(x - x[k]) < 0.5 * width[k]
        alike &= np.abs(height - height[k]) <= _MAX_HOLE_DEVIATION * height[k] + 2
        alike &= np.abs(width - width[k]) <= _MAX_HOLE_DEVIATION * width[k] + 2
        steps = np.diff(np.sort(y[alike]))
        if alike.sum() >= _MIN_PUNCHED_HOLES and steps.std() < _MAX_HOLE_DEVIATION * steps.mean():
            holes |= alike
    return holes


def _find_enclosing_frames(boxes: NDArray[np.intp], size: tuple[int, int]) -> NDArray[np.bool_]:
    """What goes around two others of some size, or broadly around one: a form's boxes."""
    left, top, right, bottom = boxes.T
    width, height = right - left, bottom - top
    within = (left > left[:, None]) & (right < right[:, None])
    within &= (top > top[:, None]) & (bottom < bottom[:, None])
    within &= height >= _MAX_DOT_HEIGHT * height[:, None]
    inside = within.sum(axis=1)
    return (inside >= 2) | ((inside == 1) & (width > 1.6 * height))


_CLUTTER_FINDERS = {
    "frame": _find_enclosing_frames,
    "hole": _find_punched_holes,
    "cut off": _find_cut_off_marks,
    "dot": _find_dot_marks,
    "underline": _find_underlines,
}
