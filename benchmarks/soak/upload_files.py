"""Files that people might hand in: pictures of every kind, whole, damaged, made up, and others."""

import io
import random
from collections.abc import Callable

import numpy as np
import pillow_heif
from PIL import Image, ImageDraw

from tests.pictures.picture_files import blank_png, damaged, encoded, jpeg_claiming, png, turned

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF")
MODES = ("L", "RGB", "RGBA", "P", "1", "LA", "I;16")
# Sides in pixels: of what is drawn, and of what is blank and as a file takes next to nothing.
SIDES, BLANK_SIDES = (1, 28, 90, 640, 1500), (20, 3_000, 8_000, 14_200, 60_000)
PLAIN = (
    b"",
    b"0",
    b"a,b\n=1+1,-2\n" * 50,
    b"<svg onload=alert(1)>",
    b"%PDF-1.7\n",
    b"PK\x03\x04" * 9,
    b"\x93NUMPY\x01\x00",
    "Zeichen: ÄÖ€\n".encode("utf-16"),
    b"GIF89a",
    b"\xff\xd8\xff",
    b"BM",
    b"RIFF\x00\x00\x00\x00WEBP",
    b"II*\x00\x08\x00\x00\x00",
    b"\x00\x00\x00\x18ftypheic",
)
# How often each kind comes: large ones take a second each.
SHARES = {
    "whole": 6,
    "changed": 8,
    "damaged": 6,
    "spliced": 3,
    "claiming": 2,
    "turned": 1,
    "blank": 1,
    "plain": 3,
    "noise": 2,
}


def upload(rng: random.Random) -> tuple[str, bytes]:
    """A file, and what kind it is of."""
    kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
    return kind, KINDS[kind](rng)


def drawing(rng: random.Random) -> Image.Image:
    """A few strokes on paper, of any size and mode."""
    size = rng.choice(SIDES), rng.choice(SIDES)
    paper, ink = rng.randrange(256), rng.randrange(256)
    image = Image.new("L", size, paper)
    strokes = [(rng.randrange(size[0]), rng.randrange(size[1])) for _ in range(rng.randrange(2, 9))]
    ImageDraw.Draw(image).line(strokes, ink, rng.randrange(1, 2 + max(size) // 20))
    mode = rng.choice(MODES)
    if mode == "I;16":
        return Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
    return image.convert(mode)


def whole(rng: random.Random) -> bytes:
    """A drawing in one of the formats."""
    image, kind = drawing(rng), rng.choice(FORMATS)
    if kind == "HEIF":
        out = io.BytesIO()
        pillow_heif.from_pillow(image.convert("RGB")).save(out)
        return out.getvalue()
    try:
        return encoded(image, kind)
    except (OSError, ValueError):  # The format has no such mode.
        return encoded(image.convert("RGB"), kind)


def numbers(rng: random.Random) -> np.random.Generator:
    """The same draws for what wants NumPy's."""
    return np.random.default_rng(rng.getrandbits(64))


def changed(rng: random.Random) -> bytes:
    """A whole file with a few bytes changed, anywhere or in its head."""
    content = bytearray(whole(rng))
    last = len(content) if rng.random() < 0.5 else min(len(content), 200)
    for _ in range(rng.randrange(1, 9)):
        content[rng.randrange(last)] = rng.randrange(256)
    return bytes(content)


def spliced(rng: random.Random) -> bytes:
    """The beginning of one file and the end of another."""
    head, other = whole(rng), whole(rng)
    return head[: rng.randrange(len(head))] + other[rng.randrange(len(other)) :]


def claiming(rng: random.Random) -> bytes:
    """A header that claims any size; no pixels of that size follow."""
    wide, high = rng.randrange(65_536), rng.randrange(65_536)
    if rng.random() < 0.5:
        return jpeg_claiming(wide, high, progressive=rng.random() < 0.5)
    return png(
        rng.getrandbits(32), rng.getrandbits(31), depth=rng.choice((1, 8, 16, 7)), colour=rng.choice((0, 2, 3, 4, 6, 9))
    )


def blank(rng: random.Random) -> bytes:
    """A PNG of nothing, up to hundreds of megapixels, all of which are there."""
    wide, high = rng.choice(BLANK_SIDES[:-1]), rng.choice(BLANK_SIDES)
    depth, colour = rng.choice(((8, 0), (16, 0), (8, 2), (16, 2), (16, 6)))
    return blank_png(wide, high, depth, colour)


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "whole": whole,
    "changed": changed,
    "damaged": lambda rng: damaged(whole(rng), numbers(rng)),
    "spliced": spliced,
    "claiming": claiming,
    "turned": lambda rng: turned(np.asarray(drawing(rng).convert("L")), rng.randrange(1, 9)),
    "blank": blank,
    "plain": lambda rng: rng.choice(PLAIN),
    "noise": lambda rng: rng.randbytes(rng.choice((3, 100, 10_000))),
}
