"""A decoded image of any of Pillow's modes to upright RGB of working size, strip by strip.

Strips, so that no second copy of a large picture ever exists: what a mode needs, transparent
or 16 bits deep, is done to about a million pixels at a time, which are then made smaller.
"""

from collections.abc import Callable

import numpy as np
from PIL import Image

STRIP_PIXELS = 1_000_000  # pixels
TRANSPARENT_MODES = ("RGBA", "LA", "PA", "La", "RGBa")
DEEP_MODES = ("I", "F")  # and all that begin with "I;"
BIT_DEPTH_MAXIMA = (255, 1023, 4095, 16383, 65535)  # of 8, 10, 12, 14 and 16 bits

# What an EXIF orientation asks for to be upright (CIPA DC-008, tag 274).
EXIF_TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def convert_to_working_size(
    image: Image.Image, longest: int, in_time: Callable[[], None] = lambda: None
) -> Image.Image:
    """RGB, or RGBA if it is transparent, with no side over `longest`; smaller stays as it is.

    Whole numbers of pixels are averaged first, then what is left is interpolated. Averaging
    is of the stored values, as cameras and browsers do it; colour profiles are not looked at.
    `in_time` is called between strips: what it raises ends the work.
    """
    factor = max(1, max(image.size) // longest)
    image = reduce_image(image, factor, in_time)
    if max(image.size) > longest:
        share = longest / max(image.size)
        width, height = (max(1, round(side * share)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    return image.convert("RGB") if image.mode == "L" else image


def reduce_image(image: Image.Image, factor: int, in_time: Callable[[], None]) -> Image.Image:
    """L, RGB or RGBA, one pixel for `factor` × `factor`, those at the edges of fewer."""
    width, height = image.size
    rows = factor * max(1, STRIP_PIXELS // (width * factor))
    span = find_value_span(image)
    if image.mode in TRANSPARENT_MODES or "transparency" in image.info:
        mode = "RGBA"
    else:  # Grey has one channel instead of three until it is small.
        mode = "L" if span or image.mode in ("1", "L") else "RGB"
    if image.mode == mode != "RGBA":
        return image.reduce(factor) if factor > 1 else image
    whole = Image.new(mode, (-(-width // factor), -(-height // factor)))
    for top in range(0, height, rows):
        in_time()
        strip = image.crop((0, top, width, min(top + rows, height)))
        if span:
            strip = normalize_levels(strip, *span)
        strip = strip.convert(mode)
        whole.paste(strip.reduce(factor) if factor > 1 else strip, (0, top // factor))
    return whole


def find_value_span(image: Image.Image) -> tuple[float, float] | None:
    """The values of black and white of a picture of more than 8 bits; None for all others.

    White is the top of the smallest depth that holds the picture: cameras and scanners keep
    10, 12 or 14 bits in 16. Floats run to 1, to 255, or, where they leave both, as far as
    they run.
    """
    if image.mode not in DEEP_MODES and not image.mode.startswith("I;"):
        return None
    low, high = find_finite_extrema(image)
    if low < 0 or high > BIT_DEPTH_MAXIMA[-1]:
        return low, high
    if image.mode == "F" and high <= 1:
        return 0.0, 1.0
    return 0.0, float(next(top for top in BIT_DEPTH_MAXIMA if high <= top))


def find_finite_extrema(image: Image.Image) -> tuple[float, float]:
    """The least and the greatest value that is a number; (0, 0) if there is none."""
    width, height = image.size
    rows = max(1, STRIP_PIXELS // width)
    lows, highs = [], []
    for top in range(0, height, rows):
        values = np.asarray(image.crop((0, top, width, min(top + rows, height))))
        if values.dtype.kind == "f":
            values = values[np.isfinite(values)]
        if values.size:
            lows.append(float(values.min()))
            highs.append(float(values.max()))
    return (min(lows), max(highs)) if lows else (0.0, 0.0)


def normalize_levels(strip: Image.Image, low: float, high: float) -> Image.Image:
    """8 bits of grey; what is not a number becomes black."""
    values = np.asarray(strip)
    if values.dtype == np.uint16:
        table = np.minimum(np.arange(65536) * (255 / high) + 0.5, 255).astype(np.uint8)
        return Image.fromarray(table[values])
    numbers = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
    share = (numbers - low) / (high - low) if high > low else np.zeros_like(numbers)
    return Image.fromarray(np.round(255 * np.clip(share, 0, 1)).astype(np.uint8))


def flatten_transparency(image: Image.Image) -> tuple[Image.Image, bool]:
    """RGB on white, or on black if nothing would be seen of it on white; and which."""
    if image.mode != "RGBA":
        return image, False
    black = is_light_drawing(image)
    ground = Image.new("RGBA", image.size, (0, 0, 0, 255) if black else (255, 255, 255, 255))
    return Image.alpha_composite(ground, image).convert("RGB"), black


def is_light_drawing(image: Image.Image) -> bool:
    """Whether what is painted on a transparent picture is light all over, as chalk is.

    A light page that covers most of the picture is a page, not ink.
    """
    grey = np.asarray(image.convert("RGB").convert("L"))
    painted = grey[np.asarray(image.getchannel("A")) > 127]
    if not 0 < painted.size < 0.6 * grey.size:
        return False
    return bool(np.quantile(painted, 0.001) > 160)


def orient_image_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Turned or mirrored as an EXIF orientation asks; what is none of the eight asks nothing."""
    turn = EXIF_TRANSPOSES.get(orientation)
    return image if turn is None else image.transpose(turn)
