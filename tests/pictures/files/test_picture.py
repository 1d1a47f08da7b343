"""A person's picture: whatever it is stored as, its pixels come out upright, small and true."""

import io
import struct
import sys
import threading
import time
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from ensemble.datasets.own.source import DatasetImageFormat
from ensemble.datasets.own.sources.encoded import picture_decoding
from ensemble.errors import ImageError
from ensemble.pictures.files import decoding, formats, heif
from ensemble.pictures.files.picture import WORKING_SIDE, open_picture
from ensemble.pictures.files.transparency import MIXED, flatten_transparency
from tests.pictures.picture_files import encoded, page, png, turned

GREY = page()
COLOUR = np.stack([GREY, GREY // 2, 255 - GREY], -1)
WHITE = np.full_like(COLOUR, 255)


def grey_of(content: bytes) -> np.ndarray:
    pixels = open_picture(content).pixels
    assert pixels.dtype == np.uint8
    assert (pixels == pixels[..., :1]).all()
    return pixels[..., 0]


@pytest.mark.parametrize(
    ("format", "options", "off"),
    [
        ("PNG", {}, 0),
        ("BMP", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("WebP", {"lossless": True}, 0),
        ("GIF", {}, 0),
        ("JPEG", {"quality": 95}, 40),
        ("AVIF", {"quality": 95}, 40),
        ("PPM", {}, 0),
    ],
)
def test_each_format_shows_its_picture(format, options, off):  # noqa: A002
    found = open_picture(encoded(Image.fromarray(COLOUR), format, **options))
    assert (found.format, found.size, found.scale, found.notes) == (format, (90, 60), 1.0, ())
    assert found.pixels.shape == (60, 90, 3)
    wrong = np.abs(found.pixels.astype(int) - COLOUR)
    # What loses something loses it at edges: colours run into each other over a few pixels.
    assert np.quantile(wrong, 0.9) <= off / 8
    assert wrong.mean() <= off / 8


def write_pnm(kind: str, grey: np.ndarray, top: int) -> bytes:
    """A portable pixmap by its own description (netpbm), of grey levels from 0 to `top`."""
    head = f"{kind}\n# by hand\n{grey.shape[1]} {grey.shape[0]}\n"
    if kind == "P1":
        return (head + "\n".join(" ".join("01"[int(v == 0)] for v in row) for row in grey)).encode()
    if kind == "P4":
        return head.encode() + np.packbits(grey == 0, axis=1).tobytes()
    if kind == "Pf":  # rows from the bottom, little-endian
        head = f"Pf\n{grey.shape[1]} {grey.shape[0]}\n-1.0\n"
        return head.encode() + (grey[::-1] / top).astype("<f4").tobytes()
    values = np.repeat(grey[..., None], 3, axis=2) if kind in ("P3", "P6") else grey
    if kind in ("P2", "P3"):
        return (head + f"{top}\n" + "\n".join(map(str, values.ravel()))).encode()
    return head.encode() + f"{top}\n".encode() + values.astype(">u2" if top > 255 else "u1").tobytes()


@pytest.mark.parametrize("kind", ["P1", "P2", "P3", "P4", "P5", "P6", "Pf"])
@pytest.mark.parametrize("top", [1, 15, 255, 4095, 65535])
def test_portable_pixmaps_are_read_and_as_data_add_reads_them(kind, top, tmp_path):
    top = 1 if kind in ("P1", "P4") else top
    grey = np.random.default_rng(top).integers(0, top + 1, (7, 9))
    grey[0, :2] = 0, top
    content = write_pnm(kind, grey, top)
    found = open_picture(content)
    assert (found.format, found.size) == ("PPM", (9, 7))
    exact = grey / top * 255
    assert np.abs(found.pixels - exact[..., None]).max() <= 1
    (tmp_path / "a.pgm").write_bytes(content)
    form = DatasetImageFormat(7, 9, 3, resize=False)
    read = picture_decoding.read_picture_pixels(tmp_path / "a.pgm", form)
    assert (read == found.pixels).all()


def test_both_doors_take_the_same_formats():
    taken = {"HEIC", *(name.upper() for name in picture_decoding.FORMATS)}
    assert taken == {name.upper() for name in formats.FORMATS}
    assert set(decoding.OPENERS) | {"HEIC"} == set(formats.FORMATS)


def test_heic_is_read_and_turned_once():
    pillow_heif = pytest.importorskip("pillow_heif")
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    pillow_heif.from_pillow(Image.fromarray(np.rot90(COLOUR).copy())).save(out, exif=exif.tobytes())
    found = open_picture(out.getvalue())
    assert (found.format, found.size) == ("HEIC", (90, 60))
    assert np.abs(found.pixels.astype(int) - COLOUR).mean() < 8


def test_without_its_package_heic_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(ImageError) as caught:
        open_picture(b"\x00\x00\x00\x18ftypheic" + bytes(40))
    assert str(caught.value) == heif.MISSING_HEIF_MESSAGE


def of_depth(grey: np.ndarray, top: int) -> np.ndarray:
    return np.round(grey / 255 * top).astype(np.uint16)


@pytest.mark.parametrize(
    ("content", "off"),
    [
        (encoded(Image.fromarray(GREY)), 0),
        (encoded(Image.fromarray(of_depth(GREY, 65535))), 1),
        (encoded(Image.fromarray(of_depth(GREY, 1023))), 1),
        (encoded(Image.fromarray(of_depth(GREY, 4095))), 1),
        (encoded(Image.fromarray(of_depth(GREY, 16383))), 1),
        (encoded(Image.fromarray(of_depth(GREY, 65535)), "TIFF"), 1),
        (encoded(Image.fromarray(GREY.astype(np.int32)), "TIFF"), 0),
        (encoded(Image.fromarray((GREY / 255).astype(np.float32)), "TIFF"), 1),
        (encoded(Image.fromarray(GREY.astype(np.float32)), "TIFF"), 0),
        (encoded(Image.fromarray(GREY).quantize(4)), 0),
        (encoded(Image.merge("LA", [Image.fromarray(GREY), Image.new("L", (90, 60), 255)])), 0),
        (encoded(Image.fromarray(COLOUR[..., [0, 0, 0]]).convert("CMYK"), "TIFF"), 1),
        (encoded(Image.fromarray(COLOUR[..., [0, 0, 0]]).convert("CMYK"), "JPEG", quality=95), 4),
        (encoded(Image.fromarray(COLOUR[..., [0, 0, 0]]).convert("YCbCr"), "TIFF"), 1),
    ],
    ids=[
        "8",
        "16",
        "10in16",
        "12in16",
        "14in16",
        "16tiff",
        "32tiff",
        "float1",
        "float255",
        "palette",
        "la",
        "cmyk",
        "cmykjpeg",
        "ycbcr",
    ],
)
def test_every_mode_keeps_its_brightness(content, off):
    assert np.quantile(np.abs(grey_of(content).astype(int) - GREY), 0.95) <= off


def test_black_and_white_stays_so():
    dark = GREY > 100
    for format in ("PNG", "TIFF", "BMP"):  # noqa: A001
        assert (grey_of(encoded(Image.fromarray(dark), format)) == dark * 255).all()


def test_a_float_picture_with_holes_is_spread_over_its_own_range():
    values = GREY.astype(np.float32) * 1e6 - 5e7
    values[0, 0], values[0, 1], values[0, 2] = np.nan, np.inf, -np.inf
    pixels = grey_of(encoded(Image.fromarray(values), "TIFF"))
    assert pixels[0, :3].tolist() == [0, 255, 0]
    assert set(np.unique(pixels[1:])) == {0, 121, 255}
    nothing = np.full((5, 5), np.nan, np.float32)
    assert not grey_of(encoded(Image.fromarray(nothing), "TIFF")).any()


def with_alpha(ink: int, alpha: np.ndarray) -> Image.Image:
    return Image.fromarray(np.dstack([np.full((60, 90, 3), ink, np.uint8), alpha]))


STROKE = np.where(GREY == 20, 255, 0).astype(np.uint8)


def test_transparent_ground_is_white_unless_the_ink_is():
    dark = open_picture(encoded(with_alpha(0, STROKE)))
    assert dark.notes == ()
    assert (dark.pixels[..., 0] == 255 - STROKE).all()
    for content in (encoded(with_alpha(255, STROKE)), encoded(with_alpha(230, STROKE), "WebP")):
        light = open_picture(content)
        assert light.notes == ("Light ink on a transparent background: shown on black.",)
        assert np.abs(light.pixels[..., 0].astype(int) - STROKE).max() < 40
    palette = Image.fromarray((STROKE > 0).astype(np.uint8)).convert("P")
    palette.putpalette([9, 9, 9, 255, 255, 255])
    assert (grey_of(encoded(palette, transparency=0)) == STROKE).all()


@pytest.mark.parametrize(
    ("grey", "alpha", "is_black"),
    [
        (255, STROKE, True),
        (230, STROKE, True),
        (0, STROKE, False),
        (255, 0 * STROKE, False),
        (255, 0 * STROKE + 255, False),
    ],
    ids=["white ink", "light ink", "dark ink", "nothing", "a white page"],
)
def test_of_mixed_pictures_those_whose_ink_is_not_seen_on_white_are_put_on_black(grey, alpha, is_black):
    flat, black = flatten_transparency(with_alpha(grey, alpha), MIXED)
    assert black is is_black
    clear = np.asarray(flat)[alpha == 0]
    assert (clear == (0 if is_black else 255)).all()


def test_a_white_page_cut_out_of_its_ground_stays_a_page():
    corners = np.full((60, 90), 255, np.uint8)
    corners[:4, :4] = 0
    blank = open_picture(encoded(with_alpha(255, corners)))
    assert (blank.pixels == 255).all()
    written = np.dstack([WHITE, WHITE[..., 0] * (np.arange(90) < 40)])
    written[20:30, 10:14, :3] = 0
    assert (open_picture(encoded(Image.fromarray(written))).pixels[:, 40:] == 255).all()
    assert (open_picture(encoded(with_alpha(0, STROKE * 0))).pixels == 255).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_picture_stands_upright(orientation):
    found = open_picture(turned(GREY, orientation))
    assert found.size == (90, 60)
    assert (found.pixels[..., 0] == GREY).all()


@pytest.mark.parametrize(
    ("kind", "value"),
    [(3, b"\0\0"), (3, b"\x09\0"), (3, b"\xff\xff"), (2, b"6\0"), (12, b"\6\0")],
    ids=["0", "9", "65535", "text", "past the end"],
)
def test_an_orientation_that_is_none_turns_nothing(kind, value):
    entry = struct.pack("<HHHI", 1, 0x0112, kind, 1) + value.ljust(4, b"\0")
    exif = b"Exif\0\0II*\0\x08\0\0\0" + entry + bytes(4)
    found = open_picture(encoded(Image.fromarray(GREY), exif=exif))
    assert (found.pixels[..., 0] == GREY).all()


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WebP", "TIFF"])
def test_broken_metadata_costs_nothing_and_warns_nobody(format):  # noqa: A002
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 1, "x" * 50
    torn = exif.tobytes()[:-45]
    options = {"icc_profile": b"no profile at all", **({} if format == "TIFF" else {"exif": torn})}
    before = list(warnings.filters)
    content = encoded(Image.fromarray(GREY), format, **options)
    if format == "JPEG":  # without a density of its own, Pillow looks for one in the EXIF block
        at = content.index(b"JFIF\0")
        content = content[: at - 4] + content[at + 14 :]
    assert open_picture(content).size == (90, 60)
    assert warnings.filters == before


@pytest.mark.long
def test_a_large_picture_is_averaged_down_and_says_by_how_much():
    tall = np.repeat(np.repeat(GREY, 100, 0), 25, 1)  # 6000 high, 2250 wide
    found = open_picture(encoded(Image.fromarray(tall), compress_level=1))
    assert found.size == (2250, 6000)
    assert found.pixels.shape == (WORKING_SIDE, 768, 3)
    assert found.scale == pytest.approx(6000 / WORKING_SIDE)
    at = (np.array([[1000, 300], [5000, 300], [5000, 1500]]) / found.scale).astype(int)
    assert found.pixels[at[:, 0], at[:, 1], 0].tolist() == [20, 120, 230]
    speckled = np.zeros((4100, 4100), np.uint8)
    speckled[::2] = 255  # every other row: averaged, not picked
    middle = open_picture(encoded(Image.fromarray(speckled), compress_level=1)).pixels
    assert np.abs(middle.astype(int) - 128).max() <= 1


def test_a_photo_is_decoded_at_a_half_and_shows_the_same():
    ramp = np.linspace(30, 220, 4032).astype(np.uint8)
    photo = Image.fromarray(np.broadcast_to(ramp, (3024, 4032)).copy())
    found = open_picture(encoded(photo, "JPEG"))
    assert (found.pixels.shape, found.scale, found.size) == ((1512, 2016, 3), 2.0, (4032, 3024))
    assert np.abs(found.pixels[700, :, 0].astype(int) - ramp[::2]).max() <= 3


def test_only_the_first_frame_is_taken_and_that_is_said():
    frames = [Image.fromarray(np.full_like(GREY, shade)) for shade in (200, 100, 50)]
    for format, unit in (  # noqa: A001
        ("GIF", "frames"),
        ("WebP", "frames"),
        ("PNG", "frames"),
        ("TIFF", "pages"),
        ("AVIF", "frames"),
    ):
        content = encoded(frames[0], format, save_all=True, append_images=frames[1:])
        found = open_picture(content)
        assert found.notes == (f"First of 3 {unit}.",), format
        assert abs(int(found.pixels[0, 0, 0]) - 200) <= 2


def test_more_frames_than_anyone_counts_take_no_time():
    one = encoded(Image.new("L", (2, 2)), "GIF")
    start = one.index(b"\x00,") + 1
    many = one[:start] + one[start:-1] * 300_000 + b";"
    began = time.process_time()
    assert open_picture(many).notes == ("First of more than 1,000 frames.",)
    assert time.process_time() - began < 0.7  # walking over all of them takes 2 s and more


def test_extreme_shapes_keep_their_few_pixels():
    row = np.tile(np.array([0, 255], np.uint8), 30_000)[None]
    assert open_picture(encoded(Image.fromarray(row))).pixels.shape == (1, WORKING_SIDE, 3)
    assert open_picture(encoded(Image.fromarray(row.T.copy()))).size == (1, 60_000)
    assert open_picture(png(1, 1, zlib.compress(b"\0\7"))).pixels.tolist() == [[[7] * 3]]


def test_large_pictures_wait_for_one_another_and_small_ones_do_not(monkeypatch):
    monkeypatch.setattr(decoding, "LARGE_PICTURE_BYTES", 90 * 60 * 4.5)
    small = encoded(Image.fromarray(GREY))
    large = encoded(Image.fromarray(np.repeat(GREY, 2, 0)))
    with decoding.open_decoded_picture(large):
        open_picture(small)
        other = threading.Thread(target=open_picture, args=(large,), daemon=True)
        other.start()
        other.join(0.1)
        assert other.is_alive()
    other.join(20)
    assert not other.is_alive()
