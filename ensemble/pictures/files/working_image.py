"""A decoded image of any of Pillow's modes to upright RGB of working size, strip by strip.

Strips, so that no second copy of a large picture ever exists: what a mode needs, transparent
or 16 bits deep, is done to about a million pixels at a time, which are then made smaller.
"""

from collections.abc import Callable

import numpy as np
from PIL import Image

from ensemble.files.image_levels import LevelRange, Levels, scale_levels
from ensemble.pictures.files import levels
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels
from ensemble.pictures.files.transparency import has_transparency

_STRIP_PIXELS = 1_000_000  # pixels
# What an EXIF orientation asks for to be upright (CIPA DC-008, tag 274).
_EXIF_TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def convert_to_working_size(
    image: Image.Image, longest: int, in_time: Callable[[], None] = lambda: None, span: Levels | None = None
) -> Image.Image:
    """RGB, or RGBA if it is transparent, with no side over `longest`; smaller stays as it is.

    Whole numbers of pixels are averaged first, then what is left is interpolated. Averaging
    is of the stored values, as cameras and browsers do it; colour profiles are not looked at.
    `in_time` is called between strips: what it raises ends the work. `span` are the numbers that
    are black and white, by `find_value_span` where they are not given.
    """
    factor = max(1, max(image.size) // longest)
    image = _reduce_image(image, factor, in_time, span or find_value_span(image))
    if max(image.size) > longest:
        share = longest / max(image.size)
        width, height = (max(1, round(side * share)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    return image.convert("RGB") if image.mode == "L" else image


def _reduce_image(image: Image.Image, factor: int, in_time: Callable[[], None], span: Levels | None) -> Image.Image:
    """L, RGB or RGBA, one pixel for `factor` × `factor`, those at the edges of fewer."""
    width, height = image.size
    rows = factor * max(1, _STRIP_PIXELS // (width * factor))
    if has_transparency(image):
        mode = "RGBA"
    else:  # Grey has one channel instead of three until it is small.
        deep = levels.is_deep_image(image)
        mode = "L" if deep or image.mode in ("1", "L") else "RGB"
    if image.mode == mode != "RGBA" and not span:
        return image.reduce(factor) if factor > 1 else image
    whole = Image.new(mode, (-(-width // factor), -(-height // factor)))
    for top in range(0, height, rows):
        in_time()
        strip = image.crop((0, top, width, min(top + rows, height)))
        if span:
            strip = Image.fromarray(scale_levels(np.asarray(strip), span))
        strip = strip.convert(mode)
        whole.paste(strip.reduce(factor) if factor > 1 else strip, (0, top // factor))
    return whole


def find_value_span(image: Image.Image, of_dataset: PictureLevels = STANDARD_LEVELS) -> Levels | None:
    """The values of black and white of a picture, by `levels.select_image_levels`, or None."""
    return levels.select_image_levels(image, of_dataset, find_level_range)


def find_level_range(image: Image.Image) -> LevelRange:
    """The range of all numbers of a picture, strip by strip."""
    width, height = image.size
    rows = max(1, _STRIP_PIXELS // width)
    found = LevelRange()
    for top in range(0, height, rows):
        found.add(np.asarray(image.crop((0, top, width, min(top + rows, height)))))
    return found


def orient_image_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Turned or mirrored as an EXIF orientation asks; what is none of the eight asks nothing."""
    turn = _EXIF_TRANSPOSES.get(orientation)
    return image if turn is None else image.transpose(turn)
