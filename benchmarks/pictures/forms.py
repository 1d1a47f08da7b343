"""What forms print around the digits that people write into them: boxes, combs, lines to write on.

The lines are drawn on the sheet before it is photographed, by where the digits are on it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

COLOURS = ((40, 40, 45), (120, 120, 126), (215, 120, 60), (90, 130, 200))
Points = list[np.ndarray]


def ends(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) of the upper left and of the lower right corner of all digits."""
    every = np.concatenate(points)
    return every.min(axis=0).astype(float), every.max(axis=0).astype(float)


def fill(sheet: np.ndarray, box: Any, colour: Any) -> None:
    """Paints a rectangle (left, top, right, bottom), in place; it may reach out of the sheet."""
    left, top, right, bottom = (max(0, round(edge)) for edge in box)
    sheet[top:bottom, left:right] = colour


def pen_of(tall: float, draws: Any) -> tuple[float, np.ndarray]:
    """How wide a printed line is in pixels, and its colour."""
    wide = max(1.0, tall * draws.uniform(0.008, 0.025))
    return wide, np.array(COLOURS[draws.integers(len(COLOURS))], np.float32)


def rectangle(sheet: np.ndarray, box: Any, wide: float, colour: Any, dots: float = 0.0) -> None:
    """The four sides of a box; `dots` pixels apart if they are dotted."""
    left, top, right, bottom = box
    for x in (left, right):
        steps = np.arange(top, bottom + wide, dots * 2) if dots else [top]
        for at in steps:
            fill(sheet, (x, at, x + wide, (at + dots) if dots else bottom + wide), colour)
    for y in (top, bottom):
        steps = np.arange(left, right + wide, dots * 2) if dots else [left]
        for at in steps:
            fill(sheet, (at, y, (at + dots) if dots else right + wide, y + wide), colour)


def around(points: Points, tall: float, room: tuple[float, float], draws: Any) -> list[float]:
    """A box around all digits, its sides so far from them, in heights of a digit."""
    low, high = ends(points)
    near = draws.uniform(*room, 4) * tall
    return [low[0] - near[0], low[1] - near[1], high[0] + near[2], high[1] + near[3]]


def boxed(sheet: np.ndarray, points: Points, tall: float, draws: Any) -> np.ndarray:
    """A box around the digits; every second time one side of it is crossed or touched."""
    wide, colour = pen_of(tall, draws)
    box = around(points, tall, (0.08, 0.35), draws)
    if draws.random() < 0.5:
        side, low = int(draws.integers(4)), around(points, tall, (-0.06, 0.0), draws)
        box[side] = low[side]
    rectangle(sheet, box, wide, colour)
    return sheet


def dotted(sheet: np.ndarray, points: Points, tall: float, draws: Any) -> np.ndarray:
    """A box of dots or dashes."""
    wide, colour = pen_of(tall, draws)
    box = around(points, tall, (0.08, 0.3), draws)
    rectangle(sheet, box, wide, colour, max(2.0, tall * draws.uniform(0.02, 0.07)))
    return sheet


def guide(sheet: np.ndarray, points: Points, tall: float, draws: Any) -> np.ndarray:
    """A line to write on, not longer than a field is; it is touched as often as not."""
    wide, colour = pen_of(tall, draws)
    low, high = ends(points)
    left = low[0] - draws.uniform(0.1, 1.0) * tall
    right = high[0] + draws.uniform(0.1, 1.0) * tall
    line = high[1] + draws.uniform(-0.05, 0.15) * tall
    if draws.random() < 0.3:
        for at in np.arange(left, right, 4 * wide):
            fill(sheet, (at, line, at + 2 * wide, line + wide), colour)
    else:
        fill(sheet, (left, line, right, line + wide), colour)
    return sheet


def comb(sheet: np.ndarray, points: Points, tall: float, draws: Any) -> np.ndarray:
    """A field with a place for each digit: a line below, and teeth between the places."""
    wide, colour = pen_of(tall, draws)
    spans = sorted((float(own[:, 0].min()), float(own[:, 0].max())) for own in points)
    edge = draws.uniform(0.1, 0.25) * tall
    teeth = [spans[0][0] - edge]
    teeth += [(a[1] + b[0]) / 2 for a, b in pairwise(spans)]
    teeth.append(spans[-1][1] + edge)
    _, high = ends(points)
    line = high[1] + draws.uniform(0.06, 0.2) * tall
    top = line - (draws.uniform(0.25, 0.5) if draws.random() < 0.5 else 1.35) * tall
    for tooth in teeth:
        fill(sheet, (tooth, top, tooth + wide, line + wide), colour)
    fill(sheet, (teeth[0], line, teeth[-1] + wide, line + wide), colour)
    return sheet


RULINGS: dict[str, Callable[[np.ndarray, Points, float, Any], np.ndarray]] = {
    "boxed": boxed,
    "dotted": dotted,
    "guide": guide,
    "comb": comb,
}
