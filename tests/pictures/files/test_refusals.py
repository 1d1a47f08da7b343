"""What cannot be opened as a picture: one sentence that says what to do, in bounded memory."""

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ensemble.errors import ImageError
from ensemble.pictures.files import decoding
from ensemble.pictures.files.picture import open_picture
from tests.pictures.picture_files import blank_png, damaged, encoded, jpeg_claiming, page, png

GREY = Image.fromarray(page())
VIDEO = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42"
DELTA = b"\x00\x02\xff\xff" * 9  # a run-length BMP's "go on 255 rows further up"


def runs_bmp(width: int, height: int, runs: bytes) -> bytes:
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 0, 0, 256, 0)
    at = 14 + 40 + 1024
    start = b"BM" + struct.pack("<IHHI", at + len(runs), 0, 0, at)
    return start + head + bytes(range(256)) * 4 + runs


def webp_claiming(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + size
    return b"RIFF" + struct.pack("<I", len(body)) + body


def gif_claiming(width: int, height: int, at: int) -> bytes:
    """A GIF whose screen (at byte 6) or first frame claims a size."""
    raw = bytearray(encoded(GREY, "GIF"))
    raw[at : at + 4] = struct.pack("<HH", width, height)
    return bytes(raw)


GIF_FRAME = encoded(GREY, "GIF").index(b"\x00,\0\0\0\0") + 6


def jpeg_in_three(progressive: bool) -> bytes:
    """A JPEG whose first scan holds one of its three colours."""
    raw = bytearray(jpeg_claiming(14_000, 14_000, progressive))
    raw[raw.index(b"\xff\xda") + 4] = 1
    return bytes(raw)


def tiff_in_tiles(side: int) -> bytes:
    """A TIFF of 16 × 16 pixels that is said to lie in one tile of `side` × `side`."""
    fields = {256: 16, 257: 16, 258: 8, 259: 8, 262: 1, 277: 1, 322: side, 323: side, 324: 8, 325: 4}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in fields.items())
    return b"II*\0" + struct.pack("<IH", 8, len(fields)) + entries + bytes(4)


REFUSED = {
    "empty": (b"", "The file is empty (0 bytes): save or copy the picture again."),
    "text": (b"4 0 7\nnot a picture\n", "This is text, not a picture: use a PNG, JPEG"),
    "text like a pixmap": (b"P3 players\nare needed", "This is text"),
    "pixmap": (b"P6 40000 40000 255\n", "save it with 32 megapixels at most"),
    "letters": ("Grüße, 数字".encode(), "This is text"),
    "html": (b"<!doctype html><b>7</b>", "This is text"),
    "noise": (bytes(range(7, 255)), "This file is not a readable picture: use a PNG"),
    "svg": (b'\xef\xbb\xbf<?xml version="1.0"?>\n<svg/>', "SVG drawing, which cannot be read here: save it as PNG."),
    "pdf": (b"%PDF-1.7\n", "This is a PDF, which cannot be read here: save it as PNG."),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n", "PostScript drawing"),
    "photoshop": (b"8BPS\x00\x01", "save it as PNG"),
    "jpeg xl": (b"\xff\x0a" + bytes(20), "JPEG XL"),
    "video": (VIDEO, "This is a video, not a picture"),
    "large file": (b"\x89PNG" + bytes(decoding.MAX_BYTES), "larger than 20 MB: save the picture"),
    "bomb": (
        png(40_000, 40_000, zlib.compress(bytes(10_000))),
        "The picture has 40,000×40,000 pixels, which is too many: save it with 100 megapixels at most.",
    ),
    "largest": (png(2**31 - 1, 2**31 - 1), "too many"),
    "long": (png(70_000, 1), "70,000 pixels long: crop it to 65,535 at most."),
    "no pixels": (png(0, 60), "damaged"),
    "jpeg": (jpeg_claiming(65_500, 65_500), "save it with 250 megapixels at most"),
    "progressive": (jpeg_claiming(14_000, 14_000, True), "14,000×14,000 pixels, which is too"),
    "three scans": (jpeg_in_three(False), "14,000×14,000 pixels, which is too many"),
    "webp": (webp_claiming(16_000, 16_000), "save it with 32 megapixels at most"),
    "gif": (gif_claiming(65_000, 65_000, 6), "65,000×65,000 pixels"),
    "gif frame": (gif_claiming(65_000, 65_000, GIF_FRAME), "too many pixels to be opened safely"),
    "tiles": (tiff_in_tiles(13_000), "13,000×13,000 pixels, which is too many"),
    "bmp": (runs_bmp(60_000, 1000, DELTA), "uses an old kind of compression: save it as PNG."),
    "scans": (encoded(GREY, "JPEG", progressive=True) + b"\xff\xda" * 100, "save it as PNG."),
    "signature": (b"\x89PNG", "The picture is damaged and cannot be read completely"),
    "webp start": (b"RIFF\0\0\0\0WEBPVP8 ", "is damaged"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_picture_is_said_in_a_sentence_with_advice(kind):
    content, said = REFUSED[kind]
    with pytest.raises(ImageError) as caught:
        open_picture(content)
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WebP", "BMP", "GIF", "TIFF", "HEIF", "AVIF", "PPM"])
def test_a_file_cut_off_is_damaged_and_nothing_else_is_ever_raised(format):  # noqa: A002
    if format == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    noise = np.random.default_rng(0).integers(0, 256, (60, 90), np.uint8)
    whole = encoded(Image.fromarray(noise), format)
    for share in (0.3, 0.6):
        with pytest.raises(ImageError, match="is damaged"):
            open_picture(whole[: int(share * len(whole))])
    rng = np.random.default_rng(1)
    small = encoded(GREY, format)
    refused = 0
    for _ in range(60):
        try:
            assert open_picture(damaged(small, rng)).pixels.ndim == 3
        except ImageError:
            refused += 1
    assert refused > 15


def test_a_phone_s_200_megapixels_are_not_too_many():
    found = open_picture(jpeg_claiming(16_320, 12_240))  # most of it missing, which JPEG allows
    assert (found.size, found.scale) == ((16_320, 12_240), 8.0)


def test_a_small_bmp_in_runs_is_read():
    row = b"\x5a\x07\x00\x00"  # 90 pixels of 7, end of line
    found = open_picture(runs_bmp(90, 60, row * 60 + b"\x00\x01"))
    assert found.size == (90, 60)
    assert (found.pixels == found.pixels[0, 0]).all()


def test_no_memory_is_said(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(decoding.PngImageFile, "load", full)
    with pytest.raises(ImageError, match="not enough memory"):
        open_picture(encoded(GREY))


CHILD = """
import io, resource, sys
from ensemble.pictures.files import decoding, decoding_deadline
from ensemble.pictures.files.picture import open_picture
from PIL import Image
decoding_deadline.MAX_OPEN_SECONDS = 100.0
content = sys.stdin.buffer.read()
small = io.BytesIO()
Image.new("RGB", (9, 9)).save(small, "PNG")
open_picture(small.getvalue())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(open_picture(content).size)
taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
sys.exit(f"{taken:,} bytes" if taken > decoding.MAX_MEMORY_BYTES else 0)
"""


def worst(kind: str) -> bytes:
    """About the largest that is admitted of the kinds that take the most for a pixel."""
    if kind == "PNG":
        return blank_png(9_990, 9_990, 8, 6)
    return encoded(Image.new("RGBA", (5_600, 5_700)), "WEBP", lossless=True, method=0)


@pytest.mark.long_cases
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in Linux's kilobytes")
@pytest.mark.parametrize("kind", ["PNG", "WebP"])
def test_the_worst_picture_stays_below_the_bound(kind):
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=worst(kind), cwd=root, check=False, capture_output=True, timeout=100
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
