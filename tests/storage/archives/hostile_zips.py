"""Archives as a tool packs them, and as nobody's tool does."""

import io
import stat
import struct
import zipfile
from collections.abc import Mapping

CENTRAL = b"PK\1\2"
FOLDER = {"cats/1.png": b"cat", "cats/2.png": b"meow" * 500, "dogs/1.png": b"dog"}


def packed(
    files: Mapping[str, bytes] = FOLDER, method: int = zipfile.ZIP_DEFLATED, mode: int = stat.S_IFREG | 0o644
) -> bytes:
    """A .zip of these files; `mode` is what Unix calls each of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo("placeholder")
            info.filename, info.compress_type = name, method
            info.external_attr, info.create_system = mode << 16, 3
            archive.writestr(info, content)
    return buffer.getvalue()


def rewritten(content: bytes, number: int, at: int, form: str, value: int) -> bytes:
    """The archive with a field of the list's line of that number set to another value.

    Args:
      content: the archive.
      number: which line, from 0.
      at: bytes from the line's beginning: 8 flags, 10 method, 20 packed, 24 unpacked, 42 place.
      form: the field's type, as of `struct`.
      value: what it is to say.
    """
    start = content.index(CENTRAL)
    for _ in range(number):
        start = content.index(CENTRAL, start + 1)
    changed = bytearray(content)
    struct.pack_into(form, changed, start + at, value)
    return bytes(changed)


def said_to_unpack_to(nbytes: int) -> bytes:
    """An archive of one small file that says of itself that it is so large, in both places."""
    content = bytearray(packed({"cats/1.png": b"\0" * 1000}))
    struct.pack_into("<L", content, 22, nbytes)
    return rewritten(bytes(content), 0, 24, "<L", nbytes)


def overlapping(kernel: int = 100_000, entries: int = 5) -> bytes:
    """A bomb whose entries are all the bytes of one: small, and each packed modestly."""
    one = packed({"cats/0.png": b"\0" * kernel})
    directory = one.index(CENTRAL)
    line = one[directory : one.index(b"PK\5\6")]
    lines = [line.replace(b"cats/0.png", b"cats/%d.png" % number) for number in range(entries)]
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries, entries, len(line) * entries, directory, 0)
    return one[:directory] + b"".join(lines) + end
