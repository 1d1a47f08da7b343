"""A person's picture to the form the networks know: uint8 (28, 28, 1), white ink on black."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from ensemble.errors import ImageError

SIZE = 28
MAX_BYTES = 10_000_000
# Only formats that Pillow decodes by itself: EPS, for one, would start Ghostscript.
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
NAMES = ", ".join(FORMATS[:-1]) + " or " + FORMATS[-1]
BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    struct.error,
    zlib.error,
)
BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


def read_image(source: bytes | Path) -> NDArray[np.uint8]:
    """Reads a picture of exactly 28×28 pixels.

    Colours become grey; transparent parts become black ground.

    Args:
      source: the picture's bytes as uploaded, or a path to them.

    Returns:
      uint8 (28, 28, 1), 0 is ground and 255 is ink, as in MNIST.

    Raises:
      ImageError: it is no picture that can be read, or not of this size; the message says
        which. Nothing is decoded before its size is known to be right.
    """
    raw = read_bounded(source)
    try:
        with Image.open(io.BytesIO(raw), formats=FORMATS) as image:
            if image.size != (SIZE, SIZE):
                width, height = image.size
                raise ImageError(
                    f"The picture has {width}×{height} pixels: it has to have {SIZE}×{SIZE}, "
                    "white ink on black as in MNIST."
                )
            return as_grey(image)[:, :, np.newaxis]
    except UnidentifiedImageError as error:
        raise ImageError(f"This is not a picture that can be read: take a {NAMES} file.") from error
    except BOMB as error:
        raise ImageError(
            f"The picture has far too many pixels: it has to have {SIZE}×{SIZE}."
        ) from error
    except BROKEN as error:
        raise ImageError(
            "The picture is damaged and cannot be read to its end: save it again, or take another."
        ) from error


def read_bounded(source: bytes | Path) -> bytes:
    """The bytes of `source`, at most `MAX_BYTES` of them."""
    if isinstance(source, Path):
        try:
            with source.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise ImageError(f"{source} cannot be read: {error.strerror or error}.") from error
    else:
        raw = source
    if len(raw) > MAX_BYTES:
        raise ImageError(
            f"The file is larger than {MAX_BYTES // 1_000_000} MB: take a smaller one."
        )
    return raw


def as_grey(image: Image.Image) -> NDArray[np.uint8]:
    """The picture's brightness, uint8 (H, W), on black where it is transparent."""
    if image.mode.startswith("I"):  # 16 bits a pixel, which Pillow would cut off at 255
        return (np.clip(np.asarray(image), 0, 65535) >> 8).astype(np.uint8)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        ground = Image.new("RGBA", image.size, (0, 0, 0, 255))
        image = Image.alpha_composite(ground, image.convert("RGBA"))
    return np.asarray(image.convert("L"))
