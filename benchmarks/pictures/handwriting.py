"""Handwriting: letters and lines as a pen draws them."""

from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.pictures import pens
from benchmarks.pictures.pens import PENS
from benchmarks.pictures.rendering import trimmed


def glyph(letters: str) -> np.ndarray:
    """Letters of Pillow's own font as a picture of one pixel's accuracy, ink 1."""
    font = ImageFont.load_default(200)
    left, top, right, bottom = font.getbbox(letters)
    image = Image.new("L", (round(right - left) + 20, round(bottom - top) + 20))
    ImageDraw.Draw(image).text((10 - left, 10 - top), letters, fill=255, font=font)
    return np.asarray(image, np.float32) / 255


def handwritten(letters: str, height: float, pen: str, draws: Any) -> np.ndarray:
    """Letters in a hand: the middle line of the font's, waved, followed by a pen."""
    return followed(glyph(letters), height, pen, draws)


def followed(small: np.ndarray, height: float, pen: str, draws: Any) -> np.ndarray:
    """The middle line of a cover (h, w) in 0..1, waved, followed by a pen; `height` pixels high."""
    from scipy import ndimage

    small = np.pad(small, 10)
    rows, columns = np.mgrid[0 : small.shape[0], 0 : small.shape[1]].astype(np.float32)
    wave = [7 * pens.clouds(draws, small.shape, 70) for _ in range(2)]
    lean = draws.uniform(-0.1, 0.3) * (rows - small.shape[0] / 2)
    bent = ndimage.map_coordinates(small, [rows + wave[0], columns + wave[1] + lean], order=1)
    line = pens.thin(np.asarray(Image.fromarray(bent).reduce(2)) > 0.5)
    pad = line.shape[0] // 4
    pixels = ndimage.distance_transform_edt(~np.pad(line, pad)).astype(np.float32)
    if pen == "hair":  # so fine that it would be lost between two pixels of the line
        pixels = (ndimage.gaussian_filter(pixels, 1.2) - 0.75).clip(0)
    away = pixels / line.shape[0]
    thick = draws.uniform(*PENS[pen].width)
    return trimmed(pens.stroke(away, height, thick, PENS[pen], draws))


def curve(points: np.ndarray, count: int = 400) -> np.ndarray:
    """(count, 2) along a smooth curve through the points."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(len(points)), points)(np.linspace(0, len(points) - 1, count))


def trace(paths: list[np.ndarray], height: float, pen: str, draws: Any) -> np.ndarray:
    """Strokes of a pen (h, w) along paths of points (x, y) in 0..1, 1 being `height` pixels."""
    scale, pad = height * 2, round(height * 0.2)
    points = np.concatenate(paths)
    low = points.min(0)
    size = ((points.max(0) - low) * scale + 2 * pad).astype(int) + 1
    image = Image.new("L", tuple(size))
    thick = draws.uniform(*PENS[pen].width)
    for path in paths:
        flat = [tuple(point) for point in (path - low) * scale + pad]
        ImageDraw.Draw(image).line(flat, fill=255, width=max(2, round(thick * scale)), joint="curve")
    return trimmed(np.asarray(image.reduce(2), np.float32) / 255 * PENS[pen].opacity)


def ring(x: float, y: float, size: float) -> np.ndarray:
    """(120, 2): along a circle around (x, y) whose radius is `size`."""
    turn = np.linspace(0, 2 * np.pi, 120)
    return np.column_stack([x + size * np.cos(turn), y + size * np.sin(turn)])
