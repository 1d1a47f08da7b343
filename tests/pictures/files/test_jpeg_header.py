"""A JPEG's header read by itself is what Pillow reads, or is left to Pillow."""

import io

import numpy as np
import pytest
from PIL import Image

from ensemble.pictures.files.jpeg_header import JpegHeader, read_jpeg_header

COLOUR = Image.fromarray(np.random.default_rng(0).integers(0, 256, (21, 34, 3), np.uint8))


def jpeg(image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"icc_profile": b"x" * 300}])
@pytest.mark.parametrize(("mode", "components"), [("L", 1), ("RGB", 3)])
def test_an_ordinary_jpeg_is_read(mode, components, options):
    content = jpeg(COLOUR.convert(mode), **options)
    assert read_jpeg_header(content[:4096]) == JpegHeader(34, 21, components)


def test_what_may_be_turned_or_is_not_ordinary_is_left_to_a_decoder():
    exif = Image.Exif()
    exif[0x0112] = 6
    plain = jpeg(COLOUR)
    frame = plain.index(b"\xff\xc0")
    for content in (
        jpeg(COLOUR, exif=exif),
        jpeg(COLOUR, xmp=b"<x tiff:Orientation='6'/>"),
        jpeg(COLOUR.convert("CMYK")),
        plain[:frame],
        plain[: frame + 4] + b"\x0c" + plain[frame + 5 :],  # 12 bits
        b"\x89PNG\r\n\x1a\n" + plain,
        b"\xff\xd8\xff" * 2000,
        b"",
    ):
        assert read_jpeg_header(content[:4096]) is None


def test_no_cut_and_no_damage_raises():
    content = bytearray(jpeg(COLOUR))
    rng = np.random.default_rng(1)
    for cut in range(len(content[:700])):
        read_jpeg_header(bytes(content[:cut]))
    for _ in range(300):
        damaged = bytearray(content[:700])
        damaged[int(rng.integers(2, 700))] = int(rng.integers(256))
        read_jpeg_header(bytes(damaged))
