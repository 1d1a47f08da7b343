"""A picture's file to the pixels that are learnt from, by rules that are said.

- A camera's orientation (EXIF) is followed; of several frames or pages the first is taken.
- Transparency is put on white. 16 bits keep their upper eight. A palette becomes its colours.
- Grey stays one channel where all pictures of a dataset are grey; else all have three.
- Pictures of more pixels than `MOST_PIXELS` are refused by their header.
"""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from PIL import Image

from ensemble.datasets.own.source import DatasetImageFormat, Pixels, Size
from ensemble.storage.plain_files import open_plain_file

# Not all that Pillow knows: some of its formats start other programs. JPEG's opens MPO too.
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM", "AVIF")
SUFFIXES = frozenset(
    (
        ".png",
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
        ".mpo",
        ".webp",
        ".bmp",
        ".gif",
        ".tif",
        ".tiff",
        ".ppm",
        ".pgm",
        ".pbm",
        ".pnm",
        ".avif",
    )
)
MOST_PIXELS = 89_478_485  # Pillow's own limit
MOST_FILE = 200 * 2**20  # bytes
LARGE_PICTURE_PIXELS = (
    2**24
)  # pixels from which pictures are decoded one at a time: each may take over 1 GB
LARGE_PICTURE_LOCK = threading.Lock()
ORIENTATION = 0x0112  # EXIF
ORIENTATION_TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS_ORIENTATIONS = (5, 6, 7, 8)  # of the orientations: height and width change places
Image.init()  # else most of them are not looked for where formats are named
DAMAGED_MESSAGE = "it is damaged, truncated or not a picture"


class UnreadablePictureError(Exception):
    """A picture cannot be taken. The message says why, in a few words."""


def read_picture_header(path: Path) -> tuple[Size, bool]:
    """A picture's (height, width) as shown, and whether it is grey, without reading its pixels.

    Raises:
      UnreadableError: it is no picture, or too large.
    """
    with open_picture_file(path) as image:
        width, height = image.size
        if read_exif_orientation(image) in SIDEWAYS_ORIENTATIONS:
            width, height = height, width
        return (height, width), is_gray_image(image)


def read_picture_pixels(path: Path, form: DatasetImageFormat) -> Pixels:
    """The picture in this form: uint8 (H, W, channels).

    Raises:
      UnreadableError: it is damaged, too large, or of another size than all are said to have.
    """
    with open_picture_file(path) as image:
        turn = ORIENTATION_TRANSPOSES.get(read_exif_orientation(image))
        if form.resize:
            # A photograph is decoded at a half, a quarter or an eighth where that is enough.
            scale = 2 * max(form.height, form.width) / max(image.size)
            image.draft(None, (round(image.width * scale), round(image.height * scale)))
        with (
            LARGE_PICTURE_LOCK
            if image.width * image.height > LARGE_PICTURE_PIXELS
            else nullcontext()
        ):
            plain = convert_to_channels(image, form.channels)
            return fit_image_to_format(plain if turn is None else plain.transpose(turn), form)


@contextmanager
def open_picture_file(path: Path) -> Iterator[Image.Image]:
    """A picture's file, opened; whatever its decoder raises is an UnreadableError."""
    try:
        with open_plain_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise UnreadablePictureError("it is empty")
            if size > MOST_FILE:
                raise UnreadablePictureError(f"its file is larger than {MOST_FILE // 2**20} MB")
            with Image.open(file, formats=FORMATS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise UnreadablePictureError(f"it has {image.width:,}×{image.height:,} pixels")
                yield image
    except UnreadablePictureError:
        raise
    except Image.DecompressionBombError as error:
        raise UnreadablePictureError("it has too many pixels") from error
    except PermissionError as error:
        raise UnreadablePictureError("it may not be read") from error
    except Exception as error:  # decoders meet damaged bytes with exceptions of every kind
        raise UnreadablePictureError(DAMAGED_MESSAGE) from error


@contextmanager
def silence_pillow_warnings() -> Iterator[None]:
    """No warnings of the decoders' own, which speak of single files; for all threads at once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


def read_exif_orientation(image: Image.Image) -> int:
    """EXIF's word for how a picture lies; 1 where it says nothing that can be read.

    A PNG is asked for what stands before its pixels, so that they need not be decoded for it; a
    TIFF is turned by Pillow itself.
    """
    try:
        if image.format == "TIFF" or (image.format == "PNG" and "exif" not in image.info):
            return 1
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # damaged EXIF, as any other: the pixels may be whole, and are decoded next
        return 1


def is_gray_image(image: Image.Image) -> bool:
    """Whether a picture says of itself that it has no colours."""
    if image.mode == "P":
        palette = np.array(image.getpalette("RGB") or [0, 0, 0]).reshape(-1, 3)
        return bool((palette == palette[:, :1]).all())
    return image.mode in ("1", "L", "LA", "La", "I", "F") or image.mode.startswith("I;16")


def convert_to_channels(image: Image.Image, channels: int) -> Image.Image:
    """The picture in 8 bits, grey ("L") or red, green and blue ("RGB"), on white.

    Raises:
      UnreadableError: its numbers have no range that is known.
    """
    mode = "L" if channels == 1 else "RGB"
    if image.mode == "F":
        raise UnreadablePictureError("its pixels are fractions of unknown range")
    if image.mode == "I" or image.mode.startswith("I;"):
        image = convert_to_eight_bits(image)
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        ground = Image.new("RGBA", clear.size, (255, 255, 255, 255))
        image = Image.alpha_composite(ground, clear)
    return image.convert(mode)


def convert_to_eight_bits(image: Image.Image) -> Image.Image:
    """A picture of 16 bits by its upper eight."""
    values = np.asarray(image)
    if values.min() < 0 or values.max() > 0xFFFF:
        raise UnreadablePictureError("its pixels have 32 bits and an unknown range")
    return Image.fromarray((values >> 8).astype(np.uint8))


def fit_image_to_format(image: Image.Image, form: DatasetImageFormat) -> Pixels:
    """A picture that lies right, "L" or "RGB", as uint8 (H, W, channels).

    Raises:
      UnreadableError: it is of another size, and none is brought to this one.
    """
    if (image.height, image.width) != (form.height, form.width):
        if not form.resize:
            raise UnreadablePictureError(
                f"it is {image.width}×{image.height} pixels, unlike the others"
            )
        image = letterbox_image(image, form)
    return np.asarray(image, np.uint8).reshape(form.shape)


def letterbox_image(image: Image.Image, form: DatasetImageFormat) -> Image.Image:
    """The whole picture within the form's size, in the middle, on the middle colour of its edge."""
    scale = min(form.width / image.width, form.height / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    small = image.resize(size, Image.Resampling.BICUBIC)  # antialiased where it shrinks
    if size == (form.width, form.height):
        return small
    ground = Image.new(small.mode, (form.width, form.height), median_edge_color(small))
    ground.paste(small, ((form.width - size[0]) // 2, (form.height - size[1]) // 2))
    return ground


def median_edge_color(image: Image.Image) -> int | tuple[int, ...]:
    """The median of the pixels around a picture, in each channel."""
    pixels = np.asarray(image).reshape(image.height, image.width, -1)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    middle = tuple(int(channel) for channel in np.median(edge, axis=0))
    return middle if len(middle) > 1 else middle[0]
