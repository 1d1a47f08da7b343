"""Paper, light and camera: a sheet with ink on it becomes a photograph."""

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from benchmarks.pictures.pens import clouds

PAPERS = {
    "white": (244, 244, 242),
    "cream": (240, 230, 205),
    "recycled": (214, 208, 196),
    "yellow": (246, 226, 130),
    "blue": (205, 222, 238),
    "pink": (243, 205, 210),
    "kraft": (186, 148, 104),
    "green board": (45, 78, 62),
    "black board": (48, 48, 50),
    "whiteboard": (236, 240, 242),
    "screen": (246, 247, 250),
}
BOARDS = {"green board", "black board", "whiteboard"}
TABLES = ((112, 74, 46), (60, 52, 48), (150, 150, 155), (196, 160, 116))


def paper(name: str, shape: tuple[int, int], draws: np.random.Generator) -> np.ndarray:
    """A sheet (h, w, 3) float32 in 0..255 with its grain and stains; boards have been wiped."""
    grain = 1.2 * clouds(draws, shape, 2.5) + 1.0 * clouds(draws, shape, 30)
    if name == "kraft":
        grain += 5 * ndimage.gaussian_filter(draws.normal(size=shape), (0.7, 5))
    if "board" in name and name != "whiteboard":
        wiped = ndimage.gaussian_filter1d(clouds(draws, shape, 40), 25, axis=1)
        grain += 7 * wiped + 2 * clouds(draws, shape, 3)
    sheet = np.asarray(PAPERS[name], np.float32)[None, None] + grain[..., None]
    return sheet.astype(np.float32)


def rule(sheet: np.ndarray, kind: str, pitch: float, draws: np.random.Generator) -> tuple[np.ndarray, float]:
    """Prints ruled or squared lines `pitch` pixels apart.

    Returns:
      The sheet, and the height of the first line in pixels.
    """
    start = pitch * draws.uniform(0.2, 1)
    wide = max(1.0, pitch * draws.uniform(0.015, 0.03))
    colour = np.array(((120, 150, 205), (150, 150, 158), (150, 190, 200))[draws.integers(3)])
    strength = draws.uniform(0.5, 0.9)

    def cover(length: int) -> np.ndarray:
        places = (np.arange(length) - start + pitch / 2) % pitch - pitch / 2
        return (wide / 2 - np.abs(places) + 0.5).clip(0, 1) * strength

    lines = np.broadcast_to(cover(sheet.shape[0])[:, None], sheet.shape[:2])
    if kind == "squared":
        lines = np.maximum(lines, cover(sheet.shape[1])[None])
    elif kind == "ruled" and draws.random() < 0.6:  # the red line of the margin
        margin = np.abs(np.arange(sheet.shape[1]) - 0.12 * sheet.shape[1])
        red = (wide - margin + 0.5).clip(0, 1)[None, :, None] * strength
        sheet = sheet * (1 - red) + red * np.array((215, 110, 110))
    return sheet * (1 - lines[..., None]) + lines[..., None] * colour, start


def light(kind: str, shape: tuple[int, int], draws: np.random.Generator) -> np.ndarray:
    """How much light falls where (h, w): even, gradient, hand, hard or lamp."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    rows, columns = rows / shape[0] - 0.5, columns / shape[1] - 0.5
    angle = draws.uniform(0, 2 * np.pi)
    across = rows * np.sin(angle) + columns * np.cos(angle)
    level = 1 - 0.12 * (rows**2 + columns**2)
    if kind == "gradient":
        level *= 0.72 + draws.uniform(0.25, 0.5) * across
    elif kind == "lamp":
        spot = (rows - draws.uniform(-0.4, 0.4)) ** 2 + (columns - draws.uniform(-0.4, 0.4)) ** 2
        level *= 0.42 + 0.6 * np.exp(-spot / 0.22)
    elif kind == "hard":
        step = (across - draws.uniform(-0.2, 0.2)) / draws.uniform(0.006, 0.03)
        level *= 1 - draws.uniform(0.35, 0.55) / (1 + np.exp(-step.clip(-30, 30)))
    elif kind == "hand":
        level *= 1 - draws.uniform(0.35, 0.55) * hand(shape, draws)
    return level.astype(np.float32)


def hand(shape: tuple[int, int], draws: np.random.Generator) -> np.ndarray:
    """The soft shadow of a hand with a telephone, that comes from a lower corner."""
    small = Image.new("L", (160, 160))
    draw = ImageDraw.Draw(small)
    x, y = draws.uniform(40, 110), draws.uniform(50, 100)
    draw.polygon([(x, y), (x + 45, y - 25), (x + 80, y + 20), (x + 30, y + 60)], fill=255)
    for finger in range(4):
        draw.line([(x + 8 * finger, y), (x - 30 + 9 * finger, y - 22)], fill=255, width=9)
    draw.line([(x + 45, y + 20), (170, 190)], fill=255, width=46)
    if draws.random() < 0.5:
        small = small.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    soft = ndimage.gaussian_filter(np.asarray(small, np.float32) / 255, draws.uniform(3, 7))
    return np.asarray(Image.fromarray(soft).resize(shape[::-1], Image.Resampling.BICUBIC))


def glare(shape: tuple[int, int], draws: np.random.Generator) -> np.ndarray:
    """A window or lamp mirrored in a board: what it adds (h, w) in 0..1."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    row, column = draws.uniform(0, shape[0]), draws.uniform(0, shape[1])
    wide = draws.uniform(0.08, 0.2) * max(shape)
    return draws.uniform(0.1, 0.35) * np.exp(-((((rows - row) / wide) ** 2) + ((columns - column) / (1.6 * wide)) ** 2))


def homography(shape: tuple[int, int], turn: float, tilt: float, draws: np.random.Generator) -> np.ndarray:
    """(3, 3): where a point (x, y, 1) of the sheet is in the picture, which is equally large.

    Args:
      turn: in degrees, about the middle.
      tilt: how far a corner may move, as a share of the picture.
    """
    height, width = shape
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
    angle = np.deg2rad(turn)
    spin = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    middle = np.array([width, height]) / 2
    moved = (corners - middle) @ spin + middle
    moved += draws.uniform(-tilt, tilt, size=(4, 2)) * [width, height]
    rows = []
    for (x, y), (u, v) in zip(corners, moved, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    solved = np.linalg.solve(np.array(rows), moved.ravel())
    return np.append(solved, 1).reshape(3, 3)


def table(shape: tuple[int, int], draws: np.random.Generator) -> np.ndarray:
    """A table of wood or of one colour (h, w, 3), for what the sheet leaves free."""
    colour = np.array(TABLES[draws.integers(len(TABLES))], np.float32)
    grain = ndimage.gaussian_filter(draws.normal(size=shape), (1.5, 60)) * 60
    return colour[None, None] + (grain + 2 * clouds(draws, shape, 3))[..., None]


def photograph(sheet: np.ndarray, around: float, matrix: np.ndarray, draws: np.random.Generator) -> np.ndarray:
    """The sheet as a camera sees it (h, w, 3) float32.

    Args:
      sheet: (H, W, 3); it reaches `around` heights and widths of the picture beyond the frame,
        or ends within it, on a table, if that is negative.
      matrix: as homography gives it, from the picture's own frame.
    """
    height, width = (round(side / (1 + 2 * around)) for side in sheet.shape[:2])
    shift = np.array([[1, 0, around * width], [0, 1, around * height], [0, 0, 1]])
    back = shift @ np.linalg.inv(matrix)
    numbers = tuple((back / back[2, 2]).ravel()[:8])
    how = (width, height), Image.Transform.PERSPECTIVE, numbers, Image.Resampling.BICUBIC
    whole = Image.fromarray(sheet.clip(0, 255).astype(np.uint8)).transform(*how)
    pixels = np.asarray(whole, np.float32)
    if around >= 0:
        return pixels
    there = Image.new("L", sheet.shape[1::-1], 255).transform(*how)
    share = (np.asarray(there, np.float32) / 255)[..., None]
    shade = ndimage.gaussian_filter(share, (0.008 * height, 0.008 * height, 0))
    under = table((height, width), draws) * (1 - 0.35 * shade)
    return pixels * share + under * (1 - share)
