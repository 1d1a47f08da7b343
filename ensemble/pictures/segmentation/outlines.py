"""Outlines: digits that are drawn by their edge alone, as on signs and shirts, made solid.

What lies between the two lines of such a digit is ground that ink goes around; what that goes
around in turn, the loop of a 6, is ground again. A 0 made solid is a blob, and so is each loop of
an 8: only what is then many times as long as it is wide, and everywhere about as wide, was an
outline.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.segmentation.mnist_form import find_ink_box, measure_stroke_width

_CELLS = 96  # cells of the longer side, on which it is decided
_MIN_HOLE_SHARE = 0.02  # of the box: a hole that is smaller is grain
_MIN_SOLID_LENGTH = 8.0  # widths of the solid's stroke: filled loops are up to 6 long
_MAX_SOLID_WIDTH = 0.22  # of the longer side
_MIN_GROWTH = 1.3  # times as much ink: with less nothing has been filled
_MIN_LINE_RATIO = 1.8  # widths of the line: the solid's stroke is wider
_MIN_EDGE_SHARE = 0.93  # of the ink that is beside what is filled: all of it is an edge


def fill_outline(cut: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The solid digit of which this ink, uint8 (h, w), is the outline; the ink, if it is none."""
    from scipy import ndimage

    box = find_ink_box(cut > 127)
    if box is None:
        return cut
    left, top, right, bottom = box
    small = Image.fromarray(cut[top:bottom, left:right])
    small.thumbnail((_CELLS, _CELLS), Image.Resampling.BOX)
    ink = np.pad(np.asarray(small) > 90, 1)
    solid = _fill_between_lines(ink)
    if solid is None or solid.sum() < _MIN_GROWTH * ink.sum():
        return cut
    line, stroke = measure_stroke_width(ink).stroke, measure_stroke_width(solid).stroke
    long = max(ink.shape) - 2
    if not _MIN_LINE_RATIO * max(line, 1.0) <= stroke <= _MAX_SOLID_WIDTH * long:
        return cut
    if solid.sum() < _MIN_SOLID_LENGTH * stroke**2:
        return cut
    near = ndimage.binary_dilation(solid & ~ink, iterations=max(2, round(1.5 * line)))
    if near[ink].mean() < _MIN_EDGE_SHARE:
        return cut
    whole = _fill_between_lines(np.pad(cut > 90, 1))
    if whole is None:
        return cut
    return np.where(whole[1:-1, 1:-1], 255, cut).astype(np.uint8)


def _fill_between_lines(ink: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Ink, bool (h, w) with ground around it, and the ground that one line separates from there.

    None where ink goes around nothing.
    """
    from scipy import ndimage

    ground, count = ndimage.label(~ink)
    areas = np.bincount(ground.ravel(), minlength=count + 1)
    least = _MIN_HOLE_SHARE * ink.size
    if not (areas[2:] >= least).any():
        return None
    lines, _ = ndimage.label(ink, np.ones((3, 3)))
    outer = np.unique(lines[ndimage.binary_dilation(ground == ground[0, 0]) & ink])
    # The lines that are seen from outside; what is inside another line is an inner edge.
    outermost = np.isin(lines, outer)
    inside = ndimage.binary_fill_holes(outermost) & ~outermost
    filled = np.isin(ground, ground[inside]) & ~ink
    # Small holes and what inner lines go around stay open.
    inner = ink & ~outermost
    loops = ndimage.binary_fill_holes(inner) & ~inner
    return ink | (filled & ~loops)
