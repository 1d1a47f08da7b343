"""A digit's ink of any size and any pen, brought to MNIST's form: stroke, box, edges, centre.

MNIST's making (LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document
recognition", 1998, section III.A): black-and-white digits were scaled into a box of 20×20 pixels
with their shape kept, which left soft edges, and were laid into 28×28 with the centre of mass in
the middle. The same is done here on a bench of four cells to a pixel, where strokes are first
made thicker or thinner by their distance from the edge (a dilation or erosion by a disc: Serra,
"Image analysis and mathematical morphology", 1982).

MNIST's strokes, measured as `measure_stroke_width` measures (4,000 training digits, in pixels of
the 20×20 box): 1 % are below 1.62, 5 % below 1.90, 10 % below 2.06, a quarter below 2.35, half
below 2.71, three quarters below 3.15, 90 % below 3.73, 95 % below 4.18, 99 % below 5.26.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MNIST_SIDE = 28
_MNIST_BOX = 19.6  # pixels between half-way edges: the soft edges then end at MNIST's 20
_MNIST_CENTER = 14.0  # the pixel, counted from 0, on which MNIST's centres of mass lie
_CELLS_PER_PIXEL = 4  # cells of the bench in a pixel
MIN_STROKE, MAX_STROKE = 2.1, 3.4  # pixels: strokes between these are left as they are
FINE_PEN_STROKE, FINEST_STROKE = 2.6, 1.4  # pens of at most FINEST_STROKE are widened to FINE_PEN_STROKE
_CENTER_OFFSET = _MNIST_CENTER - (MNIST_SIDE - 1) / 2  # pixel (14, 14) lies half a pixel after the picture's middle
_MAX_INK_REACH = MNIST_SIDE / 2 - _CENTER_OFFSET - 0.5  # pixels that ink may reach from the centre
_MIN_STROKE_CHANGE = 0.25  # cells: strokes are not changed for less
_MIN_LOOP_CELLS = 3.0  # cells of ground, from its middle, that stay open in a loop
_FINE_PEN_LEVEL = 0.75  # of a cell: a pen finer than this is drawn darker on the bench
_MIN_CORE_CELLS = 1.5  # cells that have to be left on either side of a stroke's middle
_MAX_THINNING_SHARE = 0.3  # widths of the stroke that may be taken off from either side
_SOFT_LEVEL = 0.13  # of full ink: less than this becomes none, and as much below full becomes full


class _StrokeWidth(NamedTuple):
    """How wide the strokes of a shape are, and how that was found."""

    stroke: float  # in pixels of the array
    edge_distance: NDArray[np.float32]  # (h, w) distance to the nearest pixel that is not ink


def convert_to_mnist(cut: NDArray[np.uint8], thin: float = MIN_STROKE, thick: float = MAX_STROKE) -> NDArray[np.uint8]:
    """The ink of one digit in the form of MNIST's pictures.

    Args:
      cut: uint8 (h, w), how much of each pixel is ink, 255 all of it; half marks the edge.
      thin: strokes thinner than this, in pixels of the result, are made thicker.
      thick: strokes thicker than this are made thinner.

    Returns:
      uint8 (28, 28, 1), 0 ground and 255 ink; all zeros where there is no ink.
    """
    cells = _scale_to_bench(cut)
    if cells is None:
        return np.zeros((MNIST_SIDE, MNIST_SIDE, 1), np.uint8)
    return _place_on_canvas(_adjust_stroke_width(cells, thin, thick))[:, :, np.newaxis]


def _scale_to_bench(cut: NDArray[np.uint8]) -> NDArray[np.float32] | None:
    """The ink scaled so that its longer side has 80 cells, with an empty margin; in 0..1."""
    box = find_ink_box(cut > 127)
    if box is None:
        return None
    left, top, right, bottom = box
    scale = _MNIST_BOX * _CELLS_PER_PIXEL / max(right - left, bottom - top)
    margin = 3 * _CELLS_PER_PIXEL
    width = max(1, round((right - left) * scale)) + 2 * margin
    height = max(1, round((bottom - top) * scale)) + 2 * margin
    reach = int(np.ceil((margin + 1) / scale)) + 2  # sides are rounded to whole cells
    x, y = (left + right) / 2 + reach, (top + bottom) / 2 + reach
    half_x, half_y = width / scale / 2, height / scale / 2
    # Averages when shrinking; when enlarging, a cubic, whose half-way line is a smooth curve.
    resampling = Image.Resampling.BOX if scale < 0.5 else Image.Resampling.BICUBIC
    image = Image.fromarray(np.pad(cut, reach))
    box_on_cut = (x - half_x, y - half_y, x + half_x, y + half_y)
    cells = np.asarray(image.resize((width, height), resampling, box_on_cut))
    return _strengthen_fine_ink(cells.astype(np.float32) / np.float32(255))


def _strengthen_fine_ink(cells: NDArray[np.float32]) -> NDArray[np.float32]:
    from scipy import ndimage

    ridge = cells[(cells == ndimage.maximum_filter(cells, 3)) & (cells > 0.02)]
    usual = float(np.quantile(ridge, 0.25)) if ridge.size else 0.0
    return cells if usual > _FINE_PEN_LEVEL else (cells * (_FINE_PEN_LEVEL / max(usual, 0.05))).clip(0, 1)


def find_ink_box(ink: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """Left, top, right, bottom of ink bool (h, w), right and bottom beyond it; None without."""
    columns, rows = np.flatnonzero(ink.any(axis=0)), np.flatnonzero(ink.any(axis=1))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def measure_stroke_width(ink: NDArray[np.bool_]) -> _StrokeWidth:
    """The width of strokes, from the mean distance to their edge: a quarter of it in a long band.

    Args:
      ink: bool (h, w) with no ink on the border.
    """
    from scipy import ndimage

    inside = ndimage.distance_transform_edt(ink).astype(np.float32)
    # The outermost pixel's middle is 1 away from the next one's, but 0.5 from the edge.
    return _StrokeWidth(float(4 * inside[ink].mean() - 1), inside)


def _adjust_stroke_width(cells: NDArray[np.float32], thin: float, thick: float) -> NDArray[np.float32]:
    """The bench's cells with strokes as wide as `_compute_target_width` says."""
    ink = cells > 0.5
    width = measure_stroke_width(ink)
    size = max(ink.any(axis=0).sum(), ink.any(axis=1).sum())
    wanted = _compute_target_width(width.stroke * _MNIST_BOX / size, thin, thick) / _MNIST_BOX
    # The box grows with the stroke, and is scaled to 20 afterwards: w + 2g = wanted·(size + 2g).
    grow = (wanted * size - width.stroke) / (2 * (1 - wanted))
    if abs(grow) < _MIN_STROKE_CHANGE:
        return cells
    return _thicken_ink(ink, grow) if grow > 0 else _thin_ink(ink, width, -grow)


def _compute_target_width(stroke: float, thin: float, thick: float) -> float:
    """How wide strokes are to be that would be `stroke` pixels wide in the result.

    MNIST's own finest strokes hardly change; a pen finer than all of them is drawn about as wide
    as most of them are.
    """
    if stroke >= thin:
        return min(stroke, thick)
    finer = min(1.0, (thin - stroke) / (MIN_STROKE - FINEST_STROKE))
    return thin + finer * (FINE_PEN_STROKE - MIN_STROKE)


def _thicken_ink(ink: NDArray[np.bool_], grow: float) -> NDArray[np.float32]:
    """Ink grown by `grow` cells to all sides, except where that would close a loop."""
    from scipy import ndimage

    outside = ndimage.distance_transform_edt(~ink).astype(np.float32)
    ground, count = ndimage.label(~ink)
    reach = np.full(count + 1, grow, np.float32)
    if count > 1:
        depth = ndimage.maximum(outside, ground, np.arange(1, count + 1))
        reach[1:] = np.minimum(grow, np.maximum(np.asarray(depth) - _MIN_LOOP_CELLS, 0))
        reach[ground[0, 0]] = grow
    reach[0] = grow
    return (1 - outside + reach[ground]).clip(0, 1)


def _thin_ink(ink: NDArray[np.bool_], width: _StrokeWidth, shrink: float) -> NDArray[np.float32]:
    """Ink taken off by `shrink` cells from all sides, by less where that would cut or drop some."""
    from scipy import ndimage

    shrink = min(shrink, _MAX_THINNING_SHARE * width.stroke)
    before = _count_ink_components(ink)
    while shrink >= _MIN_STROKE_CHANGE:
        cells = (width.edge_distance - shrink).clip(0, 1)
        core = width.edge_distance - shrink > _MIN_CORE_CELLS
        # Ends and corners are cut by √2 times as much; what is farther from all that is left
        # was a thin part of its own.
        if core.any() and _count_ink_components(cells > 0.5) == before:
            lost = ndimage.distance_transform_edt(~core)[ink].max()
            if lost <= 2 * (shrink + _MIN_CORE_CELLS) + 2:
                return cells
        shrink /= 2
    return ink.astype(np.float32)


def _count_ink_components(ink: NDArray[np.bool_]) -> tuple[int, int]:
    from scipy import ndimage

    return ndimage.label(ink, np.ones((3, 3)))[1], ndimage.label(~ink)[1]


def _place_on_canvas(cells: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Cells of ink laid into 28×28: the longer side 20 pixels, centre of mass on pixel (14, 14)."""
    left, top, right, bottom = _find_ink_edges(cells)
    cell = max(right - left, bottom - top) / _MNIST_BOX
    mass = cells.sum()
    x = float(cells.sum(axis=0) @ (np.arange(cells.shape[1]) + 0.5) / mass)
    y = float(cells.sum(axis=1) @ (np.arange(cells.shape[0]) + 0.5) / mass)
    # Where the picture's middle falls on the bench; what is lopsided stays inside all the same.
    x = float(np.clip(x, right - _MAX_INK_REACH * cell, left + _MAX_INK_REACH * cell)) - _CENTER_OFFSET * cell
    y = float(np.clip(y, bottom - _MAX_INK_REACH * cell, top + _MAX_INK_REACH * cell)) - _CENTER_OFFSET * cell
    half = MNIST_SIDE / 2 * cell
    pad = int(np.ceil(half)) + 1
    box = (x - half + pad, y - half + pad, x + half + pad, y + half + pad)
    image = Image.fromarray(np.pad(cells, pad)).resize((MNIST_SIDE, MNIST_SIDE), Image.Resampling.HAMMING, box)
    hard = (np.asarray(image) - _SOFT_LEVEL) / (1 - 2 * _SOFT_LEVEL)
    return np.rint(hard.clip(0, 1) * 255).astype(np.uint8)


def _find_ink_edges(cells: NDArray[np.float32]) -> tuple[float, float, float, float]:
    columns, rows = cells.max(axis=0), cells.max(axis=1)
    return (
        *_find_profile_ends(columns)[:1],
        _find_profile_ends(rows)[0],
        _find_profile_ends(columns)[1],
        _find_profile_ends(rows)[1],
    )


def _find_profile_ends(profile: NDArray[np.float32]) -> tuple[float, float]:
    inked = np.flatnonzero(profile > 0.5)
    first, last = int(inked[0]), int(inked[-1])
    return first + 1 - float(profile[first]), last + float(profile[last])
