"""Ways in which a file can be other than it was written, drawn from a seed."""

import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator
NESTED = "[" * 100_000
LARGE = 2_000_000  # bytes of a file that stands where a small one should
# What stands in the place of a field: as text, since some of it is what `json.dumps` refuses.
SWAPS = (
    "null",
    "-1",
    "1e308",
    '"x"',
    "[]",
    "{}",
    "true",
    '{"a": [1, {"b": null}]}',
    "[[[[1]]]]",
    "0",
    "1e999",
    "NaN",
    "9" * 400,
    "9" * 5000,
    '"\\ud800"',
    "0.5",
    '["x"]',
    NESTED,
)
# What is put into tables, headers and archives.
TOKENS = (
    *(b'"', b",", b";", b"\t", b"\n", b"\r", b"\0", b"sep=", b"#", b"\xff\xfe", b"\xef\xbb\xbf", b"\xff", b"'"),
    *(b"nan", b"1e999", b"-", b"1.234,5", b"label", b"mean", b"p_0", b"q0.5", b"0" * 400, b"\xe2\x88\x92"),
    *(b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PAR1", b"\x93NUMPY", b"IDAT", b"\xff\xda", b"../", b"\xff" * 8, b"[" * 2000),
)
MARK = '"@here@"'


@dataclass(frozen=True)
class Corruption:
    """One file made other than it was.

    Attributes:
      number: its place among those of a seed.
      path: the file, below the folder that holds runs and data.
      how: what was done to it, for people.
      put: puts it there, given the file.
    """

    number: int
    path: str
    how: str
    put: Callable[[Path], object]

    def __str__(self) -> str:
        return f"{self.number}: {self.path}: {self.how}"


def draw(folder: Path, files: list[str], count: int, seed: int) -> Iterator[Corruption]:
    """So many corruptions of these files of `folder`, each file about as often as the others."""
    rng = np.random.default_rng(seed)
    order = [files[i] for _ in range(-(-count // len(files))) for i in rng.permutation(len(files))]
    for number, path in enumerate(order[:count]):
        how, put = corrupted((folder / path).read_bytes(), path, rng)
        yield Corruption(number, path, how, put)


def corrupted(content: bytes, name: str, rng: Rng) -> tuple[str, Callable[[Path], object]]:
    """What is done to a file, in words, and how to do it."""
    is_json = name.endswith(("json", "jsonl"))
    if is_json and rng.random() < 0.6:
        return swapped(content, name, rng)
    if name.endswith(".npz") and rng.random() < 0.4:
        return arrays(content, rng)
    match int(rng.integers(10)):
        case 0 | 1:
            place = int(rng.integers(len(content) + 1))
            return f"cut to {place} bytes", written(content[:place])
        case 2 | 3 | 4:
            return flipped(content, rng)
        case 5:
            return "empty", written(b"")
        case 6:
            return "random bytes", written(rng.bytes(int(rng.integers(1, 4000))))
        case 7:
            return "a folder", Path.mkdir
        case 8:
            return "a FIFO", os.mkfifo
        case _:
            other = [b"[]", b"null", b"7", b'"x"', b"{}", b" " * LARGE, NESTED.encode()]
            one = other[int(rng.integers(len(other)))]
            return f"{one[:9]!r}, {len(one)} bytes", written(one)


def mutated(content: bytes, name: str, rng: Rng) -> Callable[[Path], object]:
    """Write a file with one to twelve small changes; of an archive of arrays, sometimes one array is another."""
    if name.endswith(".npz") and rng.random() < 0.3:
        return arrays(content, rng)[1]
    if rng.random() < 0.3:
        return flipped(content, rng)[1]
    changed = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4, 12]))):
        place, length = int(rng.integers(len(changed) + 1)), int(rng.choice([1, 3, 20, 200]))
        match int(rng.integers(6)):
            case 0 | 1:
                changed[place:place] = TOKENS[int(rng.integers(len(TOKENS)))]
            case 2:
                del changed[place : place + length]
            case 3:
                changed[place:place] = changed[place : place + length]
            case 4:
                changed[place : place + length] = rng.bytes(length)
            case _:
                del changed[max(place, len(changed) // 2) :]
    return written(bytes(changed))


def flipped(content: bytes, rng: Rng) -> tuple[str, Callable[[Path], object]]:
    """One to eight bits of it turned round."""
    changed, places = bytearray(content), []
    for place in rng.integers(max(8 * len(content), 1), size=int(rng.integers(1, 9))):
        if content:
            changed[place // 8] ^= 1 << (place % 8)
            places.append(int(place))
    return f"bits {places}", written(bytes(changed))


def swapped(content: bytes, name: str, rng: Rng) -> tuple[str, Callable[[Path], object]]:
    """One field of a JSON object, however deep, with another value; or without it."""
    rows = content.decode().splitlines() if name.endswith("l") else [content.decode()]
    row = int(rng.integers(len(rows)))
    value = json.loads(rows[row])
    places = list(fields(value))
    where = places[int(rng.integers(len(places)))]
    above = value
    for step in where[:-1]:
        above = above[step]
    said = f"row {row} {'.'.join(map(str, where))}"
    if rng.random() < 0.1:
        del above[where[-1]]
        rows[row] = json.dumps(value)
        return f"{said} is gone", written("\n".join([*rows, ""]).encode())
    swap = SWAPS[int(rng.integers(len(SWAPS)))]
    above[where[-1]] = MARK[1:-1]
    rows[row] = json.dumps(value).replace(MARK, swap)
    return f"{said} = {swap[:24]}", written("\n".join([*rows, ""]).encode())


def fields(value: Any) -> Iterator[tuple[Any, ...]]:
    """The way to every field of a JSON value."""
    names = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for name in names:
        yield (name,)
        yield from ((name, *way) for way in fields(value[name]))


def arrays(content: bytes, rng: Rng) -> tuple[str, Callable[[Path], object]]:
    """Arrays that can be read and are not what they should be."""
    with np.load(io.BytesIO(content)) as file:
        found = {name: file[name] for name in file.files}
    name = list(found)[int(rng.integers(len(found)))]
    others: dict[str, Callable[[Any], Any]] = {
        "no axis": lambda one: np.float32(1.0),
        "one axis": lambda one: one.ravel(),
        "half": lambda one: one[: len(one) // 2] if one.ndim else np.zeros((2, 2)),
        "words": lambda one: np.full(one.shape, "word"),
        "NaN": lambda one: np.full(one.shape, np.nan, np.float32),
        "whole numbers": lambda one: one.astype(np.int64),
        "complex": lambda one: one.astype(np.complex128),
        "objects": lambda one: np.array([{}, None], object),
        "none of it": lambda one: np.zeros((0, *one.shape[1:])),
    }
    how = list(others)[int(rng.integers(len(others) + 2)) % len(others)]
    if rng.random() < 0.15:
        found["another/name"] = found.pop(name)
        how = "another name"
    else:
        found[name] = others[how](found[name])
    file = io.BytesIO()
    np.savez(file, allow_pickle=True, **found)
    return f"{name}: {how}", written(file.getvalue())


def written(content: bytes) -> Callable[[Path], object]:
    """Writes it."""
    return lambda path: path.write_bytes(content)
