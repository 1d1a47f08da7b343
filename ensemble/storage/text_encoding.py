"""How a text file that somebody made is encoded: UTF-8, UTF-16, or as Windows writes it."""

import codecs
from collections.abc import Callable, Iterable

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FALLBACK_ENCODING = "cp1252"
_SAMPLE_BYTES = 400  # by which UTF-16 without a mark is told


def detect_text_encoding(start: bytes, is_utf8: Callable[[], bool]) -> str:
    """The encoding of a text, as Python calls it.

    Args:
      start: its first bytes.
      is_utf8: whether all of it is UTF-8; asked only where nothing else tells.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return encoding
    count = len(start[:_SAMPLE_BYTES:2])
    zeros = [start[:_SAMPLE_BYTES:2].count(0), start[1:_SAMPLE_BYTES:2].count(0)]
    if max(zeros) > 0.4 * count and min(zeros) < 0.1 * count:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return "utf-8" if is_utf8() else _FALLBACK_ENCODING


def is_utf8_text(chunks: Iterable[bytes]) -> bool:
    """Whether a text, given in pieces that may part a letter, is UTF-8 all through."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks:
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def describe_text_encoding(encoding: str, what: str) -> str:
    """What is to be said of an encoding; "" of UTF-8."""
    if encoding.startswith("utf-16"):
        return f"{what} is UTF-16."
    if encoding == _FALLBACK_ENCODING:
        return f"{what} is not UTF-8 and was read as cp1252, as Windows writes it."
    return ""
