"""Test images as pictures: one strip for the browser, one enlarged, and a sheet to keep."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures.palette import LIGHT, RIGHT, WRONG
from ensemble.wording import formats
from ensemble.wording import images as images_words

SIDE = 28
Pixels = NDArray[np.uint8]

# The sheet to keep: white in either theme, as paper is.
COLUMNS, SCALE, GAP, LINE = 12, 3, 14, 15
PAPER, INK = LIGHT.ground, LIGHT.ink


def png(image: Image.Image) -> bytes:
    """The picture as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def strip(images: Pixels) -> str:
    """Images (K, 28, 28, 1) side by side, as a data URI: one picture instead of K."""
    across = images[..., 0].transpose(1, 0, 2).reshape(SIDE, -1)
    return "data:image/png;base64," + base64.b64encode(png(Image.fromarray(across))).decode()


def enlarged(image: Pixels, times: int) -> bytes:
    """One image (28, 28, 1) as a PNG, each pixel a square of `times` by `times`."""
    return png(Image.fromarray(image[..., 0].repeat(times, axis=0).repeat(times, axis=1)))


def sheet(
    images: Pixels, made: Predictions, numbers: Ints, names: Sequence[str], title: str
) -> bytes:
    """The images on screen as one PNG, with number, verdict, confidence and votes under each.

    Args:
      images: (K, 28, 28, 1).
      made: the predictions.
      numbers: the images' numbers, K of them.
      names: the classes' names.
      title: the line on top.
    """
    long = max(map(len, names)) > 1
    wide = SIDE * SCALE + GAP + (40 if long else 0)
    lines = 4 if images_words.listed(made, names) else 3 + images_words.LINES
    high = SIDE * SCALE + lines * LINE + GAP
    columns = max(1, min(COLUMNS, len(numbers)))
    rows = -(-len(numbers) // columns)
    font = ImageFont.load_default(size=11)
    width = max(columns * wide + GAP, GAP * 2 + int(font.getlength(title)))
    page = Image.new("RGB", (width, rows * high + 2 * GAP + LINE), PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((GAP, GAP // 2), title, INK, font)
    for place, number in enumerate(numbers):
        row, column = divmod(place, columns)
        corner = GAP + column * wide, GAP + LINE + row * high
        big = Image.fromarray(images[place, ..., 0]).resize(
            (SIDE * SCALE,) * 2, Image.Resampling.NEAREST
        )
        page.paste(big, corner)
        colour = RIGHT if made.right[number] else WRONG
        under = corner[1] + SIDE * SCALE
        draw.rectangle([corner[0], under, corner[0] + SIDE * SCALE - 1, under + 2], colour)
        for index, text in enumerate(captions(made, number, names)):
            draw.text((corner[0], under + 4 + index * LINE), text, INK, font)
    return png(page)


def captions(made: Predictions, number: int, names: Sequence[str]) -> list[str]:
    """The lines under an image of the sheet, in letters that every font has."""
    said = names[made.said[number]]
    wrong = "" if made.right[number] else f"is {names[made.labels[number]]}"
    lines = [f"#{number}", f"{said} {wrong or 'right'}"]
    lines.append(formats.chance(made.confidence[number]))
    if made.members > 1:
        counted = not images_words.listed(made, names)
        lines += images_words.short_votes(made, number, names) if counted else [
            images_words.spoken_votes(made, number, names)
        ]  # fmt: skip
    return lines
