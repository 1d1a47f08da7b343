"""Bytes from anybody to a decoded Pillow image: what is admitted, and at which cost.

A picture is refused by its header, before any of its pixels exist. Its class of Pillow's is
called by its own signature rather than through `Image.open`, whose limit on pixels is one
number for all formats and could only be changed for the whole process.
"""

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from PIL import Image, ImageFile
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.PpmImagePlugin import PpmImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from ensemble.errors import ImageError
from ensemble.pictures.files import formats, heif
from ensemble.pictures.files.decoding_deadline import DecodingDeadline, TimedBytes

MAX_BYTES = 20 * 1024 * 1024  # what .streamlit/config.toml lets through
MAX_MEMORY_BYTES = 600 * 1000**2  # bytes that opening one picture may take at its peak, beside the file's
_FIXED_MEMORY_BYTES = 150 * 1000**2  # of them: copies of the file, and the picture on its way to working size
LARGE_PICTURE_BYTES = 100 * 1000**2  # beyond these for its pixels, pictures wait for one another
_MAX_PIXELS = 250_000_000  # however little memory they take: a phone's 200 megapixels, not more
_MAX_SIDE = 65_535
_MAX_SCANS = 100  # a camera writes 10; each of 100,000 would be one more pass over all pixels
_MAX_SCANNED_PIXELS = 2_500_000_000  # pixels, counted again with each scan: some 2 s of a processor
_MAX_BMP_RUN_PIXELS = 2_000_000  # pixels of a BMP in runs, which Pillow unpacks in Python
_MIN_DRAFT_SIDE = 1600  # a JPEG is not decoded to a longest side smaller than this
MAX_FRAMES = 1000  # counted; there may be more

OPENERS: dict[str, type[ImageFile.ImageFile]] = {
    "PNG": PngImageFile,
    "JPEG": JpegImageFile,  # also of an MPO file, whose further pictures are not asked for
    "WebP": WebPImageFile,
    "BMP": BmpImageFile,
    "GIF": GifImageFile,
    "TIFF": TiffImageFile,
    "AVIF": AvifImageFile,
    "PPM": PpmImageFile,  # also PBM, PGM and PFM
}
# Bytes that one pixel takes at the peak of decoding, measured with the worst kind of each
# format (getrusage, one process a picture) and rounded up. JPEG and TIFF: `_estimate_decoding_cost`.
_DEEP_HEIC_BYTES_PER_PIXEL = 13.0  # of more than 8 bits, or with transparency
_BYTES_PER_PIXEL = {"PNG": 4.5, "WebP": 14.0, "BMP": 4.5, "GIF": 4.5, "HEIC": 9.0, "AVIF": 22.0, "PPM": 14.0}
_DAMAGED_MESSAGE = "The picture is damaged and cannot be read completely: save it again, or use another."
_TOO_MANY_PIXELS_MESSAGE = "The picture has too many pixels to be opened safely: save it smaller."

LARGE_DECODE_LOCK = threading.Lock()


@dataclass(frozen=True)
class DecodedPicture:
    """A picture as its decoder leaves it.

    Attributes:
      image: of any mode, as stored and not upright; a JPEG perhaps at a half, quarter or eighth.
      size: (width, height) of the whole picture as stored.
      format: its name in `formats.FORMATS`.
      frames: how many frames or pages there are, `MAX_FRAMES` if there are more.
      deadline: the time that is left.
    """

    image: Image.Image
    size: tuple[int, int]
    format: str
    frames: int
    deadline: DecodingDeadline


@contextmanager
def open_decoded_picture(content: bytes) -> Iterator[DecodedPicture]:
    """The first frame of a file, to be done with before the block ends.

    So that `MAX_MEMORY_BYTES` bounds the process and not each of its threads, only one picture that
    takes more than `LARGE_PICTURE_BYTES` is in such a block at a time; the others wait before they
    decode.

    Raises:
      ImageError: it cannot be read, or would take more than `MAX_MEMORY_BYTES` bytes, or takes
        longer than `MAX_OPEN_SECONDS`: looked at with each block that is read, and with each strip
        after that.
    """
    if len(content) > MAX_BYTES:
        raise ImageError(
            f"The file is larger than {MAX_BYTES // 1024**2} MB: save the picture smaller, or use another."
        )
    with ExitStack() as held:
        yield _decode_picture(content, held)


def _decode_picture(content: bytes, held: ExitStack) -> DecodedPicture:
    """`open_decoded_picture`, with the lock in `held`."""
    name = formats.recognize_format(content)
    opener, clock = heif.load_heif_opener() if name == "HEIC" else OPENERS[name], DecodingDeadline()
    try:
        with silence_decoder_warnings():
            if name == "WebP":  # its canvas is made as soon as it is opened
                _check_picture_size(formats.read_webp_size(content), _BYTES_PER_PIXEL[name])
            image = opener(TimedBytes(content, clock))
            size = image.size
            if _check_decoding_cost(name, image, content) > LARGE_PICTURE_BYTES:
                clock.enter_lock(LARGE_DECODE_LOCK, held)
            frames = _count_frames(name, image, content)
            if name == "JPEG":
                image.draft("RGB", _compute_draft_size(size))
            image.load()
            clock.check_deadline()
    except ImageError:
        raise
    except Image.DecompressionBombError as error:
        raise ImageError(_TOO_MANY_PIXELS_MESSAGE) from error
    except MemoryError as error:
        raise ImageError("There is not enough memory for this picture: save it smaller.") from error
    except Exception as error:  # decoders meet hostile bytes with exceptions of every kind
        raise ImageError(_DAMAGED_MESSAGE) from error
    return DecodedPicture(image, size, name, frames, clock)


@contextmanager
def silence_decoder_warnings() -> Iterator[None]:
    """No warnings of the decoders' own: they speak of the file, to a person's terminal.

    Only theirs are silenced, so that another thread's warnings pass meanwhile.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.|pillow_heif")
        yield


def _check_decoding_cost(name: str, image: ImageFile.ImageFile, content: bytes) -> float:
    """Refuses by the header what would take too much memory or time; bytes its pixels take."""
    size, cost = _estimate_decoding_cost(name, image, content)
    _check_picture_size(size, cost)
    if name == "JPEG" and cost > 1 and has_many_scans(content, size[0] * size[1]):
        raise ImageError("This JPEG has an unusual structure: save it as PNG.")
    runs = image.info.get("compression") in (1, 2)
    if name == "BMP" and runs and image.width * image.height > _MAX_BMP_RUN_PIXELS:
        raise ImageError("This BMP uses an old kind of compression: save it as PNG.")
    return size[0] * size[1] * cost


def has_many_scans(content: bytes, pixels: int) -> bool:
    """Whether a JPEG that comes in scans would take too long to decode.

    Args:
      content: the bytes of its file.
      pixels: number of pixels that each scan goes through.
    """
    scans = content.count(b"\xff\xda")
    return scans > _MAX_SCANS or scans * pixels > _MAX_SCANNED_PIXELS


def _check_picture_size(size: tuple[int, int], cost: float) -> None:
    """Refuses a picture whose pixels, at `cost` bytes each, are too many."""
    width, height = size
    most = min(_MAX_PIXELS, int((MAX_MEMORY_BYTES - _FIXED_MEMORY_BYTES) / cost))
    if width < 1 or height < 1:
        raise ImageError("The picture has no pixels: save it again, or use another.")
    if width * height > most:
        raise ImageError(
            f"The picture has {width:,}×{height:,} pixels, which is too many: save it with "
            f"{most // 1_000_000} megapixels at most."
        )
    if max(size) > _MAX_SIDE:
        raise ImageError(f"The picture is {max(size):,} pixels long: crop it to {_MAX_SIDE:,} at most.")


def _estimate_decoding_cost(name: str, image: ImageFile.ImageFile, content: bytes) -> tuple[tuple[int, int], float]:
    """How many pixels (width, height) are decoded at once, and the bytes that each takes."""
    width, height = image.size
    if name == "JPEG":
        return image.size, _estimate_jpeg_cost(image, content)
    if name == "TIFF" and isinstance(image, TiffImageFile):
        bits = image.tag_v2.get(258, (1,))
        tile = [image.tag_v2.get(tag, 0) for tag in (322, 323)]
        return (max(width, tile[0]), max(height, tile[1])), 8.5 + sum(bits) / 8
    if name == "HEIC" and (image.mode != "RGB" or image.info.get("bit_depth", 8) > 8):
        return image.size, _DEEP_HEIC_BYTES_PER_PIXEL
    return image.size, _BYTES_PER_PIXEL[name]


def _estimate_jpeg_cost(image: ImageFile.ImageFile, content: bytes) -> float:
    """Bytes a pixel of the whole picture takes: its coefficients too, if it comes in scans."""
    width, height = image.size
    least = _compute_draft_size(image.size)
    shrink = max(s for s in (1, 2, 4, 8) if width // s >= least[0] and height // s >= least[1])
    drawn = 4.5 / shrink**2
    if not formats.is_multi_scan_jpeg(content):
        return drawn
    areas = [across * down for _, across, down, _ in getattr(image, "layer", ())]
    return drawn + 2.2 * sum(areas) / max(areas)  # 16 bits each, and their blocks' edges


def _compute_draft_size(size: tuple[int, int]) -> tuple[int, int]:
    """The least size to decode a JPEG of `size` to."""
    share = min(1.0, _MIN_DRAFT_SIDE / max(size))
    return max(1, int(size[0] * share)), max(1, int(size[1] * share))


def _count_frames(name: str, image: ImageFile.ImageFile, content: bytes) -> int:
    """How many frames or pages there are, counting to `MAX_FRAMES`; the first stays current."""
    if name == "TIFF":
        return _count_tiff_pages(image)
    # Pillow counts a GIF's frames by walking over all of them. Each stands behind a zero byte.
    if name == "GIF" and len(re.findall(rb"\x00,", content)) > MAX_FRAMES:
        return MAX_FRAMES
    return min(int(getattr(image, "n_frames", 1)), MAX_FRAMES)


def _count_tiff_pages(image: ImageFile.ImageFile) -> int:
    """`_count_frames` of a TIFF, whose later pages may be broken or go round in a circle."""
    page = 1
    try:
        while page < MAX_FRAMES:
            image.seek(page)
            page += 1
    except Exception:  # whatever a broken page raises, the pages end before it
        pass
    image.seek(0)
    return page
