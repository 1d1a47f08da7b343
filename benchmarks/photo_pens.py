"""Digits as a pen would write them: the stroke of a 28×28 digit found, and drawn again at any size.

A digit enlarged is only a blur. So its middle line is found (Zhang & Suen 1984, "A fast parallel
algorithm for thinning digital patterns") and a pen of a width of its own follows it.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy import ndimage

ENLARGED = 8
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


PENS = {
    "gel": Pen(((25, 25, 30), (20, 25, 60)), (0.045, 0.075)),
    "ballpoint": Pen(((35, 55, 150), (30, 40, 120)), (0.028, 0.042), 0.85, 0.25, 0.2),
    "pencil": Pen(((75, 75, 80), (95, 95, 98)), (0.03, 0.055), 0.8, 0.55, 0.25),
    "felt": Pen(((20, 20, 25), (30, 40, 140)), (0.08, 0.12), 0.92, 0.0, 0.08, 0.1),
    "marker": Pen(
        ((200, 30, 40), (20, 130, 60), (30, 60, 180)), (0.12, 0.17), 0.88, 0.0, 0.05, 0.15
    ),
    "chalk": Pen(((235, 235, 225), (240, 225, 150)), (0.07, 0.11), 0.9, 0.6, 0.15),
    "board marker": Pen(((20, 30, 110), (25, 25, 25), (190, 30, 30)), (0.06, 0.09), 0.9, 0.1, 0.1),
    "screen": Pen(((0, 0, 0), (20, 20, 20)), (0.06, 0.12), 1.0, 0.0, 0.0),
    "white screen": Pen(((255, 255, 255),), (0.06, 0.12), 1.0, 0.0, 0.0),
}


def thin(mask: np.ndarray) -> np.ndarray:
    """The one pixel wide middle lines of a mask, by Zhang and Suen."""
    thinned = np.pad(mask, 1).astype(np.uint8)
    while True:
        before = thinned.sum()
        for first in (True, False):
            ring = [np.roll(thinned, (-row, -column), (0, 1)) for row, column in AROUND]
            steps = sum((ring[k] == 0) & (ring[(k + 1) % 8] == 1) for k in range(8))
            around = sum(part.astype(int) for part in ring)
            north, east, south, west = ring[0], ring[2], ring[4], ring[6]
            if first:
                open_side = (north * east * south == 0) & (east * south * west == 0)
            else:
                open_side = (north * east * west == 0) & (north * south * west == 0)
            gone = (thinned == 1) & (around >= 2) & (around <= 6) & (steps == 1) & open_side
            thinned[gone] = 0
        if thinned.sum() == before:
            return thinned[1:-1, 1:-1].astype(bool)


def middle_distance(digit: np.ndarray) -> np.ndarray:
    """Distance to the digit's middle line, in heights of the digit; 0.25 of a height around it.

    Args:
      digit: (28, 28) uint8, ink bright.
    """
    large = ndimage.zoom(np.pad(digit, 2).astype(np.float32), ENLARGED, order=3)
    mask = ndimage.gaussian_filter(large, 0.35 * ENLARGED) > 110
    parts, count = ndimage.label(mask, np.ones((3, 3)))
    sizes = np.bincount(parts.ravel())[1:]
    mask = np.isin(parts, 1 + np.flatnonzero(sizes > 0.05 * sizes.max())) if count else mask
    line = thin(mask)
    rows, columns = np.nonzero(line)
    height = rows.max() - rows.min() + 1
    pad = height // 4
    line = np.pad(line[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1], pad)
    smooth = ndimage.gaussian_filter(ndimage.distance_transform_edt(~line), 1.5)
    return ((smooth - 0.9).clip(0) / height).astype(np.float32)


def clouds(draws: np.random.Generator, shape: tuple[int, int], size: float) -> np.ndarray:
    """Smooth noise of mean 0 and deviation about 1, with spots about `size` pixels wide."""
    rows, columns = (max(2, round(side / size) + 2) for side in shape)
    coarse = Image.fromarray(draws.standard_normal((rows, columns), np.float32))
    return np.asarray(coarse.resize(shape[::-1], Image.Resampling.BICUBIC))


def stroke(
    distance: np.ndarray, height: float, width: float, pen: Pen, draws: np.random.Generator
) -> np.ndarray:
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
    rim = pen.rim * np.exp(-((inside - 1) ** 2) / 8)
    return (cover * pen.opacity * (1 + rim)).clip(0, 1).astype(np.float32)
