"""How a mark comes to a reader: photographed on paper, as a screenshot, drawn, as 28×28 pixels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.pictures import canvases, paper
from benchmarks.pictures.pens import PENS
from benchmarks.pictures.rendering import Layer, Photo, camera, encode
from benchmarks.pictures.styles import Style

SIZE = (800, 600)
PAPER = Style(pens=("gel", "ballpoint", "felt", "pencil"), lights=("even", "gradient", "hand"), size=SIZE)
SHARP = Style(blur=(0.0, 0.4), noise=(0, 1))
FLAT = Style(kind="png")


def pen_of(draws: Any) -> str:
    """The name of a pen."""
    return PAPER.pens[draws.integers(len(PAPER.pens))]


def on_paper(covers: list[np.ndarray], pen: str, draws: Any, style: Style = PAPER) -> Photo:
    """A photograph of a sheet that has these strokes on it, at random places."""
    width, height = style.size
    shape = round(1.24 * height), round(1.24 * width)
    layer = Layer(shape)
    for cover in covers:
        cover = cover[: height - 20, : width - 20]
        room = height - cover.shape[0], width - cover.shape[1]
        top, left = (
            round(0.12 * side + draws.uniform(0.1, 0.9) * free)
            for side, free in zip((height, width), room, strict=True)
        )
        layer.put(cover, left, top)
    sheet = paper.paper(style.papers[draws.integers(len(style.papers))], shape, draws)
    if style.lines:
        sheet, _ = paper.rule(sheet, style.lines, draws.uniform(25, 60), draws)
    colour = np.array(PENS[pen].colours[0], np.float32)
    sheet += layer.cover[..., None] * (colour - sheet)
    return seen_from(sheet, draws, style)


def seen_from(sheet: np.ndarray, draws: Any, style: Style = PAPER) -> Photo:
    """A photograph of a sheet (H, W, 3), 1.24 times as large as the picture."""
    shape = round(sheet.shape[0] / 1.24), round(sheet.shape[1] / 1.24)
    matrix = paper.homography(shape, draws.uniform(-5, 5), 0.01, draws)
    pixels = paper.photograph(sheet, 0.12, matrix, draws)
    return Photo(*encode(camera(pixels, style, draws), style, draws))


def resized(cover: np.ndarray, longest: float) -> np.ndarray:
    """A cover (h, w) so large that its longer side has that many pixels."""
    scale = longest / max(cover.shape)
    size = [max(2, round(side * scale)) for side in cover.shape[::-1]]
    return np.asarray(Image.fromarray(cover).resize(size, Image.Resampling.BICUBIC)).clip(0, 1)


def centred(cover: np.ndarray, shape: tuple[int, int], share: float) -> np.ndarray:
    """A cover in the middle of a sheet (H, W), its longer side a share of the sheet's shorter."""
    small, sheet = resized(cover, share * min(shape)), np.zeros(shape, np.float32)
    top, left = ((a - b) // 2 for a, b in zip(shape, small.shape, strict=True))
    sheet[top : top + small.shape[0], left : left + small.shape[1]] = small
    return sheet


def flat(cover: np.ndarray, ink: Any, ground: Any) -> Photo:
    """A picture without any camera: ink of one colour on a ground of one, a PNG."""
    ink, ground = np.array(ink, np.float32), np.array(ground, np.float32)
    return Photo(*encode(ground + cover[..., None] * (ink - ground), FLAT, None))


def screenshot(cover: np.ndarray, draws: Any) -> Photo:
    """A mark on a screen: dark on light, or every third time light on dark."""
    side = int(draws.integers(90, 500))
    sheet = centred(cover, (side, round(side * draws.uniform(1, 1.4))), draws.uniform(0.4, 0.8))
    dark = draws.random() < 1 / 3
    return flat(sheet, (250,) * 3 if dark else (20,) * 3, (25,) * 3 if dark else (255,) * 3)


def as_pixels(cover: np.ndarray, draws: Any) -> Photo:
    """28×28 pixels, light on dark or, every third time, dark on light."""
    sheet = centred(cover, (28, 28), 20 / 28)
    dark = draws.random() < 1 / 3
    return flat(sheet, (0,) * 3 if dark else (255,) * 3, (255,) * 3 if dark else (0,) * 3)


def printed(cover: np.ndarray, draws: Any) -> Photo:
    """A mark printed on paper, and photographed."""
    return on_paper([0.95 * resized(cover, draws.uniform(100, 350))], "print", draws)


def on_canvas(drawn: Callable[[float], np.ndarray], draws: Any) -> Photo:
    """A mark in hairlines on a large canvas, in the canvas's colours.

    Args:
      drawn: the cover (h, w) of a mark of a height in pixels.
      draws: random.
    """
    side = int(draws.integers(700, 1600))
    cover = drawn(draws.uniform(0.3, 0.65) * side)[:side, :side]
    sheet = np.zeros((side, side), np.float32)
    top, left = (round(draws.uniform(0.1, 0.9) * (side - edge)) for edge in cover.shape)
    sheet[top : top + cover.shape[0], left : left + cover.shape[1]] = cover
    return canvases.coloured(sheet, *canvases.CANVAS_COLOURS[draws.integers(len(canvases.CANVAS_COLOURS))])


PRESENTATIONS = {"screenshot": screenshot, "pixels": as_pixels, "printed": printed}
