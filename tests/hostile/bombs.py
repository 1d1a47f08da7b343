"""Small files, or files that are quickly written, that ask for much memory or time: `BOMBS`."""

import gzip
import io
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
from PIL import Image

from ensemble.exchange.capsule.capsule_format import MAGIC
from tests.exchange.capsule.pages import element, put_together
from tests.storage.archives.hostile_zips import FOLDER, overlapping, packed, said_to_unpack_to
from tests.storage.arrays.archives import bomb, npy

_MANY, _LONG = 10**6, 10**5
_HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}".format


def _text(*parts: str | Iterable[str]) -> Callable[[Path], object]:
    """Writes text, part by part."""

    def write(path: Path) -> None:
        with path.open("w") as file:
            for part in parts:
                file.writelines([part] if isinstance(part, str) else part)

    return write


def _content(make: Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(make())


def _repeat(piece: str, times: int) -> Iterable[str]:
    """Writes a piece so often, a megabyte at once."""
    at_once = max(1, min(times, 2**20 // len(piece)))
    whole, left = divmod(times, at_once)

    class Pieces:
        def __iter__(self) -> Any:
            yield from (piece * at_once for _ in range(whole))
            yield piece * left

    return Pieces()


def _number(line: str, count: int = _MANY) -> Iterable[str]:
    """Lines that differ by their number."""

    class Lines:
        def __iter__(self) -> Any:
            return (line.format(number) for number in range(count))

    return Lines()


def _parquet(columns: Callable[[], dict[str, Any]], **how: Any) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        options = {"store_schema": False, "compression": "zstd", **how}
        pq.write_table(pa.table(columns()), path, **options)

    return write


def _repeat_value(value: Any, rows: int) -> pa.Array:
    """One value in every row, as a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))


def _number_columns(rows: int, **more: Any) -> dict[str, Any]:
    return {"mean": np.arange(rows) % 7.0, "std": np.ones(rows), "target": np.arange(rows) % 9.0, **more}


def _write_row_groups(path: Path) -> None:
    columns = pa.table({"mean": [1.0], "std": [1.0], "target": [1.0]})
    with pq.ParquetWriter(path, columns.schema) as writer:
        for _ in range(20_000):
            writer.write_table(columns)


def _npz(arrays: Mapping[str, tuple[str, Any, int]], method: int = zipfile.ZIP_DEFLATED) -> Callable[[Path], object]:
    """An .npz whose arrays have a type, a shape, and so many zeros behind the header."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
            for name, (kind, shape, size) in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    file.write(npy(_HEADER(kind, shape), b""))
                    for start in range(0, size, 2**24):
                        file.write(bytes(min(2**24, size - start)))

    return write


def _zip(files: Callable[[], Mapping[str, bytes]], **how: Any) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(packed(files(), **how))


def _nest(depth: int) -> bytes:
    content = packed({"a.png": bytes(10**7)})
    for _ in range(depth):
        content = packed({f"{number}.zip": content for number in range(4)})
    return content


def _png(width: int, height: int, data: bytes, more: bytes = b"", bits: int = 8, color: int = 2) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + more + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _png_text() -> bytes:
    content = b"note\0\0" + zlib.compress(bytes(10**8), 9)
    return _png(
        8, 8, zlib.compress(bytes(200)), struct.pack(">I", len(content)) + b"zTXt" + content + struct.pack(">I", 0)
    )


def _jpeg(width: int, height: int, scans: int = 1) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, "JPEG", progressive=scans > 1)
    content = bytearray(file.getvalue())
    place = content.index(b"\xff\xc2" if scans > 1 else b"\xff\xc0")
    struct.pack_into(">HH", content, place + 5, height, width)
    scan = bytes(content[content.index(b"\xff\xda") : -2])
    return bytes(content[:-2]) + scan * (scans - 1) + b"\xff\xd9"


def _gif(width: int, height: int, frames: int) -> bytes:
    frame = b"," + struct.pack("<HHHH", 0, 0, width, height) + b"\0\x02\x02\x44\x01\0"
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0" + bytes(6) + frame * frames + b";"


def _tiff(width: int, height: int, pages: int) -> bytes:
    """Pages of one strip that say this size; each follows the one before, the last the first."""
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 8), (278, 4, 1, height), (279, 4, 1, min(width * height, 2**32 - 1))]
    length = 2 + 12 * len(tags) + 4
    found = b"II*\0" + struct.pack("<I", 8)
    for page in range(pages):
        following = 8 + (page + 1) % pages * length
        entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
        found += struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)
    return found


def _bmp(width: int, height: int) -> bytes:
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def _heif() -> bytes:
    def box(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", 8 + len(content)) + kind + content

    size = box(b"ispe", struct.pack(">III", 0, 2**31 - 1, 2**31 - 1))
    properties = box(b"iprp", box(b"ipco", size * 1000))
    meta = box(b"meta", bytes(4) + box(b"pitm", bytes(4) + b"\0\1") + properties)
    return box(b"ftyp", b"heic\0\0\0\0heicmif1") + meta + struct.pack(">I", 2**32 - 1) + b"mdat"


def _tar(*members: tuple[str, bytes, int | bytes], size: int | None = None) -> bytes:
    """An archive; a member has a name, content or the place that a link leads to, and a kind."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.type = kind if isinstance(kind, bytes) else tarfile.REGTYPE
            info.linkname = content.decode() if isinstance(kind, bytes) else ""
            info.size = 0 if isinstance(kind, bytes) else len(content)
            archive.addfile(info, io.BytesIO(content))
    found = bytearray(file.getvalue())
    if size is not None:
        found[124:136] = f"{size:011o}\0".encode()
        found[148:156] = b" " * 8
        found[148:156] = f"{sum(found[:512]):06o}\0 ".encode()
    return bytes(found)


def _safetensors(header: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header


def _idx(shape: tuple[int, ...]) -> bytes:
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)


def _mat(shape: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, {"X": np.zeros((4, 4, 3, 4), np.uint8), "y": np.ones((4, 1), np.uint8)})
    return file.getvalue().replace(struct.pack("<iiii", 4, 4, 3, 4), struct.pack("<iiii", *shape, 3, 4))


def _mat_bomb() -> bytes:
    file = io.BytesIO()
    images = np.zeros((1000, 1000, 3, 300), np.uint8)
    scipy.io.savemat(file, {"X": images, "y": np.ones((300, 1), np.uint8)}, do_compression=True)
    return file.getvalue()


_NUMBERS = "mean,std,target\n"
_CSV: dict[str, Callable[[Path], object]] = {
    "one_line.csv": _text(_NUMBERS, _repeat("1", 400_000_000)),
    "one_line_of_cells.csv": _text(_NUMBERS, _repeat("1,", 20_000_000)),
    "no_header.csv": _text(_repeat("x", 100_000_000)),
    "columns.csv": _text(_number("c{},", 2 * _MANY), "x\n1,2\n"),
    "columns_within_the_limit.csv": _text(_number("c{},", 30_000), "x\n", _repeat("1," * 30_000 + "1\n", 40)),
    "empty_cells.csv": _text("a,b,c,d,e\n", _repeat(",,,,\n", 8 * _MANY)),
    "empty_lines.csv": _text("mean,std,target\n1,1,1\n", _repeat("\n", 100_000_000)),
    "comments.csv": _text("mean,std,target\n1,1,1\n", _repeat("#\n", 20_000_000)),
    "comments_before.csv": _text(_repeat("# x\n", 20_000_000), "mean,std,target\n1,1,1\n"),
    "quote.csv": _text(_NUMBERS, '"', _repeat("1,1,1\n", 10_000_000)),
    "quotes.csv": _text(_NUMBERS, _repeat('"', 50_000_000)),
    "members.csv": _text("model,mean,std,target\n", _number("m{},1,1,1\n")),
    "examples.csv": _text("example,member,label,p_0,p_1\n", _number("x{},a,0,0.5,0.5\n")),
    "members_of_classes.csv": _text("example,member,label,p_0,p_1\n", _number("0,m{},0,0.5,0.5\n")),
    "labels.csv": _text("example,label,p_0,p_1\n", _number("{0},l{0},0.5,0.5\n")),
    "groups.csv": _text("group,mean,std,target\n", _number("g{},1,1,1\n")),
    "pictures.csv": _text("file_name,label,group\n", _number("{0}.png,l{0},g{0}\n")),
    "decisions.csv": _text("split,number,label,decision,new_label,run\n", _number("test,{0},1,relabel,2,r{0}\n")),
    "names.csv": _text(f"{'n' * _LONG},std,target\n", "1,1,1\n" * 9),
    "cells.csv": _text("example,mean,std,target\n", _repeat("x" * _LONG + ",1,1,1\n", 2000)),
    "digits.csv": _text(_NUMBERS, _repeat(f"{'9' * _LONG},1,1\n", 1000)),
    "digits_of_exponent.csv": _text(_NUMBERS, _repeat(f"1e{'9' * 4000},1e-99999999,1\n", 1000)),
    "lines.json": _text(_repeat("[" * 1000, 1000)),
    "lines.jsonl": _text(_repeat('{"a":' * 1000 + "1" + "}" * 1000 + "\n", 1000)),
    "utf16.csv": lambda path: path.write_bytes("mean;std;target\n".encode("utf-16") + b"1\0;\0" * 20_000_000),
    "nul.csv": lambda path: path.write_bytes(b"mean,std,target\n" + bytes(50_000_000)),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(b"label,p0,p1\n" + b"1,1,1\n" * 60_000_000, 1)),
    "pixels.csv": _text("label,", _number("p{},", 2499), "p\n", _repeat("1," * 2500 + "1\n", 20_000)),
}
_PARQUET: dict[str, Callable[[Path], object]] = {
    "text.parquet": _parquet(lambda: _number_columns(_MANY, note=_repeat_value("x" * 60_000, _MANY))),
    "text_of_class.parquet": _parquet(
        lambda: {"label": _repeat_value("x" * 60_000, _MANY), "p_0": np.ones(_MANY), "p_1": np.zeros(_MANY)}
    ),
    "bytes.parquet": _parquet(lambda: _number_columns(_MANY, note=_repeat_value(b"x" * 60_000, _MANY))),
    "dictionary.parquet": _parquet(
        lambda: _number_columns(10, note=pa.array([chr(65 + n) * 10**7 for n in range(10)]))
    ),
    "row_groups.parquet": _write_row_groups,
    "lists.parquet": _parquet(lambda: _number_columns(5, note=pa.array([[[0.0] * 10**6] * 10] * 5))),
    "nested.parquet": _parquet(lambda: {"mean": [{"a": {"b": {"c": [[[[[1.0]]]]]}}}] * 9, "std": [1.0] * 9}),
    "columns.parquet": _parquet(lambda: {f"c{number}": [1.0] for number in range(20_000)}),
    "zeros.parquet": _parquet(lambda: _number_columns(1, mean=np.zeros(1))),
    "rows.parquet": _parquet(
        lambda: {name: np.zeros(60_000_000) for name in ("mean", "std", "target")}, row_group_size=60_000_000
    ),
    "members.parquet": _parquet(
        lambda: _number_columns(_MANY, model=[f"m{number}" for number in range(_MANY)]), compression="snappy"
    ),
    "pictures.parquet": _parquet(
        lambda: {
            "image": pa.StructArray.from_arrays(
                [_repeat_value(os.urandom(10**6), 20_000), pa.nulls(20_000, pa.string())], ["bytes", "path"]
            ),
            "label": np.arange(20_000) % 2,
        },
        dictionary_pagesize_limit=2**27,
    ),
    "decimals.parquet": _parquet(
        lambda: {"mean": pa.array([None] * _MANY, pa.decimal256(76, 70)), "std": [1.0] * _MANY}
    ),
}
_ARRAYS: dict[str, Callable[[Path], object]] = {
    "ratio.npz": _content(lambda: bomb(2**33, 2**32 - 1, npy(_HEADER("<f4", (1, 2**31, 1)), b""))),
    "lying.npz": _content(lambda: bomb(2**31, 1000, npy(_HEADER("<f4", (1, 10, 10)), b""))),
    "probabilities.npz": _npz({"probabilities": ("<f4", (4, 10**7, 10), 16 * 10**8), "labels": ("<i4", (10,), 40)}),
    "numbers.npz": _npz(dict.fromkeys(("mean", "std"), ("<f8", (10, 10**7), 8 * 10**8))),
    "images.npz": _npz({"train_images": ("|u1", (3 * 10**7, 8, 8), 192 * 10**7), "train_labels": ("|u1", (10,), 10)}),
    "texts.npz": _npz({"probabilities": ("<U100000000", (9,), 36 * 10**8), "labels": ("<U999999", (9,), 9)}),
    "objects.npz": _npz({"probabilities": ("|O", (10**9,), 100), "mean": ("|O", (9,), 9)}),
    "negative.npz": _npz({"mean": ("<f8", (-1, 10), 80), "std": ("<f8", (2**62, 2**62), 80)}),
    "entries.npz": _zip(lambda: {f"a{number}.npy": b"" for number in range(200_000)}, method=zipfile.ZIP_STORED),
    "header.npz": _zip(lambda: {"mean.npy": npy(_HEADER("<f8", "(" * 10**6), b"", (2, 0))}),
    "shape.npy": _content(lambda: npy(_HEADER("|u1", (2**40, 28, 28, 1)), b"")),
    "structure.npy": _content(lambda: npy(_HEADER("|V99999999999", (9,)), bytes(99))),
    "header.npy": _content(lambda: npy(" " * 10**8, b"", (2, 0))),
    "train-images-idx3-ubyte": _content(lambda: _idx((2**32 - 1, 2**16, 2**16))),
    "axes-idx3-ubyte": _content(lambda: _idx((1,) * 255)),
    "lying.mat": _content(lambda: _mat((2**30, 2**30))),
    "packed.mat": _content(_mat_bomb),
    "length.safetensors": _content(lambda: _safetensors(b"{}", 2**62)),
    "shape.safetensors": _content(
        lambda: _safetensors(b'{"a":{"dtype":"F64","shape":[9999999999],"data_offsets":[0,79999999992]}}')
    ),
    "nested.safetensors": _content(lambda: _safetensors(b'{"a":' * 10**6)),
}
_PICTURES: dict[str, Callable[[Path], object]] = {
    "size.png": _content(lambda: _png(2**31 - 1, 2**31 - 1, b"")),
    "zeros.png": _content(lambda: _png(20_000, 20_000, zlib.compress(bytes(2**28), 9))),
    "deep.png": _content(lambda: _png(9000, 9000, zlib.compress(bytes(2**27), 9), bits=16, color=6)),
    "text.png": _content(_png_text),
    "size.jpg": _content(lambda: _jpeg(65_500, 65_500)),
    "scans.jpg": _content(lambda: _jpeg(8000, 8000, 5000)),
    "size.gif": _content(lambda: _gif(65_535, 65_535, 1)),
    "frames.gif": _content(lambda: _gif(2000, 2000, 100_000)),
    "size.tiff": _content(lambda: _tiff(2**31, 2**31, 1)),
    "pages.tiff": _content(lambda: _tiff(16, 16, 10_000)),
    "size.bmp": _content(lambda: _bmp(2**31 - 1, 2**31 - 1)),
    "size.ppm": _content(lambda: b"P6 " + b"9" * 10_000 + b" 9 255\n"),
    "size.heic": _content(_heif),
    "marked.svg": _text("<svg>", _repeat("<g>", _MANY)),
}
_ARCHIVES: dict[str, Callable[[Path], object]] = {
    "ratio.zip": _zip(lambda: {"a/1.png": bytes(5 * 10**8), "b/1.png": bytes(5 * 10**8)}),
    "overlapping.zip": _content(lambda: overlapping(10**7, 10_000)),
    "lying.zip": _content(lambda: said_to_unpack_to(2**32 - 2)),
    "nested.zip": _content(lambda: _nest(4)),
    "entries.zip": _zip(lambda: {f"a/{number}.png": b"" for number in range(400_000)}, method=zipfile.ZIP_STORED),
    "deep.zip": _zip(lambda: {"a/" * 10_000 + "1.png": b"x"}),
    "paths.zip": _zip(lambda: {"../../a.png": b"x", "/etc/b.png": b"x", "C:\\c.png": b"x"}),
    "links.zip": _zip(lambda: {"a/1.png": b"/etc/passwd"}, mode=0o120777),
    "pictures.zip": _zip(
        lambda: {
            f"{name}/{number}.png": _png(9000, 9000, zlib.compress(bytes(2**27), 9))
            for name in "ab"
            for number in range(4)
        }
    ),
    "comment.zip": _content(lambda: packed(FOLDER) + b"PK\5\6" * 10**6),
    "paths.tar": _content(lambda: _tar(("../a.png", b"x", 0), ("/etc/b.png", b"x", 0), ("../a.cls", b"1", 0))),
    "links.tar": _content(lambda: _tar(("1.png", b"/etc/passwd", tarfile.SYMTYPE), ("1.cls", b"1", 0))),
    "size.tar": _content(lambda: _tar(("1.png", b"x", 0), ("1.cls", b"1", 0), size=2**32)),
    "description.tar": _content(lambda: _tar(("1.png", b"x", 0), ("1.json", b'{"label": "' + b"x" * 10**8 + b'"}', 0))),
    "nested.tar": _content(lambda: _tar(("1.png", b"x", 0), ("1.json", b"[" * 10**7, 0))),
    "samples.tar": _content(lambda: _tar(*((f"{n}.cls", b"1", 0) for n in range(50_000)))),
    "headers.tar": _content(lambda: _tar(("n/" * 10**6, b"x", 0))),
}
_REPORTS: dict[str, Callable[[Path], object]] = {
    "elements.html": _text(_repeat(element(b"", "a"), 200_000)),
    "opened.html": _text(_repeat(element(b"", "a").partition(">")[0] + ">", 200_000)),
    "zeros.html": _content(lambda: element(bytes(7 * 10**7), "a").encode()),
    "nested.html": _content(lambda: element(MAGIC + struct.pack("<Q", 10**6) + b"[" * 10**6, "a").encode()),
    "parts.html": _content(lambda: element(put_together({"parts": [{}] * 10**5}, b""), "a").encode()),
    "open.html": _text("<", _repeat("<!--", 10**7)),
}
# From name to a function that writes the file.
BOMBS: dict[str, Callable[[Path], object]] = {**_CSV, **_PARQUET, **_ARRAYS, **_PICTURES, **_ARCHIVES, **_REPORTS}
