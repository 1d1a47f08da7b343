"""How well pictures of digits are read: python -m benchmarks.pictures.classify --run RUN

Reads the rendered test set of photos.py with a run's members (an ensemble on MNIST). Held kinds
of non-digits are read only with --held or --keep: leave them out while a reader is tuned.
With --keep, the figures go to benchmarks/results/classify.json; --out FILE writes them elsewhere,
and --against FILE says what has changed since, with a sign test. --photos FOLDER takes pictures
that are rendered already, --seed another set to develop on; --list names every picture that goes
wrong. With --speed instead, the time from bytes to verdict is measured with eight members, into
classify_speed.json.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.pictures import figures, photos, timing
from benchmarks.pictures.timing import REFUSE

SHARES = (0.01, 0.02, REFUSE, 0.05, 0.10)


def judge(row: dict[str, Any], reading: Any) -> dict[str, Any]:
    """One picture's figures: what was said of it, and whether that is right."""
    labels = "".join(str(digit.label) for digit in reading.digits)
    kept_digits = [digit for digit in reading.digits if not (digit.rejected or reading.picture_rejection)]
    return {
        **row,
        "labels": labels,
        "said": reading.text,
        "right": labels == row["text"],
        "marks": len(reading.digits),
        "kept_marks": len(kept_digits),
        "kept": bool(kept_digits) and len(kept_digits) == len(reading.digits),
        "rejected": not kept_digits,
    }


def quality(run_id: str, folder: Path, *, held: bool, listed: bool) -> dict[str, Any]:
    """How much of the test set in the folder is read right, accepted and rejected."""
    from ensemble.errors import ImageError
    from ensemble.pictures.files.picture import open_picture
    from ensemble.recognition.classifier import open_classifier

    classifier = open_classifier(run_id)
    readings: dict[float, list[dict[str, Any]]] = {refuse: [] for refuse in SHARES}
    for row in json.loads((folder / "photos.json").read_text()):
        if row["held"] and not held:
            continue
        try:
            picture = open_picture((folder / row["file"]).read_bytes())
            marks = classifier.prepare_picture(picture).marks
        except ImageError:  # too small, say: nothing is found on it
            marks = ()
        for refuse, rows in readings.items():
            rows.append(judge(row, classifier.read_marks(marks, refuse=refuse)))
        reading = readings[REFUSE][-1]
        if listed and not row["held"] and figures.outcome(reading) not in "r-":
            print(f"{reading['file']}: {reading['text']} is read {reading['labels']}, said {reading['said']}")
    return {
        "pictures": photos.digests(folder),
        "refuse": REFUSE,
        **figures.summary(readings[REFUSE]),
        "trade_off": figures.trade_off(readings),
        "same_digits_as_they_were": unphotographed(classifier),
        "outcomes": figures.outcomes(readings[REFUSE]),
    }


def unphotographed(classifier: Any) -> dict[str, float]:
    """What the members get right of the datasets' own test images: no photo can be read better."""
    from ensemble import datasets

    accuracies = {}
    for name in ("digits", "mnist"):
        if datasets.is_dataset_prepared(name):
            dataset = datasets.load_dataset(name)
            images = np.asarray(dataset.test_images[:500])
            labels = [digit.label for digit in classifier.read_images(images).digits]
            accuracies[name] = round(float(np.mean(dataset.test_labels[:500] == labels)), 4)
    return accuracies


def against(results: dict[str, Any], file: Path) -> str:
    """What has changed since the figures in a file, which have to be of the same set.

    Raises:
      SystemExit: the file is none of ours.
    """
    try:
        before = json.loads(file.read_text())
        outcomes, pictures = before["outcomes"], before["pictures"]
    except (OSError, ValueError, KeyError, TypeError):
        raise SystemExit(f"{file} has no outcomes to compare with: write it by --out.") from None
    other = [name for name in outcomes if results["pictures"].get(name, "") not in ("", pictures[name])]
    warning = f"Not the same pictures, so that this says little: {', '.join(other)}.\n"
    return (warning if other else "") + figures.compared(results["outcomes"], outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default="", help="id of a run on MNIST; in ENSEMBLE_RUNS")
    parser.add_argument("--photos", type=Path, help="folder with photos.json")
    parser.add_argument("--seed", type=int, default=0, help="another set, to develop on")
    parser.add_argument("--held", action="store_true", help="the held kinds too: not for tuning")
    photos.add_counts(parser)
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results")
    parser.add_argument("--out", type=Path, help="write the figures to this file")
    parser.add_argument("--against", type=Path, help="figures written before, to compare with")
    parser.add_argument("--list", action="store_true", help="name what goes wrong")
    parser.add_argument("--speed", action="store_true", help="only the times, kept apart")
    parser.add_argument("--times", action="store_true", help="only the times, of this run")
    words = parser.parse_args()
    if words.times:
        print(json.dumps(timing.times(words.run)))
        return
    if words.speed:
        common.keep("classify_speed", {f"members_{timing.MEMBERS}": timing.times_apart()})
        return
    held = words.held or words.keep
    with tempfile.TemporaryDirectory(prefix="ensemble-photos-") as folder:
        if not words.photos:
            photos.everything(Path(folder), words.seed, held=held, each=words.each, kind=words.each_kind)
        results = quality(words.run, words.photos or Path(folder), held=held, listed=words.list)
    results = {"run": words.run, **results}
    if words.keep:
        common.keep("classify", results)
    if words.out:
        words.out.write_text(json.dumps(results, indent=1) + "\n")
    print(figures.printed(results))
    if words.against:
        print(f"\nAgainst {words.against.name}:\n{against(results, words.against)}")


if __name__ == "__main__":
    main()
