"""Blobs, closed forms and marks of two colours, as a firm's sign has them."""

from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from benchmarks.pictures.non_digits.presenting import SHARP, as_pixels, on_paper, printed, screenshot
from benchmarks.pictures.pens import clouds
from benchmarks.pictures.rendering import Photo, encode, trimmed

SIDE = 300
COLOURS = ((190, 40, 50), (30, 90, 160), (240, 180, 30), (40, 130, 80), (90, 50, 130), (30, 30, 35))


def polygon(corners: int, inner: float, turn: float) -> list[tuple[float, float]]:
    """A star of so many points around the middle; a regular polygon if `inner` is 1."""
    angles = turn + np.arange(2 * corners) * np.pi / corners
    radii = SIDE * 0.45 * np.where(np.arange(2 * corners) % 2, inner, 1.0)
    return [(SIDE / 2 + r * np.cos(a), SIDE / 2 + r * np.sin(a)) for r, a in zip(radii, angles, strict=True)]


def blob(draws: Any) -> np.ndarray:
    """What smooth noise leaves above a level: spots that run into one another."""
    rows, columns = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    high = clouds(draws, (SIDE, SIDE), SIDE / draws.uniform(4, 7))
    cover = ((high - 1.4 * (rows**2 + columns**2) + 0.7) * 12).clip(0, 1).astype(np.float32)
    return trimmed(cover) if (cover > 0.5).any() else blob(draws)


def figure(draws: Any) -> np.ndarray:
    """A closed form with another cut out of it."""
    sheet = Image.new("L", (SIDE, SIDE))
    pen, turn = ImageDraw.Draw(sheet), draws.uniform(0, 2 * np.pi)
    pen.polygon(polygon(int(draws.integers(3, 9)), draws.uniform(0.5, 0.9), turn), 255)
    half = SIDE * draws.uniform(0.08, 0.2)
    middle = SIDE / 2 + draws.uniform(-0.1, 0.1) * SIDE
    box = (middle - half, middle - half, middle + half, middle + half)
    (pen.ellipse if draws.random() < 0.5 else pen.rectangle)(box, 0)
    return trimmed(np.asarray(sheet, np.float32) / 255)


def emblem(draws: Any) -> Photo:
    """Forms of two colours upon a ground of a third."""
    first, second, ground = (COLOURS[at] for at in draws.permutation(len(COLOURS))[:3])
    sheet = Image.new("RGB", (SIDE, SIDE), ground if draws.random() < 0.4 else (255, 255, 255))
    pen = ImageDraw.Draw(sheet)
    pen.polygon(polygon(int(draws.integers(3, 7)), draws.uniform(0.6, 1), draws.uniform(0, 6)), first)
    for _ in range(draws.integers(1, 4)):
        x, y, size = draws.uniform(0.25, 0.75, 3) * SIDE
        pen.pieslice((x - size / 2, y - size / 2, x + size / 2, y + size / 2), 20, 200, second)
    return Photo(*encode(np.asarray(sheet, np.float32), SHARP, draws))


def picture(draws: Any, number: int) -> Photo:
    """A blob, a form or an emblem: on a screen, printed, cut from paper, or of 28×28 pixels."""
    match number % 5:
        case 0:
            return screenshot(blob(draws), draws)
        case 1:
            return printed(figure(draws), draws)
        case 2:
            return emblem(draws)
        case 3:
            return as_pixels((blob, figure)[number // 5 % 2](draws), draws)
        case _:
            return on_paper([0.9 * blob(draws), 0.9 * figure(draws)], "marker", draws)
