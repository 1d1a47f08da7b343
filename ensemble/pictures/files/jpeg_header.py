"""Size and colours of an ordinary JPEG by its first bytes, in a fraction of a decoder's time."""

from dataclasses import dataclass

# Start-of-frame markers of baseline, extended and progressive JPEGs (ITU-T T.81, table B.1).
_FRAME_MARKERS = (0xC0, 0xC1, 0xC2)
_ALONE_MARKERS = (0xD8, 0xD9, 0x01, *range(0xD0, 0xD8))  # without a length behind them
_EXIF_MARKER, _SCAN_MARKER = 0xE1, 0xDA


@dataclass(frozen=True)
class JpegHeader:
    """What the frame of a JPEG says.

    Attributes:
      width, height: as stored.
      components: 1 of a grey picture, 3 of one in colour.
    """

    width: int
    height: int
    components: int


def read_jpeg_header(head: bytes) -> JpegHeader | None:
    """What a file says that begins so; None where a decoder has to be asked.

    That is where it is no JPEG, its frame lies beyond `head`, it is no ordinary one of 8 bits, or
    it has EXIF data or XMP, which may turn it.
    """
    if head[:3] != b"\xff\xd8\xff":
        return None
    at = 2
    while at + 10 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in _ALONE_MARKERS or marker in (_EXIF_MARKER, _SCAN_MARKER):
            return None
        if marker in _FRAME_MARKERS:
            height = int.from_bytes(head[at + 5 : at + 7])
            width = int.from_bytes(head[at + 7 : at + 9])
            components = head[at + 9]
            ordinary = head[at + 4] == 8 and components in (1, 3) and width and height
            return JpegHeader(width, height, components) if ordinary else None
        at += 2 + int.from_bytes(head[at + 2 : at + 4])
    return None
