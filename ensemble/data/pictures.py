"""A person's picture, whatever it is stored as: bytes in, upright RGB of a bounded size out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.data import toning
from ensemble.data.decoding import MAX_FRAMES, decode, quiet

# The longest side kept, in pixels. Tiny digits ask for many: a digit of 1/60 of the width of a
# page that fills an upright photo has 25 of them at 2048 × 1536, and half would be too few. Time
# asks for few, and for one more thing: a JPEG is decoded at a half, a quarter or an eighth at no
# cost, so that 12, 48, 50 and 200 megapixels come out at 2,000 to 2,040 pixels, while going on
# from there to 1600 would take 33 ms, half as much again as decoding does.
WORKING = 2048
ORIENTATION = 0x0112


@dataclass(frozen=True)
class Picture:
    """A picture as it should be looked at.

    Attributes:
      pixels: uint8 (H, W, 3), no side longer than `WORKING`; read-only.
      scale: pixels of the upright original for one of `pixels`, at least 1.
      size: (width, height) of the upright original.
      format: its name in `signatures.FORMATS`.
      notes: sentences on what a person might not expect, e.g. "First of 12 frames."
    """

    pixels: NDArray[np.uint8]
    scale: float
    size: tuple[int, int]
    format: str
    notes: tuple[str, ...] = ()


def open_picture(content: bytes) -> Picture:
    """Decodes a picture, makes it small enough to work on, turns it upright.

    Transparent parts become white paper, or black where the drawing is in white ink. Of
    many frames or pages the first is taken. Nothing is written, no other program is started,
    names and texts in the file are not read; colour profiles are ignored, because ink and
    paper differ in any of them.

    At most `decoding.MEMORY` bytes are taken above those of `content` and released again: a
    picture that could take more is refused by its header.

    Args:
      content: the bytes of a file of `signatures.FORMATS`, at most `decoding.MAX_BYTES`.

    Raises:
      ImageError: it cannot be read; one sentence says why, and what to do.
    """
    image, size, name, frames = decode(content)
    orientation = orientation_of(image)
    working, on_black = toning.on_ground(toning.to_working(image, WORKING))
    working = toning.upright(working, orientation)
    if orientation >= 5:
        size = size[1], size[0]
    notes = []
    if frames > 1:
        unit = "pages" if name == "TIFF" else "frames"
        some = "more than 1,000" if frames >= MAX_FRAMES else str(frames)
        notes.append(f"First of {some} {unit}.")
    if on_black:
        notes.append("Light ink on a transparent ground: shown on black.")
    pixels = np.asarray(working)
    return Picture(pixels, max(size) / max(working.size), size, name, tuple(notes))


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; 1 where there is none that can be read."""
    try:
        with quiet():
            value = image.getexif().get(ORIENTATION, 1)
    except Exception:  # a broken EXIF block raises anything, and is not worth the picture
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1
