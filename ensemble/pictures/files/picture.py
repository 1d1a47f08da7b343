"""A person's picture, whatever it is stored as: bytes in, upright RGB of a bounded size out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.files.image_levels import Levels, describe_levels
from ensemble.pictures.files import transparency, working_image
from ensemble.pictures.files.decoding import MAX_FRAMES, DecodedPicture, open_decoded_picture, silence_decoder_warnings
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels, expand_small_levels, is_deep_image

# The longest side kept, in pixels. Tiny digits ask for many: a digit of 1/60 of the width of a
# page that fills an upright photo has 25 of them at 2048 × 1536, and half would be too few. Time
# asks for few, and for one more thing: a JPEG is decoded at a half, a quarter or an eighth at no
# cost, so that 12, 48, 50 and 200 megapixels come out at 2,000 to 2,040 pixels, while going on
# from there to 1600 would take 33 ms, half as much again as decoding does.
WORKING_SIDE = 2048
_ORIENTATION = 0x0112


@dataclass(frozen=True)
class Picture:
    """A picture as it should be looked at.

    Attributes:
      pixels: uint8 (H, W, 3), no side longer than `WORKING_SIDE`; read-only.
      scale: pixels of the upright original for one of `pixels`, at least 1.
      size: (width, height) of the upright original.
      format: its name in `formats.FORMATS`.
      notes: sentences on what a person might not expect, e.g. "First of 12 frames."
    """

    pixels: NDArray[np.uint8]
    scale: float
    size: tuple[int, int]
    format: str
    notes: tuple[str, ...] = ()


def open_picture(content: bytes, levels: PictureLevels = STANDARD_LEVELS) -> Picture:
    """Decodes a picture, makes it small enough to work on, turns it upright.

    Transparent parts become white paper, or black where the drawing is in white ink. Of
    many frames or pages the first is taken. Nothing is written, no other program is started,
    names and texts in the file are not read; colour profiles are ignored, because ink and
    paper differ in any of them.

    At most `decoding.MAX_MEMORY_BYTES` (600 MB) are taken above `content` and released again: a
    picture that could take more is refused by its header, and of the large ones one is opened at a
    time. That admits 100 megapixels of PNG, 250 of a JPEG as cameras write it (66 to 130 of a
    progressive one in colour), 50 of HEIC (34 if it is deep), 32 of WebP, 36 of TIFF in colour.

    Args:
      content: the bytes of a file of `formats.FORMATS`, at most `decoding.MAX_BYTES`.
      levels: what is black and white in the dataset that the networks have learnt, and what stands
        behind its transparent pictures.

    Raises:
      ImageError: it cannot be read; one sentence says why, and what to do.
    """
    with open_decoded_picture(content) as decoded_picture:
        orientation = _read_picture_orientation(decoded_picture.image)
        image = expand_small_levels(decoded_picture.image, levels)
        span = working_image.find_value_span(image, levels)
        notes = _describe_extra_frames(decoded_picture) + _describe_value_span(image, span)
        working = working_image.convert_to_working_size(
            image, WORKING_SIDE, decoded_picture.deadline.check_deadline, span
        )
        working, on_black = transparency.flatten_transparency(working, levels.ground)
        working = working_image.orient_image_upright(working, orientation)
    size = (decoded_picture.size[1], decoded_picture.size[0]) if orientation >= 5 else decoded_picture.size
    if on_black:
        notes += (
            "Put on black, as the transparent pictures of the dataset are."
            if levels.ground == transparency.BLACK
            else "Light ink on a transparent background: shown on black.",
        )
    scale = max(size) / max(working.size)
    return Picture(np.asarray(working), scale, size, decoded_picture.format, notes)


def _describe_extra_frames(picture: DecodedPicture) -> tuple[str, ...]:
    if picture.frames < 2:
        return ()
    unit = "pages" if picture.format == "TIFF" else "frames"
    some = "more than 1,000" if picture.frames >= MAX_FRAMES else str(picture.frames)
    return (f"First of {some} {unit}.",)


def _describe_value_span(image: Image.Image, span: Levels | None) -> tuple[str, ...]:
    full = (0.0, 1.0) if image.mode == "F" else (0.0, 65535.0)
    if not span or not span[1] or (is_deep_image(image) and span == full):
        return ()
    return (f"Its numbers: {describe_levels(span)}.",)


def _read_picture_orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; 1 if there is none that can be read."""
    try:
        with silence_decoder_warnings():
            value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # a broken EXIF block raises anything, and is not worth the picture
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1
