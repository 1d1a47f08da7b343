"""Frames: the box of a form around what is written into it, taken out although ink touches it.

`ruled_lines` finds lines that run through a picture, `specks` and `segmentation.clutter` find what touches no digit.
A box that a digit touches or crosses is one piece of ink with it. It is told by its outline: seen
from each of four sides, its nearest ink lies on one straight line, and is thin there. No digit has
four such sides, but those of seven bars, whose bars are broad; and there is other ink inside.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.ink.ruled_lines import RuledLine, mend_strokes, select_line_pixels
from ensemble.pictures.segmentation.run_lengths import encode_run_lengths, label_run_components, paint_run_lengths

_Mask = NDArray[np.bool_]
_MAX_CANDIDATES = 24  # pieces of ink that are looked at, those with the largest boxes
_MIN_FRAME_SIDE = 28  # pixels of a frame's shorter side
_MAX_FRAME_FILL = 0.45  # of its box: frames are mostly empty
_MAX_SIDE_TILT = 0.15  # tangent of a side's largest tilt
_MIN_STRAIGHT_SHARE = 0.6  # of a side that lies on its line; the rest is hidden by what crosses it
_MAX_LINE_SHARE = 0.055  # of the box's longer side: a frame's line is no thicker
_MIN_CONTENT_HEIGHT = 0.3  # of the frame's height, that ink inside has; more than bars of an 8 have
_WALL_SHARE, _MAX_WALL_LEAN = 0.88, 0.2  # of the frame's side; of its own length
_MAX_WALL_THICKNESS = 2.0  # thicknesses of the frame's line: a pen's stroke is thicker
_RIM_SHARE = 12  # of its box: so broad a rim, one part in so many, belongs to the frame
_STROKE_OVER_LINE = 1.5  # times as dark as the line: what is darker is a stroke that lies on it


class _FrameSide(NamedTuple):
    """One side of a frame in a mask that was turned so that it is the upper one.

    Attributes:
      rows: float (W,), its outer edge at each column.
      thickness: of its line in pixels.
    """

    rows: NDArray[np.floating]
    thickness: float


def remove_frames(mask: _Mask, even: NDArray[np.float32]) -> int:
    """Takes frames out of ink, in place, and joins the strokes that cross them; how many.

    Args:
      mask: bool (H, W), ink.
      even: float32 (H, W), how dark each pixel is, 0 paper.
    """
    runs = encode_run_lengths(mask)
    count, component = label_run_components(runs)
    if not count:
        return 0
    order = np.argsort(component, kind="stable")
    runs, component = runs.take(order), component[order]
    first = np.searchsorted(component, np.arange(count + 1))
    left, right = (np.minimum.reduceat(runs.starts, first[:-1]), np.maximum.reduceat(runs.ends, first[:-1]))
    top, bottom = runs.rows[first[:-1]], runs.rows[first[1:] - 1] + 1
    areas = np.add.reduceat(runs.ends - runs.starts, first[:-1])
    sides = np.minimum(right - left, bottom - top)
    boxed = (right - left) * (bottom - top)
    likely = np.flatnonzero((sides >= _MIN_FRAME_SIDE) & (areas < _MAX_FRAME_FILL * boxed))
    removed = 0
    for number in likely[np.argsort(-boxed[likely])][:_MAX_CANDIDATES]:
        box = int(left[number]), int(top[number]), int(right[number]), int(bottom[number])
        own = paint_run_lengths(runs.take(slice(first[number], first[number + 1])), box)
        removed += _remove_frame(mask, even, box, own)
    return removed


def _remove_frame(mask: _Mask, even: NDArray[np.float32], box: tuple[int, int, int, int], own: _Mask) -> bool:
    """Takes the frame that a piece of ink is, or has around it, out of a mask, in place.

    Args:
      mask: bool (H, W), all ink.
      even: float32 (H, W), how dark each pixel is.
      box: of the piece.
      own: bool (h, w), the piece in its box.
    """
    turns = (own, own[::-1], own.T, own.T[::-1])
    sides = []
    for turned in turns:  # from above, from below, from the left, from the right
        side = _find_straight_side(turned)
        if side is None:
            return False
        sides.append(side)
    left, top, right, bottom = box
    part, dark = mask[top:bottom, left:right].copy(), even[top:bottom, left:right]
    lines = []
    for number, (side, turned) in enumerate(zip(sides, turns, strict=True)):
        middle = side.rows + (side.thickness - 1) / 2
        middle = len(turned) - 1 - middle if number % 2 else middle
        lines.append(RuledLine(middle, 0, turned.shape[1], side.thickness / 2, 0.0))
    views = [part, part, part.T, part.T]
    for view, tone, line in zip(views, (dark, dark, dark.T, dark.T), lines, strict=True):
        _erase_line(view, tone, line)
    _drop_rest_of_frame(part, own, float(np.median([side.thickness for side in sides])))
    if not _has_content(part):
        return False
    for view, line in zip(views, lines, strict=True):
        mend_strokes(view, line)
    mask[top:bottom, left:right] = part
    return True


def _find_straight_side(own: _Mask) -> _FrameSide | None:
    """The upper side of a piece of ink, bool (h, w), if it is one thin straight line."""
    height, width = own.shape
    depth = max(4, round(_MAX_SIDE_TILT * width + 0.1 * height))
    near = own[:depth]
    seen = near.any(axis=0)
    if seen.mean() < _MIN_STRAIGHT_SHARE:
        return None
    columns = np.flatnonzero(seen)
    rows = near.argmax(axis=0)[columns].astype(float)
    # The slope: the median of those between points half a side apart.
    half = len(columns) // 2
    slopes = (rows[half:] - rows[: len(rows) - half]) / (columns[half:] - columns[:-half])
    slope = float(np.median(slopes))
    level = float(np.median(rows - slope * columns))
    room = 1.2 + 0.006 * max(own.shape)
    for _ in range(2):
        on = np.abs(rows - slope * columns - level) <= room
        if on.sum() < _MIN_STRAIGHT_SHARE * width:
            return None
        slope, level = (float(term) for term in np.polyfit(columns[on], rows[on], 1))
    if abs(slope) > _MAX_SIDE_TILT:
        return None
    course = slope * np.arange(width) + level
    inside = course[columns[on]].round().astype(int) + np.arange(depth + 2)[:, None]
    run = own[inside.clip(0, height - 1), columns[on][None]]
    # From the first ink on, how deep it goes on.
    begun = np.maximum.accumulate(run, axis=0)
    ended = np.maximum.accumulate(begun & ~run, axis=0)
    thickness = float(np.median((begun & ~ended).sum(axis=0)))
    most = max(3.0, _MAX_LINE_SHARE * max(own.shape))
    if thickness > most:
        return None
    return _FrameSide(course, thickness)


def _erase_line(mask: _Mask, tone: NDArray[np.float32], line: RuledLine) -> None:
    """Takes a line out of a mask (H, W), in place, but for what is far darker than it is."""
    rows, columns = select_line_pixels(line, len(mask))
    inked = mask[rows, columns]
    usual = float(np.median(tone[rows, columns][inked])) if inked.any() else 1.0
    mask[rows, columns] = inked & (tone[rows, columns] > max(_STROKE_OVER_LINE * usual, 1e-3))


def _drop_rest_of_frame(part: _Mask, own: _Mask, thickness: float) -> None:
    """Takes out, in place, what is left of a frame along its sides, and walls from side to side.

    Args:
      part: bool (h, w), all ink in the frame's box, its lines taken out.
      own: bool (h, w), the frame as it was, with what touches it.
      thickness: of its lines in pixels.
    """
    from scipy import ndimage

    height, width = part.shape
    deep, broad = max(1, height // _RIM_SHARE), max(1, width // _RIM_SHARE)
    labels, count = ndimage.label(part & own, np.ones((3, 3)))
    areas, inside = np.bincount(labels.ravel(), minlength=count + 1), np.zeros(count + 1, bool)
    inside[labels[deep:-deep, broad:-broad]] = True
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        # The wall between two boxes goes from side to side, and is as thin as they are.
        sides = rows.stop - rows.start, columns.stop - columns.start
        for long, short, whole in ((*sides, height), (*sides[::-1], width)):
            thin = areas[number] <= _MAX_WALL_THICKNESS * thickness * long
            if thin and long >= _WALL_SHARE * whole and short <= _MAX_WALL_LEAN * long:
                inside[number] = False
    part &= ~(labels > 0) | inside[labels]


def _has_content(part: _Mask) -> bool:
    """Whether there is ink inside a frame, bool (h, w), from which the frame was taken."""
    height, width = part.shape
    deep, broad = max(1, height // _RIM_SHARE), max(1, width // _RIM_SHARE)
    inner = np.flatnonzero(part[deep:-deep, broad:-broad].any(axis=1))
    if not len(inner):
        return False
    return int(inner[-1] - inner[0]) + 1 >= _MIN_CONTENT_HEIGHT * height
