"""Archives of arrays made by hand, right and wrong ones."""

import functools
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

BLOCK = 2**20  # bytes of a bomb that are packed once and repeated


def entries(content: bytes) -> dict[str, bytes]:
    """The .npy files in an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {one.filename: archive.read(one) for one in archive.infolist()}


@functools.cache
def repacked(content: bytes, method: int) -> bytes:
    """The same archive by another method."""
    return packed(entries(content), method)


def packed(files: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive with right checksums of whatever it holds."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def npy(header: str, rest: bytes, version: tuple[int, int] = (1, 0)) -> bytes:
    """A .npy file with any text as its header."""
    text = header.encode("latin1" if version < (3, 0) else "utf-8", "replace") + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text + rest


@functools.cache
def squeezed(start: bytes, zeros: int) -> tuple[bytes, bytes, bytes]:
    """Deflated: the start, so many zeros, which may be repeated, and the end."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = squeezer.compress(start) + squeezer.flush(zlib.Z_FULL_FLUSH)
    again = squeezer.compress(bytes(zeros)) + squeezer.flush(zlib.Z_FULL_FLUSH)
    return first, again, squeezer.flush()


def bomb(size: int, declared: int, header: bytes = b"", crc: int = 0) -> bytes:
    """An archive of one deflated entry that becomes `size` bytes and says `declared`."""
    start, again, last = squeezed(header, BLOCK)
    data = start + again * (size // BLOCK) + last
    name = b"probabilities.npy"
    tail = struct.pack("<HHHHHIIIH", 20, 0, 8, 0, 33, crc, len(data), declared, len(name))
    local = b"PK\x03\x04" + tail + struct.pack("<H", 0) + name
    central = b"PK\x01\x02" + b"\x14\0" + tail + struct.pack("<HHHHII", 0, 0, 0, 0, 0, 0) + name
    at = len(local) + len(data)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), at, 0)
    return local + data + central + end
