"""Digits as a pen would write them: the stroke of a 28×28 digit found, and drawn again at any size.

A digit enlarged is only a blur. So its middle line is found (Zhang & Suen 1984, "A fast parallel
algorithm for thinning digital patterns") and a pen of a width of its own follows it.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy import ndimage

ENLARGED = 6
LEVELS = (50, 90, 140)  # of grey, at which a digit's edge may be
ALIKE = 0.95
LOOPS = {0: 1, 6: 1, 8: 2, 9: 1}
EIGHT = np.ones((3, 3))
AROUND = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))  # from north


@dataclass(frozen=True)
class Pen:
    """What a pen leaves: `width` in heights of a digit; `grain` is how much paper shows through."""

    colours: tuple[tuple[int, int, int], ...]
    width: tuple[float, float]
    opacity: float = 0.95
    grain: float = 0.0
    pressure: float = 0.12
    rim: float = 0.0  # how much darker the rim of a stroke is, as felt pens have it
    gaps: float = 0.0  # how often a stroke breaks off; 1 leaves out about a tenth of it


PENS = {
    "gel": Pen(((25, 25, 30), (20, 25, 60)), (0.045, 0.075)),
    "ballpoint": Pen(((35, 55, 150), (30, 40, 120)), (0.028, 0.042), 0.85, 0.25, 0.2),
    "pencil": Pen(((75, 75, 80), (95, 95, 98)), (0.03, 0.055), 0.8, 0.55, 0.25),
    "felt": Pen(((20, 20, 25), (30, 40, 140)), (0.08, 0.12), 0.92, 0.0, 0.08, 0.1),
    "marker": Pen(((200, 30, 40), (20, 130, 60), (30, 60, 180)), (0.12, 0.17), 0.88, 0.0, 0.05, 0.15),
    "chalk": Pen(((235, 235, 225), (240, 225, 150)), (0.07, 0.11), 0.9, 0.6, 0.15),
    "board marker": Pen(((20, 30, 110), (25, 25, 25), (190, 30, 30)), (0.06, 0.09), 0.9, 0.1, 0.1),
    "screen": Pen(((0, 0, 0), (20, 20, 20)), (0.06, 0.12), 1.0, 0.0, 0.0),
    "white screen": Pen(((255, 255, 255),), (0.06, 0.12), 1.0, 0.0, 0.0),
    "dry pen": Pen(((35, 35, 45), (40, 50, 130)), (0.04, 0.065), 0.9, 0.3, 0.2, gaps=1.0),
    "broad felt": Pen(((20, 20, 25), (30, 40, 140)), (0.17, 0.22), 0.92, 0.0, 0.08, rim=0.1),
    "coloured": Pen(((200, 60, 70), (70, 130, 70), (190, 90, 20), (120, 60, 150)), (0.05, 0.09), 0.85, 0.1),
    "needle": Pen(((40, 40, 46), (40, 60, 150)), (0.006, 0.015), 0.9, 0.1, 0.1),
    "hair": Pen(((0, 0, 0),), (0.006, 0.02), 1.0, 0.0, 0.0),
    "print": Pen(((25, 25, 25), (40, 40, 60)), (0.004, 0.012), 0.95, 0.05, 0.0),
}


def removable(first: bool) -> np.ndarray:
    """Whether a pixel may go, by its eight neighbours as the bits of a number (256,)."""
    codes = np.arange(256)
    ring = [(codes >> k) & 1 for k in range(8)]
    steps = sum((ring[k] == 0) & (ring[(k + 1) % 8] == 1) for k in range(8))
    around = sum(ring)
    north, east, south, west = ring[0], ring[2], ring[4], ring[6]
    if first:
        open_side = (north * east * south == 0) & (east * south * west == 0)
    else:
        open_side = (north * east * west == 0) & (north * south * west == 0)
    return (around >= 2) & (around <= 6) & (steps == 1) & open_side


REMOVABLE = removable(True), removable(False)


def thin(mask: np.ndarray) -> np.ndarray:
    """The one pixel wide middle lines of a mask, by Zhang and Suen."""
    thinned = np.pad(mask, 1).astype(np.uint8)
    if not mask.any():
        return mask
    rows, columns = np.nonzero(thinned)
    top, bottom, left, right = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    part = thinned[top:bottom, left:right]
    ring = [thinned[top + r : bottom + r, left + c : right + c] for r, c in AROUND]
    before = -1
    while (count := int(part.sum())) != before:
        before = count
        for gone in REMOVABLE:
            code = np.zeros_like(part)
            for bit, neighbour in enumerate(ring):
                code |= neighbour << bit
            part[gone[code]] = 0
    return thinned[1:-1, 1:-1].astype(bool)


def middle_distance(digit: np.ndarray, label: int) -> np.ndarray | None:
    """Distance to the digit's middle line, in heights of the digit; 0.25 of a height around it.

    Of the lines that several levels of grey give, the one that brings the digit back best. None
    where none does, where a loop has run full or a stroke has come apart: a pen that followed
    it would write something else. No classifier is asked.

    Args:
      digit: (28, 28) uint8, ink bright.
      label: what it is; says how many loops there have to be.
    """
    large = ndimage.zoom(np.pad(digit, 2).astype(np.float32), ENLARGED, order=3)
    large = ndimage.gaussian_filter(large, 0.3 * ENLARGED)
    whole = ndimage.label(large > LEVELS[0], EIGHT)[1]
    lines = [line_at(large, level) for level in LEVELS]
    sound = [
        line
        for line in lines
        if ndimage.label(line, EIGHT)[1] <= whole and ndimage.label(~line)[1] - 1 >= LOOPS.get(label, 0)
    ]
    tried = [likeness(line, large) for line in sound]
    if max(tried, default=0) < ALIKE:
        return None
    line = lengthened(sound[int(np.argmax(tried))], large)
    rows, columns = np.nonzero(line)
    height = rows.max() - rows.min() + 1
    pad = height // 4
    line = np.pad(line[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1], pad)
    smooth = ndimage.gaussian_filter(ndimage.distance_transform_edt(~line), 1.5)
    return ((smooth - 0.9).clip(0) / height).astype(np.float32)


def crossed(distance: np.ndarray) -> np.ndarray:
    """A seven's distances with a bar across its stem, as it is written on the Continent."""
    height, width = distance.shape
    tall = height / 1.5
    row = round(height / 6 + 0.55 * tall)
    stem = float(np.mean(np.flatnonzero(distance[row] == distance[row].min())))
    rows, columns = np.mgrid[:height, :width]
    reach = (np.abs(columns - stem) - 0.17 * tall).clip(0)
    bar = np.hypot(rows - row + 0.15 * (columns - stem), reach) / tall
    return np.minimum(distance, bar).astype(np.float32)


def line_at(large: np.ndarray, level: float) -> np.ndarray:
    """The middle line of what is brighter than a level, crumbs left out."""
    mask = large > level
    labels, _ = ndimage.label(mask, EIGHT)
    sizes = np.bincount(labels.ravel())[1:]
    return thin(np.isin(labels, 1 + np.flatnonzero(sizes > 0.05 * sizes.max(initial=0))))


def lengthened(line: np.ndarray, large: np.ndarray) -> np.ndarray:
    """The line with its ends drawn on to where the digit ends: thinning takes half a width off."""
    around = ndimage.convolve(line.astype(int), EIGHT.astype(int)) * line
    places = np.argwhere(line)
    longer = line.copy()
    for end in np.argwhere(around == 2):
        near = places[np.abs(places - end).max(axis=1) < 2 * ENLARGED]
        way = end - near.mean(axis=0)
        way = way / max(1e-9, float(np.hypot(*way)))
        for step in np.arange(0, 2 * ENLARGED, 0.5):
            row, column = np.rint(end + step * way).astype(int)
            if large[row, column] < 0.6 * large.max():
                break
            longer[row, column] = True
    return longer


def likeness(line: np.ndarray, large: np.ndarray) -> float:
    """Correlation of the enlarged digit with a stroke of its own mean width along the line."""
    if not line.any():
        return 0.0
    away = ndimage.distance_transform_edt(~line)
    radius = (large > large.max() / 2).sum() / line.sum() / 2
    again = ndimage.gaussian_filter((away <= radius).astype(np.float32), 0.6 * ENLARGED)
    return float(np.corrcoef(again.ravel(), large.ravel())[0, 1])


def clouds(draws: np.random.Generator, shape: tuple[int, int], size: float) -> np.ndarray:
    """Smooth noise of mean 0 and deviation about 1, with spots about `size` pixels wide."""
    rows, columns = (max(2, round(side / size) + 2) for side in shape)
    coarse = Image.fromarray(draws.standard_normal((rows, columns), np.float32))
    return np.asarray(coarse.resize(shape[::-1], Image.Resampling.BICUBIC))


def stroke(distance: np.ndarray, height: float, width: float, pen: Pen, draws: np.random.Generator) -> np.ndarray:
    """How much of each pixel the pen covers (h, w) in 0..1: a digit `height` pixels high.

    Args:
      distance: as middle_distance gives it.
      height: of the digit in pixels, measured between the middles of its strokes.
      width: of the stroke, in heights of the digit.
    """
    scale = height / (distance.shape[0] / 1.5)
    shape = tuple(max(3, round(side * scale)) for side in distance.shape)
    away = np.asarray(Image.fromarray(distance).resize(shape[::-1], Image.Resampling.BICUBIC))
    radius = height * width / 2 * (1 + pen.pressure * clouds(draws, shape, height / 4))
    inside = radius - away * height
    cover = (inside + 0.5).clip(0, 1)
    if pen.grain:
        tooth = clouds(draws, shape, max(1.0, height / 90)) + 0.6 * clouds(draws, shape, 2)
        cover = cover * (1 - pen.grain * (0.35 * tooth + 0.3).clip(0, 1))
    if pen.gaps:
        ink = clouds(draws, shape, max(2.0, height / 9)) + 1.35 / pen.gaps
        cover = cover * (ink * height / 40).clip(0, 1)
    rim = pen.rim * np.exp(-((inside - 1) ** 2) / 8)
    return (cover * pen.opacity * (1 + rim)).clip(0, 1).astype(np.float32)
