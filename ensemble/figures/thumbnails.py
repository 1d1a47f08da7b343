"""Test images as pictures: one strip for the browser, one enlarged, and a sheet to keep."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures.palette import LIGHT, RIGHT_COLOR, WRONG_COLOR
from ensemble.wording import formats
from ensemble.wording import images as images_words

Pixels = NDArray[np.uint8]

THUMBNAIL_SIZE = 84  # pixels of the screen that an image has among others: three for one of 28
# The sheet to keep: white in either theme, as paper is.
COLUMNS, GAP, _LINE_HEIGHT = 12, 14, 15
PAPER, INK = LIGHT.ground, LIGHT.ink


def encode_picture_png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def compute_display_size(shape: Sequence[int], room: int) -> tuple[int, int]:
    """Width and height on the screen of an image (H, W, …) in a square of `room` pixels.

    A small one is enlarged by a whole number, so that its pixels stay squares; one that is
    larger than the room is shrunk, its sides in their proportion.
    """
    high, wide = shape[0], shape[1]
    longest = max(high, wide)
    if longest <= room:
        return wide * (room // longest), high * (room // longest)
    return max(1, round(wide * room / longest)), max(1, round(high * room / longest))


def convert_to_picture(image: Pixels) -> Image.Image:
    """An image (H, W, channels), grey or colour; of more than three channels the first three."""
    grey = image.shape[-1] < 3
    return Image.fromarray(np.ascontiguousarray(image[..., 0] if grey else image[..., :3]))


def _shrink_picture(image: Pixels, room: int) -> Image.Image:
    """As `convert_to_picture`, shrunk to its room: a mean over what becomes a pixel."""
    picture = convert_to_picture(image)
    if max(picture.size) <= room:
        return picture
    return picture.resize(compute_display_size(image.shape, room), Image.Resampling.BOX)


def encode_image_strip(images: Pixels, room: int = THUMBNAIL_SIZE) -> str:
    """Images (K, H, W, channels) side by side, as a data URI: one picture instead of K.

    A browser enlarges them to `compute_display_size`; what is larger than `room` is shrunk here.
    """
    each = [_shrink_picture(image, room) for image in images]
    wide, high = each[0].size
    across = Image.new(each[0].mode, (wide * len(each), high))
    for place, picture in enumerate(each):
        across.paste(picture, (place * wide, 0))
    return "data:image/png;base64," + base64.b64encode(encode_picture_png(across)).decode()


def encode_enlarged_image(image: Pixels, room: int) -> bytes:
    """One image (H, W, channels) as a PNG of the size `compute_display_size` in `room` pixels.

    Each pixel of a small one becomes a square.
    """
    picture = _shrink_picture(image, room)
    return encode_picture_png(picture.resize(compute_display_size(image.shape, room), Image.Resampling.NEAREST))


def render_image_sheet(
    images: Pixels, predictions: EnsemblePredictions, numbers: Ints, names: Sequence[str], title: str
) -> bytes:
    """The images on screen as one PNG, with number, verdict, confidence and votes under each.

    Args:
      images: (K, H, W, channels).
    """
    long = max(map(len, names)) > 1
    wide = THUMBNAIL_SIZE + GAP + (40 if long else 0)
    lines = 4 if images_words.can_list_votes(predictions, names) else 3 + images_words.MAX_VOTE_LINES
    high = THUMBNAIL_SIZE + lines * _LINE_HEIGHT + GAP
    columns = max(1, min(COLUMNS, len(numbers)))
    rows = -(-len(numbers) // columns)
    font = ImageFont.load_default(size=11)
    width = max(columns * wide + GAP, GAP * 2 + int(font.getlength(title)))
    page = Image.new("RGB", (width, rows * high + 2 * GAP + _LINE_HEIGHT), PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((GAP, GAP // 2), title, INK, font)
    for place, number in enumerate(numbers):
        row, column = divmod(place, columns)
        corner = GAP + column * wide, GAP + _LINE_HEIGHT + row * high
        across, down = compute_display_size(images.shape[1:], THUMBNAIL_SIZE)
        big = _shrink_picture(images[place], THUMBNAIL_SIZE).resize((across, down), Image.Resampling.NEAREST)
        page.paste(big, (corner[0] + (THUMBNAIL_SIZE - across) // 2, corner[1] + (THUMBNAIL_SIZE - down) // 2))
        colour = RIGHT_COLOR if predictions.right[number] else WRONG_COLOR
        under = corner[1] + THUMBNAIL_SIZE
        draw.rectangle([corner[0], under, corner[0] + THUMBNAIL_SIZE - 1, under + 2], colour)
        for index, text in enumerate(_list_sheet_captions(predictions, number, names)):
            draw.text((corner[0], under + 4 + index * _LINE_HEIGHT), text, INK, font)
    return encode_picture_png(page)


def _list_sheet_captions(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> list[str]:
    class_name = names[predictions.said[number]]
    wrong = "" if predictions.right[number] else f"is {names[predictions.labels[number]]}"
    lines = [f"#{number}", f"{class_name} {wrong or 'right'}"]
    lines.append(formats.format_probability(predictions.confidence[number]))
    if predictions.members > 1:
        counted = not images_words.can_list_votes(predictions, names)
        lines += (
            images_words.format_vote_lines(predictions, number, names)
            if counted
            else [images_words.format_votes(predictions, number, names)]
        )
    return lines
