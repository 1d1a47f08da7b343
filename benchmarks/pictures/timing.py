"""The time from the bytes of a picture to the verdict: classify --speed."""

import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks import common
from benchmarks.pictures import photos, rendering, styles

REFUSE, ROUNDS, MEMBERS = 0.03, 30, 8


def timed_pictures() -> dict[str, bytes]:
    """A photo of 12 megapixels with one digit, one with a number, and a drawing of 280×280."""
    digits = photos.Digits(("digits",))
    picture_styles = {
        "photo_12_megapixels": ("12 megapixels", 1),
        "number_12_megapixels": ("12 megapixels", 5),
        "drawing_280": ("drawn sheet", 1),
    }
    contents = {}
    for title, (name, count) in picture_styles.items():
        line = [digits.take(0)[0] for _ in range(count)]
        draws = np.random.default_rng(1)
        content = rendering.photo([line], styles.STYLES[name], draws).content
        contents[title] = content
        print(title, Image.open(io.BytesIO(content)).size, f"{len(content):,} bytes", flush=True)
    return contents


def stages(classifier: Any, content: bytes) -> dict[str, float]:
    """Milliseconds of each stage from bytes to verdict; finding the ink alone is done twice."""
    from ensemble.pictures.files.picture import open_picture
    from ensemble.pictures.ink.extraction import PictureOptions, find_ink

    spent = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        done = work()
        spent[name] = 1e3 * (time.perf_counter() - began)
        return done

    picture = timed("decode", lambda: open_picture(content))
    prepared = timed("prepare", lambda: classifier.prepare_picture(picture))
    timed("ink", lambda: find_ink(prepared.picture.pixels, PictureOptions()))
    timed("ensemble and rejection", lambda: classifier.read_marks(prepared.marks, refuse=REFUSE))
    spent["marks and shape"] = spent["prepare"] - spent["ink"]
    spent["total"] = spent["decode"] + spent.pop("prepare") + spent["ensemble and rejection"]
    return spent


def times(run_id: str) -> dict[str, Any]:
    """Medians over ROUNDS of each stage, for each of the pictures; the first is not counted."""
    from ensemble.recognition.classifier import open_classifier

    classifier, medians = open_classifier(run_id), {}
    for title, content in timed_pictures().items():
        rounds = [stages(classifier, content) for _ in range(ROUNDS + 1)][1:]
        medians[title] = {
            f"{name}_ms": round(statistics.median(stage_times[name] for stage_times in rounds), 1) for name in rounds[0]
        } | {"fastest_total_ms": round(min(stage_times["total"] for stage_times in rounds), 1)}
    return medians


def times_apart() -> dict[str, Any]:
    """The times of a new run of eight members, in processes and a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="ensemble-benchmark-") as folder:
        runs = {**os.environ, "ENSEMBLE_RUNS": folder}
        words = ["-m", "ensemble", "train", "--dataset", "digits", "--epochs", "1"]
        subprocess.run([sys.executable, *words, "--members", str(MEMBERS)], env=runs, check=True)
        (run,) = (path.name for path in Path(folder).iterdir() if (path / "config.json").exists())
        output = subprocess.run(
            [sys.executable, "-m", "benchmarks.pictures.classify", "--run", run, "--times"],
            env=runs,
            check=True,
            capture_output=True,
            text=True,
            cwd=common.ROOT,
        )
        return json.loads(output.stdout.splitlines()[-1])
