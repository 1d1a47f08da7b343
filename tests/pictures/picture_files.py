"""Files of pictures as cameras, scanners, drawing programs and pranksters leave them."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def encoded(image: Image.Image, format: str = "PNG", **options) -> bytes:  # noqa: A002
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def page(width: int = 90, height: int = 60) -> np.ndarray:
    """Grey (H, W): light paper, a dark block in its upper left, a middle one in its lower left."""
    grey = np.full((height, width), 230, np.uint8)
    grey[: height // 2, : width // 3] = 20
    grey[height // 2 :, : width // 3] = 120
    return grey


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, data: bytes = b"", depth: int = 8, colour: int = 0, extra: bytes = b"") -> bytes:
    """A PNG put together by hand, so that it may claim whatever it likes."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def blank_png(width: int, height: int, depth: int, colour: int) -> bytes:
    """A PNG that is small as a file: all its bytes are zeros, and compress to nothing."""
    samples = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    left = height * (1 + width * samples * depth // 8)
    packer, parts = zlib.compressobj(1), []
    while left:
        parts.append(packer.compress(bytes(min(left, 1 << 22))))
        left -= min(left, 1 << 22)
    return png(width, height, b"".join(parts) + packer.flush(), depth, colour)


def jpeg_claiming(width: int, height: int, progressive: bool = False) -> bytes:
    """A JPEG whose header claims a size; its pixels are of another."""
    raw = bytearray(encoded(Image.new("RGB", (16, 16)), "JPEG", progressive=progressive))
    at = raw.index(b"\xff\xc2" if progressive else b"\xff\xc0")
    raw[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(raw)


def turned(grey: np.ndarray, orientation: int) -> bytes:
    """A PNG as a camera stores it that was held in this way: upright again, it shows `grey`."""
    stored = {
        1: lambda g: g,
        2: lambda g: g[:, ::-1],
        3: lambda g: g[::-1, ::-1],
        4: lambda g: g[::-1],
        5: lambda g: g.T,
        6: lambda g: np.rot90(g, 1),
        7: lambda g: np.rot90(g, 2).T,
        8: lambda g: np.rot90(g, -1),
    }[orientation](grey)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(Image.fromarray(np.ascontiguousarray(stored)), exif=exif)


def damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    """The file cut off anywhere, with up to three bytes changed."""
    raw = bytearray(whole[: rng.integers(1, len(whole) + 1)])
    for place in rng.integers(0, len(raw), rng.integers(0, 4)):
        raw[place] = rng.integers(0, 256)
    return bytes(raw)
