"""What a file is by its first bytes, and the sentence for what cannot be read."""

import re
import struct

from ensemble.errors import ImageError

FORMATS = ("PNG", "JPEG", "WebP", "BMP", "GIF", "TIFF", "HEIC", "AVIF", "PPM")
FORMAT_LIST = ", ".join(FORMATS[:-1]) + " or " + FORMATS[-1]

_SIGNATURES = (
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
)
# PBM, PGM, PPM and PFM: a letter and a digit, then a number or a comment. Text may begin so too.
_PPM_SIGNATURE = re.compile(rb"P[1-6f]\s+(#|[0-9]{1,9}\s)")
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"heif"}
_AVIF_BRANDS = {b"avif", b"avis"}
# What people hand in by mistake: how it begins, and what it is called.
_UNSUPPORTED_SIGNATURES = (
    (b"%PDF", "a PDF"),
    (b"%!PS", "a PostScript drawing"),
    (b"8BPS", "a Photoshop file"),
    (b"\xff\x0a", "a JPEG XL picture"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL picture"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"),
    (b"\x00\x00\x01\x00", "an icon"),
)


def recognize_format(content: bytes) -> str:
    """The name in `FORMATS` of what `content` begins like.

    Raises:
      ImageError: it is none of them; the message says what it is, if that can be told.
    """
    if not content:
        raise ImageError("The file is empty (0 bytes): save or copy the picture again.")
    for start, name in _SIGNATURES:
        if content.startswith(start):
            return name
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WebP"
    if content[4:8] == b"ftyp":
        return recognize_heif_format(content)
    if _PPM_SIGNATURE.match(content):
        return "PPM"
    raise ImageError(_describe_unsupported_file(content))


def recognize_heif_format(content: bytes) -> str:
    """HEIC or AVIF, by the brands that such a file (ISO/IEC 14496-12) names at its start.

    Raises:
      ImageError: it is something else in the same wrapping, mostly a video.
    """
    end = min(struct.unpack(">I", content[:4])[0], 256)
    brands = {content[8:12], *(content[at : at + 4] for at in range(16, end, 4))}
    if brands & _AVIF_BRANDS:
        return "AVIF"
    if brands & _HEIF_BRANDS:
        return "HEIC"
    raise ImageError("This is a video, not a picture: take a photo, or save one frame as PNG.")


def _describe_unsupported_file(content: bytes) -> str:
    """One sentence on a file that is none of `FORMATS`."""
    head = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<svg" in head:
        return "This is an SVG drawing, which cannot be read here: save it as PNG."
    for start, what in _UNSUPPORTED_SIGNATURES:
        if content.startswith(start):
            return f"This is {what}, which cannot be read here: save it as PNG."
    if _is_text_content(content[:1024]):
        return f"This is text, not a picture: use a {FORMAT_LIST} file."
    return f"This file is not a readable picture: use a {FORMAT_LIST} file."


def _is_text_content(head: bytes) -> bool:
    # "ignore" drops a letter that the cut has split; what is not UTF-8 at all loses more.
    words = head.decode("utf-8", "ignore")
    return len(words.encode()) > len(head) - 4 and not re.search(r"[\x00-\x08\x0e-\x1a]", words)


def read_webp_size(content: bytes) -> tuple[int, int]:
    """(width, height) by a WebP file's header (RFC 9649); struct.error where it is cut off."""
    kind, head = content[12:16], content[20:30]
    if len(head) < 10:
        raise struct.error("no header")
    if kind == b"VP8X":
        width, height = (int.from_bytes(head[at : at + 3], "little") for at in (4, 7))
        return width + 1, height + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[6:10])
    return width & 0x3FFF, height & 0x3FFF


def is_multi_scan_jpeg(content: bytes) -> bool:
    """Whether a JPEG has to be held whole while it is decoded (ITU-T T.81, annex B).

    True for a progressive one, and for one whose first scan lacks a component. What cannot be
    followed counts as such: it costs more.
    """
    at, components = 2, 0
    while at + 9 < len(content):
        if content[at] != 0xFF:
            return True
        marker = content[at + 1]
        if marker in (0xC0, 0xC1, 0xC9):
            components = content[at + 9]
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return True
        elif marker == 0xDA:
            return content[at + 4] < components
        at += 1 if marker == 0xFF else 2 + int.from_bytes(content[at + 2 : at + 4])
    return True
