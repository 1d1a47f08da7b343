"""Tables, pictures, archives and arrays with small changes, drawn from a seed, read by every entry point."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pillow_heif
import scipy.io
from PIL import Image

from tests.exchange.capsule.pages import element, put_together
from tests.files.dialects import DIALECTS
from tests.files.test_dialects import ENTRIES
from tests.hostile.corruptions import mutated
from tests.hostile.entry_points import read_files
from tests.storage.archives.hostile_zips import packed

FILES, AT_ONCE, SEED = 20_000, 500, 63
TABLES = ("predictions", "numbers", "is numbers", "table", "decisions", "picture table", "cells")
# By which entry points each kind of file is read; the rest refuse it by its first bytes.
ENTRY_POINTS = {
    "table": (*TABLES, "dataset"),
    "picture": ("picture", "pool folder"),
    "archive": ("upload", "pool", "dataset", "numbers"),
    "arrays": ("predictions", "numbers", "table", "dataset", "upload", "pool"),
    "report": ("report", "predictions"),
}
RNG = np.random.default_rng(SEED)
IMAGES = RNG.integers(0, 256, (12, 16, 16, 3), np.uint8)


def save(write: Callable[[Any], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def save_picture(kind: str, **how: Any) -> bytes:
    return save(lambda file: Image.fromarray(IMAGES[0]).save(file, kind, **how))


def convert_to_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    try:
        return column.astype(float)
    except ValueError:
        return column


def draw_tables() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for number, (draw, _) in enumerate(ENTRIES.values()):
        rows = draw()
        found |= {f"{number}-{place}.csv": dialect.write(rows) for place, dialect in enumerate(DIALECTS.values())}
        table = pd.DataFrame(rows[1:], columns=rows[0])
        found[f"{number}-text.parquet"] = save(table.to_parquet)
        found[f"{number}.parquet"] = save(table.apply(convert_to_numbers).to_parquet)
    return found


def draw_pictures() -> dict[str, bytes]:
    pillow_heif.register_heif_opener()
    kinds = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "HEIF", "AVIF", "PPM")
    return {
        **{f"a.{kind.lower()}": save_picture(kind) for kind in kinds},
        "progressive.jpeg": save_picture("JPEG", progressive=True),
        "lzw.tiff": save_picture("TIFF", compression="tiff_lzw"),
    }


def draw_archives() -> dict[str, bytes]:
    pictures = {f"{name}/{number}.png": save_picture("PNG") for name in "ab" for number in range(6)}

    def write_tar(file: Any) -> None:
        with tarfile.open(fileobj=file, mode="w") as archive:
            for name, content in pictures.items():
                for suffix, part in (("png", content), ("cls", name[:1].encode())):
                    info = tarfile.TarInfo(f"{name.replace('/', '')[:-4]}.{suffix}")
                    info.size = len(part)
                    archive.addfile(info, io.BytesIO(part))

    labels = "file_name,label\n" + "".join(f"{name},{name[0]}\n" for name in pictures)
    return {
        "folders.zip": packed(pictures),
        "table.zip": packed({**pictures, "labels.csv": labels.encode()}),
        "shard.tar": save(write_tar),
    }


def draw_arrays() -> dict[str, bytes]:
    labels = np.arange(12) % 2
    arrays: dict[str, dict[str, Any]] = {
        "images.npz": {"train_images": IMAGES, "train_labels": labels},
        "numbers.npz": {"mean": np.zeros((2, 20)), "std": np.ones((2, 20)), "targets": np.arange(20.0)},
        "probabilities.npz": {"probabilities": np.full((2, 12, 4), 0.25), "labels": labels},
    }
    return {
        **{name: save(lambda file, found=found: np.savez_compressed(file, **found)) for name, found in arrays.items()},
        "images.npy": save(lambda file: np.save(file, IMAGES[..., :1])),
        "images.mat": save(lambda file: scipy.io.savemat(file, {"X": IMAGES.transpose(1, 2, 3, 0), "y": labels + 1})),
    }


def draw_reports() -> dict[str, bytes]:
    header = {"id": "a", "parts": [{"name": "labels", "dtype": "int32", "shape": [3], "codec": "raw", "length": 12}]}
    return {"a.html": f"<html>{element(put_together(header, bytes(12)), 'a')}</html>".encode()}


def test_mutated_files_are_read_or_refused_in_a_sentence(tmp_path: Path, draws: Callable[[int], int]) -> None:
    seeds = {
        "table": draw_tables(),
        "picture": draw_pictures(),
        "archive": draw_archives(),
        "arrays": draw_arrays(),
        "report": draw_reports(),
    }
    shares = {"table": 0.5, "picture": 0.2, "archive": 0.1, "arrays": 0.15, "report": 0.05}
    count = draws(FILES) // (1 if draws(10) == 10 else 5)  # 400 without --all
    faults, ways = list[tuple[str, str, str]](), set[bool]()
    for kind, found in seeds.items():
        total, names = int(count * shares[kind]), list(found)
        for start in range(0, total, AT_ONCE):
            folder = tmp_path / f"{kind}-{start}"
            folder.mkdir()
            for number in range(start, min(total, start + AT_ONCE)):
                name = names[int(RNG.integers(len(names)))]
                mutated(found[name], name, RNG)(folder / f"{number}-{name}")
            readings = read_files(sorted(folder.iterdir()), ENTRY_POINTS[kind])
            ways |= {bool(reading.said) for reading in readings}
            faults += [(str(folder), reading.file, reading.fault) for reading in readings if reading.fault]
    assert faults == []
    assert ways == {True, False}, "some are read, some refused"
