"""Files of arrays that were damaged, or made to do harm: 5,000 of them from one seed.

`attack` writes them one after another and has them read. `benchmarks` may ask for more of them
than there is time for in a test.
"""

import random
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tests.storage.arrays.archives import bomb, entries, npy, packed, repacked

Arrays = Mapping[str, NDArray[Any]]
FIELD = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
# (offset, bytes) of numbers in a zip's records, by the record's first four bytes.
NUMBERS = {
    b"PK\x03\x04": ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\x01\x02": ((6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (34, 2), (42, 4)),
    b"PK\x05\x06": ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }"
HEADERS = (
    "(" * 90 + ")" * 90,
    "(" * 5000,
    "[" * 3000 + "]" * 3000,
    "{" * 900,
    "-" * 4000 + "1",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (%s, ), }" % ("(" * 400 + ")" * 400),
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2",
    "'''",
    "\\",
    "$\n  \t\n $",
    "1" * 5000,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000, 1000000000), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807, 7), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-4, -100), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 2), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 5L), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ("1, " * 65),
    "{'descr': '<f4', 'fortran_order': False, 'shape': 7, }",
    "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,), }",
    "{'descr': '<f4', 'fortran_order': False}",
    "{'shape': (), 'shape': (1,)}",
    "None",
    "",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }",
    "{'descr': '<U999999999', 'fortran_order': False, 'shape': (9,), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (4611686018427387904,), }",
    "{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<f4', (1000000000, 1000000000))], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': (b'a', 3), 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '\0', 'fortran_order': False, 'shape': (1,), }",
    "\ud800",
    "é" * 50,
)


def attack(
    read: Callable[[Path], Arrays], originals: Mapping[str, bytes], folder: Path, count: int, seed: int = 0
) -> Counter[tuple[str, str]]:
    """What became of so many bad files: how many, by the kind of harm and the outcome.

    Args:
      read: reads the file at a path; whatever it raises is counted by its type.
      originals: the content of whole files; "same" is what is read like one of them, "other"
        what is read as other arrays.
      folder: where the files are put, one at a time.
      count: how many; they take turns at the kinds of harm.
      seed: the same files for the same seed.
    """
    draw = random.Random(seed)
    found: Counter[tuple[str, str]] = Counter()
    path = folder / "attacked.npz"
    expected = {}
    for name, content in originals.items():
        path.write_bytes(content)
        expected[name] = read(path)
    kinds = list(HARMS.items())
    for number in range(count):
        name = draw.choice(sorted(originals))
        kind, harm = kinds[number % len(kinds)]
        path.unlink()  # Writing over it would wait for the disk.
        path.write_bytes(harm(originals[name], draw))
        try:
            made = read(path)
        except Exception as error:
            outcome = type(error).__name__
        else:
            outcome = "same" if alike(made, expected[name]) else "other"
        found[kind, outcome] += 1
    return found


def alike(one: Arrays, other: Arrays) -> bool:
    """Whether both have the same names, types and bits."""
    return one.keys() == other.keys() and all(
        array.dtype == other[name].dtype
        and array.shape == other[name].shape
        and array.tobytes() == other[name].tobytes()
        for name, array in one.items()
    )


def _flip(content: bytes, draw: random.Random) -> bytes:
    return flipped(content, draw.randrange(8 * len(content)))


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one bit turned over."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _noise(content: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(content)), draw.choice((2, 16, 400))
    return content[:at] + draw.randbytes(len(content[at : at + length])) + content[at + length :]


def _truncated(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def _spliced(content: bytes, draw: random.Random) -> bytes:
    one, two, three = sorted(draw.randrange(len(content)) for _ in range(3))
    return draw.choice(
        (
            content[:one] + content[two:],
            content[:two] + content[one:],
            content[:one] + content[two:three] + content[one:two] + content[three:],
            content[:one] + bytes(three - one) + content[three:],
            content + content[one:two],
        )
    )


def _number(content: bytes, draw: random.Random) -> bytes:
    """One number in the zip's own records: a size, an offset, a method, a flag, a version."""
    record = draw.choice(sorted(NUMBERS))
    starts = [one.start() for one in re.finditer(record, content)]
    offset, width = draw.choice(NUMBERS[record])
    at, high = draw.choice(starts) + offset, 2 ** (8 * width)
    new = draw.choice((0, 1, high - 1, high // 2, draw.randrange(high), len(content) % high, 14, 9))
    return content[:at] + struct.pack(FIELD[width], new % high) + content[at + width :]


def _header(content: bytes, draw: random.Random) -> bytes:
    """Another header in an archive whose checksums are right."""
    files = entries(content)
    name = draw.choice(sorted(files))
    version = draw.choice(((1, 0), (2, 0), (3, 0), (9, 9)))
    files[name] = npy(draw.choice(HEADERS), files[name][128:], version)
    return packed(files, draw.choice(METHODS[:2]))


def _npy_noise(content: bytes, draw: random.Random) -> bytes:
    """A few bits of an entry's first bytes, in an archive whose checksums are right."""
    files = entries(content)
    name = draw.choice(sorted(files))
    head = files[name][:128]
    for _ in range(draw.choice((1, 1, 3))):
        head = _flip(head, draw)
    files[name] = head + files[name][128:]
    return packed(files)


def _method(content: bytes, draw: random.Random) -> bytes:
    """Packed by another method, and then often a bit flipped in what that method reads."""
    made = repacked(content, draw.choice(METHODS[1:]))
    return _flip(made, draw) if draw.random() < 0.7 else made


def _names(content: bytes, draw: random.Random) -> bytes:
    """Entries lost, added, called otherwise or swapped."""
    files = entries(content)
    names = sorted(files)
    one, two = draw.choice(names), draw.choice(names)
    change = draw.randrange(4)
    if change == 0:
        del files[one]
    elif change == 1:
        files[one], files[two] = files[two], files[one]
    elif change == 2:
        files[draw.choice(("../x.npy", "x" * 60_000, "![](http://a)", "é.npy", ""))] = files[one]
    else:
        files |= {f"{number}.npy": b"" for number in range(draw.choice((3, 40)))}
    return packed(files)


def _bomb(content: bytes, draw: random.Random) -> bytes:
    size = draw.choice((1, 8)) * 2**20
    header = npy(HEADER.replace("7", str(size // 4)), b"")
    says = draw.choice((len(header) + size, 400, 2**32 - 2, 0))
    return bomb(size, says, header)


HARMS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bit flipped": _flip,
    "bytes overwritten": _noise,
    "cut short": _truncated,
    "spliced": _spliced,
    "number in the zip": _number,
    "header": _header,
    "bits of a header": _npy_noise,
    "method": _method,
    "names": _names,
    "bomb": _bomb,
}
# Of these an earlier version's file, with no checksum of its own, could be a right one.
CRAFTED = {"header", "bits of a header", "method", "names", "bomb"}


def kinds(found: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, int]]:
    """How often each outcome came, the most frequent first."""
    total: Counter[str] = Counter()
    for (_, outcome), count in found.items():
        total[outcome] += count
    yield from total.most_common()
