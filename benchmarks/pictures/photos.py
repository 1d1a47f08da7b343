"""Renders the project's own test set of photographs: python -m benchmarks.pictures.photos FOLDER

Digits of MNIST's test set and of `digits` in 60 styles, and 50 pictures of each of 17 kinds of what
is no digit; photos.json says what is on each. The same pictures every time, in four minutes on two
cores. Seven styles and seven kinds are held: made only where `--held` asks for them, and never
looked at by whoever tunes a reader. --each and --each-kind render the first few of each alone.

With --seed N other than 0 it is a set to develop on: other pictures, of training digits, and
never of a held kind. The fonts that it needs are named in printing.py.
"""

import argparse
import hashlib
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pictures import canvases, non_digits, pens, pixels, printing, rendering
from benchmarks.pictures.rendering import Photo
from benchmarks.pictures.styles import FEWER, STYLES, Style

EACH = 10  # pictures of a style
EACH_KIND = 50
APART = 200  # the digits of each style begin so far after those of the one before


class Digits:
    """Digits of the datasets, each used once: five of MNIST to one of `digits`.

    Args:
      names: of the datasets, in the turn in which they are taken.
      seed: 0 takes test images; any other takes training images, in an order of its own.
      start: how many are passed over at first.
    """

    def __init__(self, names: tuple[str, ...] = (*["mnist"] * 5, "digits"), seed: int = 0, start: int = 0):
        from ensemble import datasets

        self.names = [name for name in names if datasets.is_dataset_prepared(name)]
        datasets_by_name = {name: datasets.load_dataset(name) for name in sorted(set(self.names))}
        self.sets = {
            name: (dataset.train_images, dataset.train_labels) if seed else (dataset.test_images, dataset.test_labels)
            for name, dataset in datasets_by_name.items()
        }
        self.orders = {
            name: np.random.default_rng([7, seed] if seed else 7).permutation(len(labels))
            for name, (_, labels) in self.sets.items()
        }
        self.used = dict.fromkeys(self.sets, start)

    def pixels(self, turn: int, among: str = "0123456789") -> tuple[np.ndarray, int]:
        """The next digit of those that are asked for, uint8 (28, 28) with bright ink, its label."""
        name = self.names[turn % len(self.names)]
        images, labels = self.sets[name]
        while True:
            at = self.orders[name][self.used[name] % len(labels)]
            self.used[name] += 1
            if str(int(labels[at])) in among:
                return np.asarray(images[at]).reshape(28, 28), int(labels[at])

    def take(self, turn: int, among: str = "0123456789") -> tuple[np.ndarray, int]:
        """The next digit as middle_distance gives it, and its label.

        All digits of one number are of one dataset; what a pen cannot follow is passed over.
        """
        while True:
            image, label = self.pixels(turn, among)
            if (away := pens.middle_distance(image, label)) is not None:
                return away, label


def taken(style: Style, number: int, digits: Digits, draws: Any) -> tuple[np.ndarray, int]:
    """A digit in the form that the style's source gives it, and its label."""
    if style.source == "print":
        label = int(draws.integers(10))
        font = style.fonts[number % len(style.fonts)]
        return printing.outline_distance(str(label), font, style.face), label
    away, label = digits.take(number, style.among)
    return (pens.crossed(away) if style.source == "crossed" else away), label


def render(name: str, number: int, digits: Digits, seed: int = 0) -> Photo:
    """Picture `number` of a style."""
    style = STYLES[name]
    draws = draws_of([list(STYLES).index(name), number], seed)
    low, high = style.digits
    lines, texts = [], []
    for _ in range(style.rows):
        count = draws.integers(low, high + 1)
        if style.source == "pixels":
            line = [digits.pixels(number) for _ in range(count)]
        else:
            line = [taken(style, number, digits, draws) for _ in range(count)]
        lines.append([away for away, _ in line])
        texts.append("".join(str(label) for _, label in line))
    if style.source == "pixels":
        photo = pixels.picture(lines[0], draws)
    elif style.scene:
        photo = canvases.SCENES[style.scene](lines[0], style, draws)
    else:
        photo = rendering.photo(lines, style, draws)
    return Photo(photo.content, photo.suffix, tuple(texts), photo.boxes)


def draws_of(key: list[int], seed: int) -> np.random.Generator:
    """The random draws of one picture; the test set's own for seed 0."""
    return np.random.default_rng([*key, seed] if seed else key)


def write(folder: Path, photo: Photo, style: str, number: int) -> dict[str, Any]:
    """Keeps a picture and says what is on it."""
    file = f"{style.replace(' ', '-').replace('×', 'x').lower()}-{number:02}{photo.suffix}"
    (folder / file).write_bytes(photo.content)
    text = "".join(photo.lines) if photo.lines else None
    return {
        "file": file,
        "text": text,
        "style": style,
        "held": style in non_digits.HELD or (style in STYLES and STYLES[style].held),
        "look_alike": style in non_digits.LOOK_ALIKES,
        "lines": list(photo.lines),
        "boxes": [[int(edge) for edge in box] for box in photo.boxes],
    }


def render_group(name: str, seed: int, count: int, folder: Path) -> list[dict[str, Any]]:
    """Renders the first `count` pictures of a style or kind into the folder."""
    if name in STYLES:
        digits = Digits(seed=seed, start=APART * list(STYLES).index(name))
        photos = (render(name, number, digits, seed) for number in range(count))
    else:
        place = 1000 + list(non_digits.KINDS).index(name)
        # Other numbers are other letters, icons and scenes.
        photos = (
            non_digits.KINDS[name](draws_of([place, number], seed), number + 17 * seed) for number in range(count)
        )
    return [write(folder, photo, name, number) for number, photo in enumerate(photos)]


def everything(
    folder: Path, seed: int = 0, *, held: bool = False, each: int = EACH, kind: int = EACH_KIND
) -> list[dict[str, Any]]:
    """Renders all pictures into the folder and writes photos.json.

    Args:
      folder: made if it is not there.
      seed: 0 for the test set, another number for a set to develop on.
      held: the held kinds too; for the test set alone.
      each: how many pictures there are of a style.
      kind: how many there are of a kind of non-digits.

    Raises:
      SystemExit: held kinds are asked for with a seed; a font is not on this machine.
    """
    if held and seed:
        raise SystemExit("Held kinds are for the test set alone: leave out --seed, or --held.")
    folder.mkdir(parents=True, exist_ok=True)
    counts = {name: round(each * FEWER.get(name, 1)) for name, style in STYLES.items() if held or not style.held} | {
        name: kind for name in non_digits.KINDS if held or name not in non_digits.HELD
    }
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        work = [workers.submit(render_group, name, seed, count, folder) for name, count in counts.items()]
        rows = [row for future in work for row in future.result()]
    (folder / "photos.json").write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def digests(folder: Path) -> dict[str, str]:
    """Tells sets of pictures apart: for each style or kind a digest of its files, in order."""
    hashers: dict[str, Any] = {}
    for row in json.loads((folder / "photos.json").read_text()):
        content = (folder / row["file"]).read_bytes()
        hashers.setdefault(row["style"], hashlib.sha256()).update(content)
    return {style: hasher.hexdigest()[:8] for style, hasher in hashers.items()}


def add_counts(parser: argparse.ArgumentParser) -> None:
    """The options that say how many pictures there are of a style and of a kind."""
    parser.add_argument("--each", type=int, default=EACH, help="pictures of a style")
    parser.add_argument("--each-kind", type=int, default=EACH_KIND, help="pictures of a kind")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="another makes a set to develop on")
    parser.add_argument("--held", action="store_true", help="the held kinds too: not for tuning")
    add_counts(parser)
    words = parser.parse_args()
    rows = everything(words.folder, words.seed, held=words.held, each=words.each, kind=words.each_kind)
    print(
        f"{sum(row['text'] is not None for row in rows)} pictures of digits, "
        f"{sum(row['text'] is None for row in rows)} of what is none: {words.folder}"
    )


if __name__ == "__main__":
    main()
