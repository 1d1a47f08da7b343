"""Reads a QR code of versions 2 to 6, error level M, as ISO/IEC 18004 has it; corrects no errors.

Written from the standard and not from the library that draws the codes, to tell what these say.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Modules = NDArray[np.bool_]

# Codewords of data in each block, by version, for error level M.
BLOCKS = {2: [28], 3: [44], 4: [32, 32], 5: [43, 43], 6: [27, 27, 27, 27]}
MASKS = (
    lambda r, c: (r + c) % 2,
    lambda r, c: r % 2,
    lambda r, c: c % 3,
    lambda r, c: (r + c) % 3,
    lambda r, c: (r // 2 + c // 3) % 2,
    lambda r, c: r * c % 2 + r * c % 3,
    lambda r, c: (r * c % 2 + r * c % 3) % 2,
    lambda r, c: ((r + c) % 2 + r * c % 3) % 2,
)
FORMAT_MASK = 0b101010000010010
STROKE = re.compile(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?")


def modules(svg: str, margin: int = 4) -> Modules:
    """The dark modules of a picture whose path goes along the rows in units of a module."""
    picture = ET.fromstring(svg)
    ink = next(path for path in picture.iter() if path.get("stroke"))
    dark, x, y = set(), 0.0, 0.0
    for order, first, second in STROKE.findall(ink.get("d", "")):
        if order == "h":
            dark |= {(int(y), int(x) + k) for k in range(int(first))}
            x += int(first)
        else:
            x, y = (0, 0) if order == "M" else (x, y)
            x, y = x + float(first), y + float(second)
    side = max(row for row, _ in dark) + 1 - margin
    found = np.zeros((side, side), bool)
    for row, column in dark:
        found[row - margin, column - margin] = True
    return found


def text(code: Modules) -> str:
    """What a code says, in its one segment of bytes."""
    side = len(code)
    version = (side - 17) // 4
    around = [code[8, c] for c in (0, 1, 2, 3, 4, 5, 7, 8)]
    around += [code[r, 8] for r in (7, 5, 4, 3, 2, 1, 0)]
    told = int("".join(str(int(bit)) for bit in around), 2) ^ FORMAT_MASK
    assert told >> 13 == 0b00, "error level M"
    mask = MASKS[told >> 10 & 7]
    bits = [int(code[r, c]) ^ (mask(r, c) == 0) for r, c in places(side, version)]
    words = [int("".join(map(str, bits[k : k + 8])), 2) for k in range(0, len(bits) - 7, 8)]
    sizes = BLOCKS[version]
    count = len(sizes)
    data = [words[k * count + block] for block in range(count) for k in range(sizes[0])]
    stream = "".join(f"{word:08b}" for word in data)
    assert stream[:4] == "0100", "a segment of bytes"
    length = int(stream[4:12], 2)
    return bytes(int(stream[12 + 8 * k : 20 + 8 * k], 2) for k in range(length)).decode()


def places(side: int, version: int) -> Iterator[tuple[int, int]]:
    """Where the bits of the codewords stand, in their order: pairs of columns, up and down."""
    taken = np.zeros((side, side), bool)
    taken[:9, :9] = taken[:9, -8:] = taken[-8:, :9] = True
    taken[6] = taken[:, 6] = True
    centre = 4 * version + 10
    taken[centre - 2 : centre + 3, centre - 2 : centre + 3] = True
    up, right = True, side - 1
    while right > 0:
        right -= right == 6
        for r in range(side - 1, -1, -1) if up else range(side):
            for c in (right, right - 1):
                if not taken[r, c]:
                    yield r, c
        up, right = not up, right - 2
