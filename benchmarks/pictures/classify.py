"""How well pictures of digits are read: python -m benchmarks.pictures.classify --run RUN

Reads the rendered test set of photos.py with a run's members (an ensemble on MNIST).
With --keep, the figures go to benchmarks/results/classify.json; --photos FOLDER takes pictures
that are rendered already; --list names every picture that goes wrong. With --speed instead, the
time from bytes to verdict is measured with eight members, into classify_speed.json.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks import common
from benchmarks.pictures import photos, rendering, styles

REFUSE, ROUNDS, MEMBERS = 0.03, 30, 8


def read_photo(classifier: Any, content: bytes) -> tuple[Any, Any]:
    """What is found on a picture, and what the ensemble says of it."""
    from ensemble.pictures.files.opening import open_picture

    prepared = classifier.prepare(open_picture(content))
    return prepared, classifier.read_marks(prepared.marks, refuse=REFUSE)


def judge(row: dict[str, Any], reading: Any) -> dict[str, Any]:
    """One picture's figures: what was said of it, and whether that is right."""
    labels = "".join(str(digit.label) for digit in reading.digits)
    said = [digit for digit in reading.digits if not digit.rejected and not reading.refused]
    return {
        **row,
        "labels": labels,
        "said": reading.text,
        "right": labels == row["text"],
        "marks": len(reading.digits),
        "kept_marks": len(said),
        "kept": bool(said) and len(said) == len(reading.digits),
        "rejected": not said,
    }


def share(values: list[bool]) -> float:
    return round(sum(values) / max(1, len(values)), 4)


def same_digits(truth: str, said: str) -> int:
    """How many digits of a number are read right, in their order."""
    return sum(block.size for block in SequenceMatcher(None, truth, said).get_matching_blocks())


def by_style(rows: list[dict[str, Any]], figure: str) -> dict[str, str]:
    """Of how many pictures of each style or kind the figure is true: "8 of 9"."""
    found = defaultdict(list)
    for row in rows:
        found[row["style"]].append(row[figure])
    return {style: f"{sum(values)} of {len(values)}" for style, values in found.items()}


def quality(run_id: str, folder: Path, listed: bool) -> dict[str, Any]:
    """How much of the test set in the folder is read right, accepted and rejected."""
    from ensemble.recognition.classifier import open_classifier

    classifier = open_classifier(run_id)
    rows = []
    for row in json.loads((folder / "photos.json").read_text()):
        rows.append(judge(row, read_photo(classifier, (folder / row["file"]).read_bytes())[1]))
        one = rows[-1]
        well = one["rejected"] if one["text"] is None else one["right"] and one["kept"]
        if listed and not well:
            print(f"{one['file']}: {one['text']} is read {one['labels']}, said {one['said']}")
    digits = [row for row in rows if row["text"] is not None]
    non_digits = [row for row in rows if row["text"] is None]
    marks = sum(row["marks"] for row in digits)
    alone = [row for row in digits if len(row["text"]) == 1]
    found = sum(same_digits(row["text"], row["labels"]) for row in digits)
    return {
        "pictures_of_digits": len(digits),
        "pictures_of_none": len(non_digits),
        "refuse": REFUSE,
        "read_right": share([row["right"] for row in digits]),
        "pictures_of_one_digit": len(alone),
        "one_digit_read_right": share([row["right"] for row in alone]),
        "digits_read_right": round(found / sum(len(row["text"]) for row in digits), 4),
        "digits_kept": round(sum(row["kept_marks"] for row in digits) / max(1, marks), 4),
        "pictures_kept_whole": share([row["kept"] for row in digits]),
        "none_rejected": share([row["rejected"] for row in non_digits]),
        "right_by_style": by_style(digits, "right"),
        "kept_by_style": by_style(digits, "kept"),
        "rejected_by_kind": by_style(non_digits, "rejected"),
        "same_digits_as_they_were": unphotographed(classifier),
    }


def unphotographed(classifier: Any) -> dict[str, float]:
    """What the members get right of the datasets' own test images: no photo can be read better."""
    from ensemble import datasets

    found = {}
    for name in ("digits", "mnist"):
        if datasets.is_prepared(name):
            known = datasets.load(name)
            images = np.asarray(known.test_images[:500])
            labels = [digit.label for digit in classifier.read(images).digits]
            found[name] = share(list(known.test_labels[:500] == labels))
    return found


def timed_pictures() -> dict[str, bytes]:
    """A photo of 12 megapixels with one digit, one with a number, and a drawing of 280×280."""
    digits = photos.Digits(("digits",))
    made = {
        "photo_12_megapixels": ("12 megapixels", 1),
        "number_12_megapixels": ("12 megapixels", 5),
        "drawing_280": ("drawn sheet", 1),
    }
    found = {}
    for title, (name, count) in made.items():
        line = [digits.take(0)[0] for _ in range(count)]
        draws = np.random.default_rng(1)
        content = rendering.photo([line], styles.STYLES[name], draws).content
        found[title] = content
        print(title, Image.open(io.BytesIO(content)).size, f"{len(content):,} bytes", flush=True)
    return found


def stages(classifier: Any, content: bytes) -> dict[str, float]:
    """Milliseconds of each stage from bytes to verdict; finding the ink alone is done twice."""
    from ensemble.pictures.files.opening import open_picture
    from ensemble.pictures.ink.extraction import Choices, find_ink

    spent = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        done = work()
        spent[name] = 1e3 * (time.perf_counter() - began)
        return done

    picture = timed("decode", lambda: open_picture(content))
    prepared = timed("prepare", lambda: classifier.prepare(picture))
    timed("ink", lambda: find_ink(prepared.picture.pixels, Choices()))
    timed("ensemble and rejection", lambda: classifier.read_marks(prepared.marks, refuse=REFUSE))
    spent["marks and shape"] = spent["prepare"] - spent["ink"]
    spent["total"] = spent["decode"] + spent.pop("prepare") + spent["ensemble and rejection"]
    return spent


def times(run_id: str) -> dict[str, Any]:
    """Medians over ROUNDS of each stage, for each of the pictures; the first is not counted."""
    from ensemble.recognition.classifier import open_classifier

    classifier, found = open_classifier(run_id), {}
    for title, content in timed_pictures().items():
        rounds = [stages(classifier, content) for _ in range(ROUNDS + 1)][1:]
        found[title] = {
            f"{name}_ms": round(statistics.median(one[name] for one in rounds), 1)
            for name in rounds[0]
        } | {"fastest_total_ms": round(min(one["total"] for one in rounds), 1)}
    return found


def times_apart() -> dict[str, Any]:
    """The times of a new run of eight members, in processes and a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="ensemble-benchmark-") as folder:
        runs = {**os.environ, "ENSEMBLE_RUNS": folder}
        words = ["-m", "ensemble", "train", "--dataset", "digits", "--epochs", "1"]
        subprocess.run([sys.executable, *words, "--members", str(MEMBERS)], env=runs, check=True)
        (run,) = (one.name for one in Path(folder).iterdir() if (one / "config.json").exists())
        output = subprocess.run(
            [sys.executable, "-m", "benchmarks.pictures.classify", "--run", run, "--times"],
            env=runs, check=True, capture_output=True, text=True, cwd=common.ROOT,
        )  # fmt: skip
        return json.loads(output.stdout.splitlines()[-1])


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--run", default="", help="id of a run on MNIST; in ENSEMBLE_RUNS")
    asked.add_argument("--photos", type=Path, help="folder with photos.json")
    asked.add_argument("--keep", action="store_true", help="write benchmarks/results")
    asked.add_argument("--list", action="store_true", help="name what goes wrong")
    asked.add_argument("--speed", action="store_true", help="only the times, kept apart")
    asked.add_argument("--times", action="store_true", help="only the times, of this run")
    words = asked.parse_args()
    if words.times:
        print(json.dumps(times(words.run)))
        return
    if words.speed:
        common.keep("classify_speed", {f"members_{MEMBERS}": times_apart()})
        return
    with tempfile.TemporaryDirectory(prefix="ensemble-photos-") as folder:
        if not words.photos:
            photos.everything(Path(folder))
        found = quality(words.run, words.photos or Path(folder), words.list)
    figures = {"run": words.run, **found}
    if words.keep:
        common.keep("classify", figures)
    else:
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
