"""Pictures that no camera has taken: hairlines on large canvases, and digits on patches of grey."""

from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage

from benchmarks.pictures import pens
from benchmarks.pictures.pens import PENS
from benchmarks.pictures.rendering import Layer, Photo, encode, trimmed
from benchmarks.pictures.styles import Style

# Ink and ground of drawing programs: black, pale, coloured, and light on dark.
CANVAS_COLOURS = (
    ((0, 0, 0), (255, 255, 255)),
    ((150, 150, 150), (255, 255, 255)),
    ((200, 40, 40), (255, 255, 255)),
    ((40, 80, 220), (250, 248, 240)),
    ((255, 255, 255), (0, 0, 0)),
    ((240, 220, 90), (30, 40, 60)),
    ((20, 130, 60), (236, 236, 236)),
    ((200, 200, 205), (40, 40, 44)),
)
HAIR = 0.003, 0.01  # of the canvas's longer side: how wide a hairline is


def set_digits(line: list[np.ndarray], style: Style, size: tuple[int, int], width: Any, draws: Any) -> np.ndarray:
    """Digits side by side on a sheet of a size (width, height): cover (h, w) in 0..1.

    Args:
      line: as middle_distance gives them.
      style: how high digits are, and how far apart.
      size: (width, height) in pixels.
      width: of a stroke, in heights of a digit, from the height in pixels.
      draws: random.
    """
    tall = draws.uniform(*style.height) * size[1]
    broad = sum(1.5 * away.shape[1] / away.shape[0] - 0.25 for away in line)
    tall = min(tall, 0.85 * size[0] / (broad + style.gap[1] * len(line)))
    thick, pen = width(tall), PENS["screen"]
    covers = [trimmed(pens.stroke(away, tall, thick, pen, draws)) for away in line]
    gaps = [round(draws.uniform(*style.gap) * tall) for _ in covers[1:]]
    long, high = sum(c.shape[1] for c in covers) + sum(gaps), max(c.shape[0] for c in covers)
    layer = Layer((size[1], size[0]))
    across = round(draws.uniform(0.1, 0.9) * max(0, size[0] - long))
    down = round(draws.uniform(0.1, 0.9) * max(0, size[1] - high))
    for cover, gap in zip(covers, [*gaps, 0], strict=True):
        layer.put(cover, across, down + high - cover.shape[0])
        across += cover.shape[1] + gap
    return layer.cover


def hairline(line: list[np.ndarray], style: Style, draws: Any) -> Photo:
    """Strokes 0.3 to 1 % of a large canvas wide, every third time without soft edges."""
    side = int(draws.integers(600, 1800))
    size = side, round(side * draws.uniform(0.6, 1))
    hair = max(1.0, draws.uniform(*HAIR) * side)
    cover = set_digits(line, style, size, lambda tall: hair / tall, draws)
    if draws.random() < 1 / 3:
        cover = (cover > 0.5).astype(np.float32)
    ink, ground = CANVAS_COLOURS[draws.integers(len(CANVAS_COLOURS))]
    return coloured(cover, ink, ground)


def coloured(cover: np.ndarray, ink: Any, ground: Any) -> Photo:
    """A PNG in colour: ink of one colour on a ground of one."""
    ink, ground = np.array(ink, np.float32), np.array(ground, np.float32)
    return Photo(*encode(ground + cover[..., None] * (ink - ground), Style(kind="colour png"), None))


def patch(line: list[np.ndarray], style: Style, draws: Any) -> Photo:
    """A digit on a rectangle of grey, which lies on a page that is white: dark or light ink."""
    size = int(draws.integers(240, 700)), int(draws.integers(240, 700))
    part = round(size[0] * draws.uniform(0.4, 0.8)), round(size[1] * draws.uniform(0.4, 0.8))
    cover = set_digits(line, style, part, lambda tall: draws.uniform(0.04, 0.12), draws)
    light = draws.random() < 0.3
    grey = draws.uniform(60, 130) if light else draws.uniform(120, 225)
    ink = draws.uniform(grey + 80, 255) if light else draws.uniform(0, grey - 70)
    spread = draws.uniform(-1, 1) * 18 * np.linspace(-1, 1, part[0])[None]
    own = grey + spread * (draws.random() < 0.5) + cover * (ink - grey)
    page = np.full((size[1], size[0]), draws.uniform(235, 255), np.float32)
    left, top = (round(draws.uniform(0, 1) * (a - b)) for a, b in zip(size, part, strict=True))
    page[top : top + part[1], left : left + part[0]] = own
    page = ndimage.gaussian_filter(page, draws.uniform(0, 0.9))
    page = page + draws.uniform(0, 3) * draws.standard_normal(page.shape)
    return Photo(*encode(np.repeat(page[..., None], 3, axis=2), Style(), draws))


def blotched(line: list[np.ndarray], style: Style, draws: Any) -> Photo:
    """Light in blotches, as leaves or a window's bars throw it, on a page with a fold."""
    size = 640, 480
    cover = set_digits(line, style, size, lambda tall: draws.uniform(0.05, 0.1), draws)
    shape = cover.shape
    spots = pens.clouds(draws, shape, draws.uniform(80, 240))
    light = 1 - draws.uniform(0.25, 0.5) / (1 + np.exp(-draws.uniform(1, 6) * spots))
    fold = np.abs(np.arange(shape[1]) - draws.uniform(0.2, 0.8) * shape[1])
    light = light * (1 - 0.25 * np.exp(-fold / draws.uniform(2, 12)))[None]
    page = 242 * light * (1 - 0.85 * cover)
    page = ndimage.gaussian_filter(page, draws.uniform(0.4, 1.2))
    page = page + 2 * draws.standard_normal(shape)
    return Photo(*encode(np.repeat(page[..., None], 3, axis=2), Style(), draws))


def dot_matrix(line: list[np.ndarray], style: Style, draws: Any) -> Photo:
    """A display of dots: each is lit where the stroke of a digit crosses it."""
    away = line[0]
    rows = int(draws.integers(9, 16))
    inner = away.shape[0] / 1.5
    columns = max(5, round(rows * (away.shape[1] - 0.5 * inner) / inner)) + 2
    small = Image.fromarray(away).resize((columns, rows + 2), Image.Resampling.BOX)
    lit = (np.asarray(small) < draws.uniform(0.055, 0.075)).repeat(24, 0).repeat(24, 1)
    at = np.arange(24) - 11.5
    dot = (draws.uniform(9.5, 12.5) - np.hypot(at[:, None], at[None])).clip(0, 1)
    cover = np.pad(lit * np.tile(dot, (rows + 2, columns)), 40).astype(np.float32)
    dark = draws.random() < 0.5
    return coloured(cover, (90, 255, 120) if dark else (25,) * 3, (15,) * 3 if dark else (225,) * 3)


SCENES: dict[str, Callable[[list[np.ndarray], Style, Any], Photo]] = {
    "hairline": hairline,
    "patch": patch,
    "blotched": blotched,
    "dot matrix": dot_matrix,
}
