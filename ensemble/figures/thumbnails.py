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

Pixels = NDArray[np.uint8]

PLACE = 84  # pixels of the screen that an image has among others: three for one of 28
# The sheet to keep: white in either theme, as paper is.
COLUMNS, GAP, LINE = 12, 14, 15
PAPER, INK = LIGHT.ground, LIGHT.ink


def png(image: Image.Image) -> bytes:
    """The picture as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def on_screen(shape: Sequence[int], room: int) -> tuple[int, int]:
    """Width and height on the screen of an image (H, W, …) in a square of `room` pixels.

    A small one is enlarged by a whole number, so that its pixels stay squares; one that is
    larger than the room is shrunk, its sides in their proportion.
    """
    high, wide = shape[0], shape[1]
    longest = max(high, wide)
    if longest <= room:
        return wide * (room // longest), high * (room // longest)
    return max(1, round(wide * room / longest)), max(1, round(high * room / longest))


def picture(image: Pixels) -> Image.Image:
    """An image (H, W, channels), grey or colour; of more than three channels the first three."""
    grey = image.shape[-1] < 3
    return Image.fromarray(np.ascontiguousarray(image[..., 0] if grey else image[..., :3]))


def fitted(image: Pixels, room: int) -> Image.Image:
    """As `picture`, shrunk where it is larger than its room: a mean over what becomes a pixel."""
    found = picture(image)
    if max(found.size) <= room:
        return found
    return found.resize(on_screen(image.shape, room), Image.Resampling.BOX)


def strip(images: Pixels, room: int = PLACE) -> str:
    """Images (K, H, W, channels) side by side, as a data URI: one picture instead of K.

    A browser enlarges them to `on_screen`; what is larger than `room` is shrunk here.
    """
    each = [fitted(image, room) for image in images]
    wide, high = each[0].size
    across = Image.new(each[0].mode, (wide * len(each), high))
    for place, one in enumerate(each):
        across.paste(one, (place * wide, 0))
    return "data:image/png;base64," + base64.b64encode(png(across)).decode()


def enlarged(image: Pixels, room: int) -> bytes:
    """One image (H, W, channels) as a PNG of the size `on_screen` in `room` pixels.

    Each pixel of a small one becomes a square.
    """
    found = fitted(image, room)
    return png(found.resize(on_screen(image.shape, room), Image.Resampling.NEAREST))


def sheet(
    images: Pixels, made: Predictions, numbers: Ints, names: Sequence[str], title: str
) -> bytes:
    """The images on screen as one PNG, with number, verdict, confidence and votes under each.

    Args:
      images: (K, H, W, channels).
      made: the predictions.
      numbers: the images' numbers, K of them.
      names: the classes' names.
      title: the line on top.
    """
    long = max(map(len, names)) > 1
    wide = PLACE + GAP + (40 if long else 0)
    lines = 4 if images_words.listed(made, names) else 3 + images_words.LINES
    high = PLACE + lines * LINE + GAP
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
        across, down = on_screen(images.shape[1:], PLACE)
        big = fitted(images[place], PLACE).resize((across, down), Image.Resampling.NEAREST)
        page.paste(big, (corner[0] + (PLACE - across) // 2, corner[1] + (PLACE - down) // 2))
        colour = RIGHT if made.right[number] else WRONG
        under = corner[1] + PLACE
        draw.rectangle([corner[0], under, corner[0] + PLACE - 1, under + 2], colour)
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
        lines += (
            images_words.short_votes(made, number, names)
            if counted
            else [images_words.spoken_votes(made, number, names)]
        )
    return lines
