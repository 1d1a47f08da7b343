"""A picture's file to the pixels that are learnt from, by rules that are said.

- A camera's orientation (EXIF) is followed; of several frames or pages the first is taken.
- Which numbers are black and white, and what stands behind transparency, is one for all pictures
  of a dataset (`picture_survey`), by the rules of `pictures.files`, which read for Classify too.
- A palette becomes its colours. Grey stays one channel where all pictures of a dataset are grey;
  else all have three.
- Pictures of more pixels than `MOST_PIXELS` are refused by their header.
"""

import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from PIL import Image

from ensemble.datasets.own.source import DatasetImageFormat, Pixels, Size
from ensemble.errors import DataError, ImageError
from ensemble.files.image_levels import scale_levels
from ensemble.pictures.files import formats, heif, transparency, working_image
from ensemble.pictures.files.decoding import has_many_scans
from ensemble.pictures.files.jpeg_header import read_jpeg_header
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels, expand_small_levels, is_deep_image
from ensemble.storage.plain_files import open_plain_file, read_file_start, read_small_file

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
        ".heic",
        ".heif",
        ".hif",
    )
)
MOST_PIXELS = 89_478_485  # Pillow's own limit
_MOST_FILE = 200 * 2**20  # bytes
_SMALL_FILE = 2**20  # bytes up to which a file is read in one go
LARGE_PICTURE_PIXELS = 2**24  # pixels from which pictures are decoded one at a time: each may take over 1 GB
_LARGE_PICTURE_LOCK = threading.Lock()
_ORIENTATION = 0x0112  # EXIF
_SIDEWAYS_ORIENTATIONS = (5, 6, 7, 8)  # of the orientations: height and width change places
Image.init()  # else most of them are not looked for where formats are named
_DAMAGED_MESSAGE = "it is damaged, truncated or not a picture"
_MISSING_HEIF = "HEIC is read where pillow-heif is installed"
_JPEG_HEAD_BYTES = 4096  # of a JPEG, in which its frame mostly begins
_HEAD_BYTES = 256  # of a file, by which HEIC is told from AVIF


class PictureFile(Protocol):
    """A picture as encoded bytes: a file, or a part of one."""

    @property
    def name(self) -> str:
        """What it is called, for people."""

    def read_bytes(self) -> bytes:
        """All of it."""


class UnreadablePictureError(Exception):
    """A picture cannot be taken. The message says why, in a few words."""


@dataclass(frozen=True)
class PictureTraits:
    """What a picture's header says of it.

    Attributes:
      size: (height, width) as shown.
      grey: whether it has no colours.
      depth: "shallow" of 8 bits, "deep" of more, or "fraction".
      clear: whether parts of it may be transparent.
    """

    size: Size
    grey: bool
    depth: str
    clear: bool


def read_picture_traits(path: PictureFile) -> PictureTraits:
    """What a picture's header says, without reading its pixels.

    Raises:
      UnreadablePictureError: it is no picture, or too large.
    """
    if traits := _read_jpeg_traits(path):
        return traits
    with open_picture_file(path) as image:
        width, height = image.size
        if _read_exif_orientation(image) in _SIDEWAYS_ORIENTATIONS:
            width, height = height, width
        depth = "fraction" if image.mode == "F" else "deep" if is_deep_image(image) else "shallow"
        clear = transparency.has_transparency(image)
        return PictureTraits((height, width), _is_gray_image(image), depth, clear)


def _read_jpeg_traits(path: PictureFile) -> PictureTraits | None:
    """The traits of an ordinary JPEG; None where a decoder has to be asked, for a refusal too."""
    try:
        if isinstance(path, Path):
            content, size = read_file_start(path, _JPEG_HEAD_BYTES)
        else:
            content = path.read_bytes()
            size = len(content)
    except (OSError, DataError):
        return None
    header = read_jpeg_header(content[:_JPEG_HEAD_BYTES])
    if header is None or size > _MOST_FILE or header.width * header.height > MOST_PIXELS:
        return None
    return PictureTraits((header.height, header.width), header.components == 1, "shallow", clear=False)


def read_picture_pixels(path: PictureFile, form: DatasetImageFormat, levels: PictureLevels = STANDARD_LEVELS) -> Pixels:
    """The picture in this form: uint8 (H, W, channels).

    Args:
      path: of its file.
      form: of all pictures of the dataset.
      levels: what is black and white in the dataset, and stands behind transparent pictures.

    Raises:
      UnreadablePictureError: it is damaged, too large, or of another size than all are said to
        have.
    """
    with open_picture_file(path, whole=True) as image:
        orientation = _read_exif_orientation(image)
        if form.resize:
            # A photograph is decoded at a half, a quarter or an eighth where that is enough.
            scale = 2 * max(form.height, form.width) / max(image.size)
            image.draft(None, (round(image.width * scale), round(image.height * scale)))
        with limit_large_decoding(image):
            plain = convert_to_channels(normalize_picture(image, levels), form.channels)
            plain = working_image.orient_image_upright(plain, orientation)
            return fit_image_to_format(plain, form)


@contextmanager
def limit_large_decoding(image: Image.Image) -> Iterator[None]:
    """Large pictures are decoded one at a time."""
    large = image.width * image.height > LARGE_PICTURE_PIXELS
    with _LARGE_PICTURE_LOCK if large else nullcontext():
        yield


@contextmanager
def open_picture_file(path: PictureFile, *, whole: bool = False) -> Iterator[Image.Image]:
    """A picture's file, opened; whatever its decoder raises is an UnreadablePictureError.

    Args:
      path: of the file.
      whole: whether all of it will be needed, so that a small one is read in one go: threads that
        decode wait for one another at each reading.
    """
    content: bytes | None = None
    with _convert_decoder_errors():
        if not isinstance(path, Path):
            content = path.read_bytes()
        elif whole:
            content = read_small_file(path, _SMALL_FILE)
    if content is None and isinstance(path, Path):
        with (
            _convert_decoder_errors(),
            open_plain_file(path) as file,
            _open_picture_stream(file, os.fstat(file.fileno()).st_size) as image,
        ):
            yield image
        return
    content = content or b""
    with _open_picture_stream(io.BytesIO(content), len(content)) as image:
        yield image


@contextmanager
def _open_picture_stream(file: BinaryIO, size: int) -> Iterator[Image.Image]:
    """A picture in a file, or in memory, of so many bytes, opened; errors as in a file."""
    with _convert_decoder_errors():
        if not size:
            raise UnreadablePictureError("it is empty")
        if size > _MOST_FILE:
            raise UnreadablePictureError(f"its file is larger than {_MOST_FILE // 2**20} MB")
        with _open_image(file) as image:
            if image.width * image.height > MOST_PIXELS:
                raise UnreadablePictureError(f"it has {image.width:,}×{image.height:,} pixels")
            if image.info.get("progressive"):
                place = file.tell()
                file.seek(0)
                if has_many_scans(file.read(_MOST_FILE), image.width * image.height):
                    raise UnreadablePictureError("it is a JPEG of an unusual structure: save it as PNG")
                file.seek(place)
            yield image


def _open_image(file: BinaryIO) -> Image.Image:
    """A picture by its first bytes: Pillow's formats and HEIC; whatever a decoder raises."""
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    if head[4:8] == b"ftyp" and formats.recognize_heif_format(head) == "HEIC":
        return heif.load_heif_opener()(file)
    return Image.open(file, formats=FORMATS)


@contextmanager
def _convert_decoder_errors() -> Iterator[None]:
    """Whatever is raised while a picture is read is an UnreadablePictureError."""
    try:
        yield
    except UnreadablePictureError:
        raise
    except Image.DecompressionBombError as error:
        raise UnreadablePictureError("it has too many pixels") from error
    except PermissionError as error:
        raise UnreadablePictureError("it may not be read") from error
    except ImageError as error:
        missing = str(error) == heif.MISSING_HEIF_MESSAGE
        raise UnreadablePictureError(_MISSING_HEIF if missing else _DAMAGED_MESSAGE) from error
    except Exception as error:  # decoders meet damaged bytes with exceptions of every kind
        raise UnreadablePictureError(_DAMAGED_MESSAGE) from error


@contextmanager
def silence_pillow_warnings() -> Iterator[None]:
    """No warnings of the decoders' own, which speak of single files; for all threads at once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.|pillow_heif")
        yield


def _read_exif_orientation(image: Image.Image) -> int:
    """EXIF's word for how a picture lies; 1 where it says nothing that can be read.

    A PNG is asked for what stands before its pixels, so that they need not be decoded for it; a
    TIFF is turned by Pillow itself; a JPEG mostly has nothing to be asked for.
    """
    try:
        if image.format in ("JPEG", "MPO") and not image.info.keys() & {"exif", "xmp"}:
            return 1
        if image.format == "TIFF" or (image.format == "PNG" and "exif" not in image.info):
            return 1
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # damaged EXIF, as any other: the pixels may be whole, and are decoded next
        return 1


def _is_gray_image(image: Image.Image) -> bool:
    if image.mode == "P":
        palette = np.array(image.getpalette("RGB") or [0, 0, 0]).reshape(-1, 3)
        return bool((palette == palette[:, :1]).all())
    return image.mode in ("1", "L", "LA", "La", "I", "F") or image.mode.startswith("I;16")


def normalize_picture(image: Image.Image, levels: PictureLevels) -> Image.Image:
    """The picture in 8 bits and opaque, by the levels and the ground of its dataset."""
    if transparency.has_transparency(image):
        clear = image.convert("RGBA")
        if levels.ground in (transparency.BLACK, transparency.MIXED):
            return transparency.flatten_transparency(clear, levels.ground)[0]
        return transparency.put_on_ground(clear, black=False)
    image = expand_small_levels(image, levels)
    span = working_image.find_value_span(image, levels)
    return Image.fromarray(scale_levels(np.asarray(image), span)) if span else image


def convert_to_channels(image: Image.Image, channels: int) -> Image.Image:
    """A picture of 8 bits as grey ("L"), or as red, green and blue ("RGB"); on white."""
    if transparency.has_transparency(image):
        image = transparency.put_on_ground(image.convert("RGBA"), black=False)
    mode = "L" if channels == 1 else "RGB"
    return image if image.mode == mode else image.convert(mode)


def fit_image_to_format(image: Image.Image, form: DatasetImageFormat) -> Pixels:
    """A picture that lies right, "L" or "RGB", as uint8 (H, W, channels).

    Raises:
      UnreadablePictureError: it is of another size, and none is brought to this one.
    """
    if (image.height, image.width) != (form.height, form.width):
        if not form.resize:
            raise UnreadablePictureError(f"it is {image.width}×{image.height} pixels, unlike the others")
        image = _letterbox_image(image, form)
    return np.asarray(image, np.uint8).reshape(form.shape)


def _letterbox_image(image: Image.Image, form: DatasetImageFormat) -> Image.Image:
    scale = min(form.width / image.width, form.height / image.height)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    small = image.resize(size, Image.Resampling.BICUBIC)  # antialiased where it shrinks
    if size == (form.width, form.height):
        return small
    ground = Image.new(small.mode, (form.width, form.height), _median_edge_color(small))
    ground.paste(small, ((form.width - size[0]) // 2, (form.height - size[1]) // 2))
    return ground


def _median_edge_color(image: Image.Image) -> int | tuple[int, ...]:
    pixels = np.asarray(image).reshape(image.height, image.width, -1)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    middle = tuple(int(channel) for channel in np.median(edge, axis=0))
    return middle if len(middle) > 1 else middle[0]
