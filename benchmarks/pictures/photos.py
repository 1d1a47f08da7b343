"""Renders the project's own test set of photographs: python -m benchmarks.pictures.photos FOLDER

Digits of the test sets of `digits` and, where it is prepared, MNIST, in 29 styles, and what is
not a digit; photos.json says what is on each. The same pictures every time.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pictures import non_digits, pens, rendering
from benchmarks.pictures.rendering import Photo
from benchmarks.pictures.styles import FEWER, STYLES

EACH = 9  # pictures of a style


class Digits:
    """Test digits of the datasets, each used once: five of MNIST to one of `digits`."""

    def __init__(self, names: tuple[str, ...] = (*["mnist"] * 5, "digits")):
        from ensemble import datasets

        there = [name for name in names if datasets.is_prepared(name)]
        sets = {name: datasets.load(name) for name in set(there)}
        self.names, self.sets = there, sets
        self.orders = {
            name: np.random.default_rng(7).permutation(len(found.test_labels))
            for name, found in sorted(sets.items())
        }
        self.used = dict.fromkeys(sets, 0)

    def take(self, turn: int) -> tuple[np.ndarray, int]:
        """The next digit as middle_distance gives it, and its label.

        All digits of one number are of one dataset; what a pen cannot follow is passed over.
        """
        name = self.names[turn % len(self.names)]
        found = self.sets[name]
        while True:
            at = self.orders[name][self.used[name] % len(found.test_labels)]
            self.used[name] += 1
            image, label = np.asarray(found.test_images[at]), int(found.test_labels[at])
            if (away := pens.middle_distance(image.reshape(28, 28), label)) is not None:
                return away, label


def render(name: str, number: int, digits: Digits) -> Photo:
    """Picture `number` of a style."""
    style = STYLES[name]
    draws = np.random.default_rng([list(STYLES).index(name), number])
    low, high = style.digits
    lines, texts = [], []
    for _ in range(style.rows):
        taken = [digits.take(number) for _ in range(draws.integers(low, high + 1))]
        lines.append([away for away, _ in taken])
        texts.append("".join(str(label) for _, label in taken))
    made = rendering.photo(lines, style, draws)
    return Photo(made.content, made.suffix, tuple(texts), made.boxes)


def write(folder: Path, made: Photo, style: str, number: int) -> dict[str, Any]:
    """Keeps a picture and says what is on it."""
    file = f"{style.replace(' ', '-').lower()}-{number:02}{made.suffix}"
    (folder / file).write_bytes(made.content)
    text = "".join(made.lines) if made.lines else None
    return {
        "file": file,
        "text": text,
        "style": style,
        "lines": list(made.lines),
        "boxes": [list(box) for box in made.boxes],
    }


def everything(folder: Path) -> list[dict[str, Any]]:
    """Renders all pictures into the folder and writes photos.json."""
    folder.mkdir(parents=True, exist_ok=True)
    digits, rows = Digits(), []
    for name in STYLES:
        for number in range(round(EACH * FEWER.get(name, 1))):
            rows.append(write(folder, render(name, number, digits), name, number))
    for place, (kind, (make, count)) in enumerate(non_digits.kinds().items()):
        for number in range(count):
            draws = np.random.default_rng([1000 + place, number])
            rows.append(write(folder, make(draws, number), kind, number))
    (folder / "photos.json").write_text(json.dumps(rows, indent=1) + "\n")
    return rows


if __name__ == "__main__":
    rows = everything(Path(sys.argv[1]))
    print(f"{sum(row['text'] is not None for row in rows)} pictures of digits, "
          f"{sum(row['text'] is None for row in rows)} of what is none: {sys.argv[1]}")  # fmt: skip
