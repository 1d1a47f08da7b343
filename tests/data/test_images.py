"""Reading a picture of 28×28: what is read, and the sentence for everything else."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from ensemble.data import images, read_image
from ensemble.errors import ImageError

RAMP = (np.arange(28 * 28) % 256).astype(np.uint8).reshape(28, 28)


def encoded(image: Image.Image, format: str = "PNG", **options) -> bytes:  # noqa: A002
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def header_of(width: int, height: int) -> bytes:
    """A PNG that only claims its size."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + checksum

    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("format", ["PNG", "BMP", "GIF"])
def test_grey_comes_back_as_it_is(format):  # noqa: A002
    picture = read_image(encoded(Image.fromarray(RAMP), format))
    assert picture.shape == (28, 28, 1)
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture[..., 0], RAMP)


def test_a_path_is_read_too(tmp_path):
    (tmp_path / "digit.png").write_bytes(encoded(Image.fromarray(RAMP)))
    np.testing.assert_array_equal(read_image(tmp_path / "digit.png")[..., 0], RAMP)


def test_jpeg_and_webp_are_near():
    smooth = np.linspace(0, 255, 28 * 28).astype(np.uint8).reshape(28, 28)
    for name in ("JPEG", "WEBP"):
        picture = read_image(encoded(Image.fromarray(smooth), name, quality=95))
        assert np.abs(picture[..., 0].astype(int) - smooth).max() < 12


def test_sixteen_bits_keep_their_brightness():
    deep = Image.fromarray(RAMP.astype(np.uint16) * 256 + 7)
    np.testing.assert_array_equal(read_image(encoded(deep))[..., 0], RAMP)


def test_black_and_white_becomes_0_and_255():
    picture = read_image(encoded(Image.fromarray(RAMP > 127)))
    np.testing.assert_array_equal(picture[..., 0], (RAMP > 127) * 255)


def test_transparent_ground_is_black():
    ink = np.full((28, 28, 4), 255, np.uint8)
    ink[..., 3] = RAMP
    np.testing.assert_array_equal(read_image(encoded(Image.fromarray(ink)))[..., 0], RAMP)
    palette = Image.fromarray((RAMP > 127).astype(np.uint8)).convert("P")
    palette.putpalette([255, 255, 255, 255, 255, 255])
    picture = read_image(encoded(palette, transparency=0))
    np.testing.assert_array_equal(picture[..., 0], (RAMP > 127) * 255)


def test_another_size_is_named():
    with pytest.raises(ImageError, match=r"has 30×28 pixels: it has to have 28×28"):
        read_image(encoded(Image.new("L", (30, 28))))


@pytest.mark.parametrize("size", [(5_000, 5_000), (12_000, 12_000), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_by_its_size_alone(size):
    with pytest.raises(ImageError, match="28×28"):
        read_image(header_of(*size))


@pytest.mark.parametrize("raw", [b"", b"not a picture", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"\x89PNG"])
def test_what_is_no_picture_is_said(raw):
    with pytest.raises(ImageError, match="PNG, JPEG, GIF, BMP or WEBP"):
        read_image(raw)


def test_a_format_that_is_not_offered_is_not_decoded():
    with pytest.raises(ImageError, match="PNG, JPEG, GIF, BMP or WEBP"):
        read_image(encoded(Image.fromarray(RAMP), "TIFF"))


def test_too_many_bytes_are_not_looked_at(tmp_path):
    raw = encoded(Image.fromarray(RAMP)) + bytes(images.MAX_BYTES)
    (tmp_path / "large.png").write_bytes(raw)
    for source in (raw, tmp_path / "large.png"):
        with pytest.raises(ImageError, match="larger than 10 MB"):
            read_image(source)


def test_a_path_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ImageError, match=r"nothing\.png cannot be read: No such file"):
        read_image(tmp_path / "nothing.png")
    with pytest.raises(ImageError, match="Is a directory"):
        read_image(tmp_path)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_damage_is_an_image_error_or_a_picture_and_never_anything_else(format):  # noqa: A002
    whole = encoded(Image.fromarray(RAMP), format)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        raw = bytearray(whole[: rng.integers(1, len(whole) + 1)])
        for place in rng.integers(0, len(raw), rng.integers(0, 4)):
            raw[place] = rng.integers(0, 256)
        try:
            assert read_image(bytes(raw)).shape == (28, 28, 1)
        except ImageError:
            refused += 1
    assert refused > 100
