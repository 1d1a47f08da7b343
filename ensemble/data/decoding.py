"""Bytes from a stranger to a decoded Pillow image: what is admitted, and at which cost.

A picture is refused by its header, before any of its pixels exist. Its class of Pillow's is
called by its own signature rather than through `Image.open`, whose limit on pixels is one
number for all formats and could only be changed for the whole process.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, ImageFile
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from ensemble.data import heif, signatures
from ensemble.errors import ImageError

MAX_BYTES = 20 * 1024 * 1024  # what .streamlit/config.toml lets through
MEMORY = 512 * 1000**2  # bytes that decoding one picture may take at its peak
MAX_PIXELS = 250_000_000  # however little memory they take: a phone's 200 megapixels, not more
MAX_SIDE = 65_535
MAX_SCANS = 100  # a camera writes 10; each of 100,000 would be one more pass over all pixels
MAX_RUNS = 2_000_000  # pixels of a BMP in runs, which Pillow unpacks in Python
DRAFT = 1600  # a JPEG is not decoded to a longest side smaller than this
MAX_FRAMES = 1000  # counted; there may be more

OPENERS: dict[str, type[ImageFile.ImageFile]] = {
    "PNG": PngImageFile,
    "JPEG": JpegImageFile,  # also of an MPO file, whose further pictures are not asked for
    "WebP": WebPImageFile,
    "BMP": BmpImageFile,
    "GIF": GifImageFile,
    "TIFF": TiffImageFile,
    "AVIF": AvifImageFile,
}
# Bytes that one pixel takes at the peak of decoding, measured with the worst kind of each
# format (getrusage, one process a picture) and rounded up.
COSTS = {"PNG": 5, "WebP": 24, "BMP": 5, "GIF": 6, "TIFF": 16, "HEIC": 16, "AVIF": 24}
DAMAGED = "The picture is damaged and cannot be read to its end: save it again, or take another."


def decode(content: bytes) -> tuple[Image.Image, tuple[int, int], str, int]:
    """Decodes the first frame; a JPEG at a half, quarter or eighth where that is enough.

    Args:
      content: a file's bytes.

    Returns:
      The decoded image in whatever mode the file has, not yet upright; (width, height) of the
      whole picture as stored; the format's name; how many frames there are, `MAX_FRAMES` if
      there are more.

    Raises:
      ImageError: it cannot be read, or would take more than `MEMORY` bytes.
    """
    if len(content) > MAX_BYTES:
        raise ImageError(
            f"The file is larger than {MAX_BYTES // 1024**2} MB: save the picture smaller, "
            "or take another."
        )
    name = signatures.recognise(content)
    opener = heif.opener() if name == "HEIC" else OPENERS[name]
    try:
        with quiet():
            image = opener(io.BytesIO(check_webp(name, content)))
            size = image.size
            check(name, image, content)
            frames = count_frames(name, image, content)
            if name == "JPEG":
                image.draft("RGB", drafted(size))
            image.load()
    except ImageError:
        raise
    except MemoryError as error:
        raise ImageError(
            "There is not enough memory for this picture just now: save it smaller."
        ) from error
    except Exception as error:  # decoders meet hostile bytes with exceptions of every kind
        raise ImageError(DAMAGED) from error
    return image, size, name, frames


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings of the decoders' own: they speak of the file, to a person's terminal.

    Only theirs are silenced, so that another thread's warnings pass meanwhile.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.|pillow_heif")
        yield


def check_webp(name: str, content: bytes) -> bytes:
    """`content`, after a look at a WebP's size: its canvas is made as soon as it is opened."""
    if name == "WebP" and (size := signatures.webp_size(content)):
        check_size(size, COSTS[name])
    return content


def check(name: str, image: ImageFile.ImageFile, content: bytes) -> None:
    """Refuses by the header what would take too much memory or time."""
    check_size(image.size, jpeg_cost(image, content) if name == "JPEG" else COSTS[name])
    if name == "JPEG" and content.count(b"\xff\xda") > MAX_SCANS:
        raise ImageError("This JPEG is put together in an unusual way: save it as PNG.")
    runs = image.info.get("compression") in (1, 2)
    if name == "BMP" and runs and image.width * image.height > MAX_RUNS:
        raise ImageError("This BMP is compressed in an old way: save it as PNG.")


def check_size(size: tuple[int, int], cost: float) -> None:
    """Refuses a picture whose pixels, at `cost` bytes each, are too many."""
    width, height = size
    most = min(MAX_PIXELS, int(MEMORY / cost))
    if width < 1 or height < 1:
        raise ImageError("The picture has no pixels: save it again, or take another.")
    if width * height > most:
        raise ImageError(
            f"The picture has {width:,}×{height:,} pixels, which is too many: save it with "
            f"{most // 1_000_000} megapixels at most."
        )
    if max(size) > MAX_SIDE:
        raise ImageError(
            f"The picture is {max(size):,} pixels long: cut it to {MAX_SIDE:,} at most."
        )


def jpeg_cost(image: ImageFile.ImageFile, content: bytes) -> float:
    """Bytes a pixel of the whole picture takes: its coefficients too, if it comes in scans."""
    width, height = image.size
    smaller = drafted(image.size)
    shrink = max(
        (s for s in (1, 2, 4, 8) if width // s >= smaller[0] and height // s >= smaller[1]),
        default=1,
    )
    decoded = 5 / shrink**2
    if not signatures.jpeg_in_scans(content):
        return decoded
    return decoded + 2 * getattr(image, "layers", 4)


def drafted(size: tuple[int, int]) -> tuple[int, int]:
    """The least size to decode a JPEG of `size` to."""
    share = min(1.0, DRAFT / max(size))
    return max(1, int(size[0] * share)), max(1, int(size[1] * share))


def count_frames(name: str, image: ImageFile.ImageFile, content: bytes) -> int:
    """How many frames or pages there are, counting to `MAX_FRAMES`; the first stays current."""
    if name == "TIFF":
        return count_pages(image)
    # Pillow counts a GIF's frames by walking over all of them. Each stands behind a zero byte.
    if name == "GIF" and len(re.findall(rb"\x00,", content)) > MAX_FRAMES:
        return MAX_FRAMES
    return min(int(getattr(image, "n_frames", 1)), MAX_FRAMES)


def count_pages(image: ImageFile.ImageFile) -> int:
    """`count_frames` of a TIFF, whose later pages may be broken or go round in a circle."""
    page = 1
    try:
        while page < MAX_FRAMES:
            image.seek(page)
            page += 1
    except Exception:  # whatever a broken page raises, the pages end before it
        pass
    image.seek(0)
    return page
