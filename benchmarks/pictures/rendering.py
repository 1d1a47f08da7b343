"""Rendering: digits set on a sheet, photographed in a style and encoded as a file."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage

from benchmarks.pictures import finishing, forms, paper
from benchmarks.pictures import pens as pictures_pens
from benchmarks.pictures.pens import PENS
from benchmarks.pictures.styles import Style

UPRIGHT_FROM = {3: 180, 6: 270, 8: 90}  # EXIF's number: degrees that the file is turned by


@dataclass(frozen=True)
class Photo:
    """A picture as bytes with what is on it, line by line."""

    content: bytes
    suffix: str
    lines: tuple[str, ...] = ()
    boxes: tuple[tuple[int, int, int, int], ...] = ()


class Layer:
    """The ink on a sheet: digits set one after another, and where each of them is."""

    def __init__(self, shape: tuple[int, int]):
        self.cover = np.zeros(shape, np.float32)
        self.points: list[np.ndarray] = []

    def put(self, cover: np.ndarray, left: int, top: int) -> None:
        """Adds a stroke image with its upper left corner there, and remembers its outline."""
        height, width = cover.shape
        left = min(max(0, left), self.cover.shape[1] - width)
        top = min(max(0, top), self.cover.shape[0] - height)
        self.cover[top : top + height, left : left + width] = np.maximum(
            self.cover[top : top + height, left : left + width], cover
        )
        rows, columns = np.nonzero(cover > 0.3)
        keep = slice(None, None, max(1, len(rows) // 3000))
        self.points.append(np.stack([columns[keep] + left, rows[keep] + top], axis=1))

    def boxes(self, matrix: np.ndarray, corner: tuple[float, float], scale: int) -> list[Any]:
        """Where each digit is in the picture: left, top, right, bottom."""
        digit_boxes = []
        for points in self.points:
            there = np.column_stack([points - np.array(corner), np.ones(len(points))]) @ matrix.T
            flat = there[:, :2] / there[:, 2:] * scale
            left, top = np.floor(flat.min(0))
            right, bottom = np.ceil(flat.max(0)) + 1
            digit_boxes.append((int(left), int(top), int(right), int(bottom)))
        return digit_boxes


def trimmed(cover: np.ndarray) -> np.ndarray:
    """Without the empty rows and columns around the ink."""
    rows, columns = np.nonzero(cover > 0.02)
    return cover[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def breadth(distance: np.ndarray) -> float:
    """How broad a digit is, in its heights, between the middles of its strokes."""
    return 1.5 * distance.shape[1] / distance.shape[0] - 0.5


def write(lines: list[list[np.ndarray]], style: Style, pen: str, frame: tuple[int, ...], draws: Any) -> Layer:
    """Sets the digits of each line side by side into a frame (left, top, right, bottom, H, W)."""
    left, top, right, bottom, height, width = frame
    share = draws.uniform(*style.height)
    tall, thick = share * (bottom - top), draws.uniform(*PENS[pen].width)
    longest = max(sum(breadth(d) + thick + style.gap[1] for d in line) for line in lines)
    tall = min(tall, 0.85 * (right - left) / (1.1 * longest))
    covers = [
        [trimmed(pictures_pens.stroke(d, tall * draws.uniform(0.9, 1.1), thick, PENS[pen], draws)) for d in line]
        for line in lines
    ]
    layer = Layer((height, width))
    pitch = round(tall * draws.uniform(1.35, 1.7))
    block = pitch * (len(lines) - 1) + round(1.15 * tall)
    down = place(top, bottom, block, style.at_edge, draws)
    for line in covers:
        gaps = [round(draws.uniform(*style.gap) * tall) for _ in line]
        long = sum(cover.shape[1] for cover in line) + sum(gaps[1:])
        across = place(left, right, long, style.at_edge, draws)
        for cover, gap in zip(line, [0, *gaps[1:]], strict=True):
            across += gap
            drop = round(1.1 * tall) - cover.shape[0] + round(draws.uniform(-0.04, 0.04) * tall)
            layer.put(cover, across, down + drop)
            across += cover.shape[1]
        down += pitch
    return layer


def place(low: int, high: int, length: int, at_edge: bool, draws: np.random.Generator) -> int:
    """Where something of a length begins; near one end of the frame if `at_edge`."""
    room = max(1, high - low - length)
    if at_edge:
        share = draws.uniform(0.02, 0.07)
        return low + round(room * (share if draws.random() < 0.5 else 1 - share))
    return low + round(room * draws.uniform(0.2, 0.8))


def photo(lines: list[list[np.ndarray]], style: Style, draws: np.random.Generator) -> Photo:
    """One picture of digits, given as middle_distance gives them, in a style."""
    width, height = style.size
    around = -0.1 if style.table else 0.3 if style.turn + 200 * style.tilt > 12 else 0.12
    left, top = round(around * width), round(around * height)
    shape = height + 2 * top, width + 2 * left
    inset = (-left, -top) if around > 0 else (0, 0)
    frame = (-inset[0], -inset[1], shape[1] + inset[0], shape[0] + inset[1], *shape)
    pen = style.pens[draws.integers(len(style.pens))]
    layer = write(lines, style, pen, frame, draws)
    colour = np.array(PENS[pen].colours[draws.integers(len(PENS[pen].colours))], np.float32)
    matrix = paper.homography((height, width), draws.uniform(-style.turn, style.turn), style.tilt, draws)
    boxes = layer.boxes(matrix, (left, top), style.enlarge)
    if style.kind == "transparent":
        return transparent(layer.cover, colour, frame, boxes)
    if style.kind == "png" and not style.finish:
        ground = 255 - colour if pen == "screen" else np.zeros(3)
        flat = ground + layer.cover[..., None] * (colour - ground)
        pixels = paper.photograph(flat, around, matrix, draws)
        return Photo(*encode(pixels, style, draws), boxes=tuple(boxes))
    sheet = paper.paper(style.papers[draws.integers(len(style.papers))], shape, draws)
    if style.lines:
        tall = max(points[:, 1].max() - points[:, 1].min() for points in layer.points)
        if style.lines in forms.RULINGS:
            sheet = forms.RULINGS[style.lines](sheet, layer.points, tall, draws)
        elif style.lines == "cells":
            sheet = cells(sheet, layer.points, tall, draws)
        else:
            pitch = tall * (draws.uniform(0.9, 1.5) if style.lines == "ruled" else 0.5)
            sheet, _ = paper.rule(sheet, style.lines, pitch, draws)
    bleed = ndimage.gaussian_filter(layer.cover, 0.6)[..., None]
    sheet = sheet * (1 - bleed) + bleed * (0.9 * colour + 0.1 * sheet * colour / 255)
    pixels = paper.photograph(sheet, around, matrix, draws)
    pixels, places = camera(pixels, style, draws), tuple(boxes)
    if style.finish:
        pixels, places = finishing.FINISHES[style.finish](pixels, places, draws)
    return Photo(*encode(pixels, style, draws), boxes=places)


def cells(sheet: np.ndarray, points: list[np.ndarray], tall: float, draws: Any) -> np.ndarray:
    """The sheet with a table's lines printed on it, each digit within a cell of its own."""
    wide = max(1, round(tall * draws.uniform(0.01, 0.03)))
    shade = draws.uniform(40, 150)
    pitch = tall * draws.uniform(1.25, 1.6)
    middle = np.concatenate(points)
    centre = (middle.min(axis=0) + middle.max(axis=0)) / 2
    for axis, length in ((1, sheet.shape[0]), (0, sheet.shape[1])):
        first = (centre[axis] - pitch / 2) % pitch
        for at in np.arange(first, length - wide, pitch).astype(int):
            where = slice(at, at + wide)
            sheet[(where, slice(None)) if axis else (slice(None), where)] = shade
    return sheet


def camera(pixels: np.ndarray, style: Style, draws: np.random.Generator) -> np.ndarray:
    """Light falls on it, the lens blurs it, the sensor adds its tint and noise."""
    shape = pixels.shape[:2]
    kind = style.lights[draws.integers(len(style.lights))]
    lit = pixels * paper.light(kind, shape, draws)[..., None]
    if style.glare:
        lit = lit + 255 * paper.glare(shape, draws)[..., None]
    lit = ndimage.gaussian_filter(lit, (*[draws.uniform(*style.blur)] * 2, 0))
    lit = lit * draws.uniform(0.93, 1.03, size=3) * style.exposure
    if style.enlarge > 1:
        small = Image.fromarray(lit.clip(0, 255).astype(np.uint8))
        large = small.resize([side * style.enlarge for side in small.size], Image.Resampling.BICUBIC)
        lit = np.asarray(large, np.float32)
    coarse = draws.standard_normal(lit.shape, np.float32)
    coarse = ndimage.gaussian_filter(coarse, (0.6, 0.6, 0), truncate=2)
    return lit + draws.uniform(*style.noise) * 2 * coarse


def encode(pixels: np.ndarray, style: Style, draws: np.random.Generator) -> tuple[bytes, str]:
    """The bytes of a JPEG or PNG file, and its suffix."""
    image, buffer = Image.fromarray(pixels.clip(0, 255).astype(np.uint8)), io.BytesIO()
    if style.kind in ("png", "colour png"):
        (image if style.kind == "colour png" else image.convert("L")).save(buffer, "PNG")
        return buffer.getvalue(), ".png"
    exif = Image.Exif()
    if style.turned:
        number = list(UPRIGHT_FROM)[draws.integers(len(UPRIGHT_FROM))]
        image = image.rotate(-UPRIGHT_FROM[number], expand=True)
        exif[0x0112] = number
    quality = int(draws.integers(*style.quality))
    image.save(buffer, "JPEG", quality=quality, exif=exif)
    return buffer.getvalue(), ".jpg"


def transparent(cover: np.ndarray, colour: np.ndarray, frame: Any, boxes: list[Any]) -> Photo:
    """Ink on nothing: a PNG whose paper is transparent."""
    left, top, right, bottom = frame[:4]
    alpha = (255 * cover[top:bottom, left:right]).astype(np.uint8)
    inked = np.broadcast_to(colour.astype(np.uint8), (*alpha.shape, 3))
    buffer = io.BytesIO()
    Image.fromarray(np.dstack([inked, alpha])).save(buffer, "PNG")
    return Photo(buffer.getvalue(), ".png", boxes=tuple(boxes))
