"""Where a mark is read: what covering each place does to the verdict, painted over the mark."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ensemble.analysis.quality.averaging import Floats
from ensemble.figures import palette, thumbnails
from ensemble.recognition.occlusion import Occlusion

Pixels = NDArray[np.uint8]
_Box = tuple[int, int, int, int]

_MAP_SIDE_PX = 112  # pixels of the screen that a map has: four for one of 28
_MIN_COLOR_SCALE = 0.02  # a fall of the probability that is not worth full colour
_MARK_BRIGHTNESS = 0.55  # how bright the mark itself stays under the colours
_GAP_PX, _LINE_HEIGHT_PX = 12, 18  # pixels of the sheet to keep


def compute_saliency_scale(occlusion: Occlusion) -> float:
    """The change that is painted in full colour: the same for all maps of a mark."""
    return max(_MIN_COLOR_SCALE, float(np.abs(occlusion.member_changes).max()))


def paint_saliency_map(image: Pixels, change: Floats, full: float) -> Pixels:
    """The mark in grey with the changes over it: uint8 (H, W, 3).

    Args:
      image: uint8 (H, W, channels); colour is shown in grey, for the changes have colours.
      change: (H, W), how far the probability falls when this place is covered; less than 0
        where it rises.

    Blue where the probability falls, orange where it rises: told apart with any colour vision.
    """
    share = np.clip(np.asarray(change) / full, -1, 1)[..., None]
    blue, orange = (np.array(palette.parse_hex_color(color)) for color in (palette.RIGHT_COLOR, palette.WRONG_COLOR))
    grey = image.mean(axis=-1, keepdims=True)
    below = np.repeat(grey * _MARK_BRIGHTNESS, 3, axis=-1)
    above = np.where(share > 0, blue, orange)
    return np.rint(below + (above - below) * np.abs(share)).astype(np.uint8)


def _enlarge_saliency_map(pixels: Pixels, box: _Box | None) -> Image.Image:
    wide, high = thumbnails.compute_display_size(pixels.shape, _MAP_SIDE_PX)
    enlarging = wide >= pixels.shape[1]
    how = Image.Resampling.NEAREST if enlarging else Image.Resampling.BOX
    big = Image.fromarray(pixels).resize((wide, high), how)
    if box:
        left, top, right, bottom = (round(edge * wide / pixels.shape[1]) for edge in box)
        draw = ImageDraw.Draw(big)
        # Around the patch, so that it hides nothing; white within black is seen on every ground.
        draw.rectangle([left - 3, top - 3, right + 2, bottom + 2], outline="#000000")
        draw.rectangle([left - 2, top - 2, right + 1, bottom + 1], outline="#FFFFFF", width=2)
    return big


def draw_saliency_maps(image: Pixels, occlusion: Occlusion, members: Sequence[int]) -> list[Image.Image]:
    full = compute_saliency_scale(occlusion)
    several = len(occlusion.member_changes) > 1
    averaged = (
        [_enlarge_saliency_map(paint_saliency_map(image, occlusion.ensemble_change, full), None)] if several else []
    )
    return averaged + [
        _enlarge_saliency_map(paint_saliency_map(image, occlusion.member_changes[m], full), find_flip_box(occlusion, m))
        for m in members
    ]


def find_flip_box(occlusion: Occlusion, m: int) -> _Box | None:
    """The smallest patch whose covering changes a member's mind: left, top, right, bottom."""
    flip = occlusion.flips[m]
    return None if flip is None else flip.box


def compose_saliency_sheet(pictures: Sequence[Image.Image], captions: Sequence[str], title: str) -> bytes:
    font = ImageFont.load_default(size=12)
    wide = max([pictures[0].width, *(int(font.getlength(text)) for text in captions)]) + _GAP_PX
    width = max(wide * len(pictures) + _GAP_PX, int(font.getlength(title)) + 2 * _GAP_PX)
    page = Image.new("RGB", (width, pictures[0].height + 2 * _LINE_HEIGHT_PX + 2 * _GAP_PX), thumbnails.PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((_GAP_PX, _GAP_PX // 2), title, thumbnails.INK, font)
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        corner = _GAP_PX + place * wide, _GAP_PX + _LINE_HEIGHT_PX
        page.paste(picture, corner)
        draw.text((corner[0], corner[1] + picture.height + 4), caption, thumbnails.INK, font)
    return thumbnails.encode_picture_png(page)


def tabulate_saliency(occlusion: Occlusion) -> pd.DataFrame:
    """A row for each place: how far the averaged and each member's probability falls."""
    rows, columns = np.indices(occlusion.ensemble_change.shape).reshape(2, -1)
    each = {f"member_{m + 1}": change.ravel() for m, change in enumerate(occlusion.member_changes)}
    return pd.DataFrame({"row": rows, "column": columns, "averaged": occlusion.ensemble_change.ravel(), **each})
