"""Adding many JPEGs as a dataset: python -m benchmarks.speed.jpegs [HOW MANY]

Makes 20,000 JPEGs of 128×128 pixels in colour and ten classes, or as many as are named, and adds
them by `ensemble data add`. Printed are the processor seconds of that command, from its start to
its end, over those in which Pillow alone decodes the same files one after the other, and the most
memory that adding takes beside the packages that were imported for it. Each is measured in a
process of its own, Pillow before and after.
"""

import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks import common
from benchmarks.speed.predictions import peak_megabytes

COUNT, SIDE, CLASSES, QUALITY = 20_000, 128, 10, 90
MAX_RATIO, MAX_MEGABYTES = 2.0, 100.0


def write_jpegs(folder: Path, count: int) -> int:
    """Writes so many pictures, a folder each class; returns their bytes.

    They are smooth with a little grain, as photographs are, and no two are alike.
    """
    rng, total = np.random.default_rng(0), 0
    for name in range(CLASSES):
        (folder / f"class_{name}").mkdir(parents=True)
    for number in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (12, 12, 3), dtype=np.uint8))
        smooth = np.asarray(coarse.resize((SIDE, SIDE), Image.Resampling.BICUBIC), np.int16)
        grain = rng.integers(-12, 13, (SIDE, SIDE, 1), dtype=np.int16)
        file = io.BytesIO()
        picture = Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8))
        picture.save(file, "JPEG", quality=QUALITY)
        total += file.tell()
        (folder / f"class_{number % CLASSES}" / f"{number}.jpg").write_bytes(file.getvalue())
    return total


def decode_all(folder: Path) -> float:
    """Processor seconds in which Pillow decodes every file of a folder, in this process."""
    start = time.process_time()
    for path in folder.rglob("*.jpg"):
        with Image.open(path) as image:
            image.load()
    return time.process_time() - start


def add_all(folder: Path) -> float:
    """The most memory (MB) in which this process adds a folder, beside what it had imported."""
    from ensemble.datasets.own import dataset_builder, source_lookup
    from ensemble.datasets.own.request import DatasetNaming, PreparationSettings

    before = peak_megabytes()
    source = source_lookup.open_picture_source(str(folder))
    dataset_builder.add_custom_dataset(source, PreparationSettings(), DatasetNaming("measured"))
    return peak_megabytes() - before


def run_part(part: str, folder: Path) -> float:
    """One measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.jpegs", part, str(folder)]
    done = subprocess.run(command, cwd=common.ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def run_add_command(folder: Path) -> float:
    """Processor seconds of the command, and of all that it starts, from its start to its end."""
    command = [sys.executable, "-m", "ensemble", "data", "add", "many", str(folder), "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=common.ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(count: int) -> None:
    """Make, add, and print."""
    with tempfile.TemporaryDirectory() as made:
        pictures = Path(made) / "pictures"
        os.environ["ENSEMBLE_DATA"] = str(Path(made) / "data")
        size = write_jpegs(pictures, count)
        print(f"{count:,} JPEGs of {SIDE}×{SIDE}, {size / 1e6:,.0f} MB", flush=True)
        decoding = [run_part("decode", pictures)]
        adding = run_add_command(pictures)
        decoding.append(run_part("decode", pictures))
        alone = sum(decoding) / len(decoding)
        memory = run_part("add", pictures)
    print(f"Pillow alone: {alone:.1f} processor seconds")
    print(f"ensemble data add: {adding:.1f}, {adding / alone:.2f} times (at most {MAX_RATIO:g})")
    print(f"Most memory beside the imported packages: {memory:.0f} MB (at most {MAX_MEGABYTES:.0f})")
    if adding > MAX_RATIO * alone or memory > MAX_MEGABYTES:
        sys.exit("This is more than was aimed at.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["decode"]:
        print(json.dumps(decode_all(Path(sys.argv[2]))))
    elif sys.argv[1:2] == ["add"]:
        print(json.dumps(add_all(Path(sys.argv[2]))))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else COUNT)
