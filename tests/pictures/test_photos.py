"""Rendered photographs go the whole way to marks: all digits are found, each where it is.

The truth is the renderer's; what a mark shows is told by its nearest neighbours among the
embedded training digits, so that no trained run has a part in it.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.pictures import photos
from benchmarks.pictures.rendering import photo
from benchmarks.pictures.styles import STYLES
from ensemble import datasets
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import prepare_picture

LONGEST = 360
PICTURES = {
    "plain": 1,
    "ballpoint": 1,
    "pencil": 1,
    "marker": 1,
    "tinted paper": 1,
    "gradient": 1,
    "hand shadow": 1,
    "hard shadow": 1,
    "ruled": 2,
    "squared": 1,
    "chalk": 1,
    "whiteboard": 1,
    "turned": 1,
    "perspective": 1,
    "blurred": 1,
    "jpeg": 1,
    "inverted": 1,
    "off-centre": 1,
    "huge": 1,
    "transparent": 1,
    "drawn sheet": 1,
    "turned by EXIF": 1,
    "number": 1,
    "two lines": 1,
}


def overlap(one, other) -> float:
    """Shared area of two boxes by the area of both together."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return width * height / (sum(areas) - width * height)


def rendered():
    """Each picture with the labels and the boxes of its digits, by the name of its style."""
    digits = photos.Digits(("digits",))
    for name, count in PICTURES.items():
        style = STYLES[name]
        scale = LONGEST / max(style.size)
        small = replace(
            style,
            size=tuple(round(side * scale) for side in style.size),
            blur=tuple(side * scale for side in style.blur),
            enlarge=1,
        )
        for number in range(count):
            draws = np.random.default_rng([list(STYLES).index(name), number])
            lines = [[digits.take(0) for _ in range(style.digits[0])] for _ in range(style.rows)]
            made = photo([[away for away, _ in line] for line in lines], small, draws)
            yield name, made, [label for line in lines for _, label in line]


@pytest.fixture(scope="module")
def found():
    """For each picture: its style, labels and boxes, and what preparing has made of it."""
    return [
        (name, labels, made.boxes, prepare_picture(open_picture(made.content))) for name, made, labels in rendered()
    ]


def all_there(boxes, marks) -> bool:
    return len(marks) == len(boxes) and all(
        overlap(mark.box, box) > 0.6 for mark, box in zip(marks, boxes, strict=True)
    )


def test_every_digit_is_found_where_it_is_and_in_reading_order(found) -> None:
    wrong = [name for name, _, boxes, made in found if not all_there(boxes, made.marks)]
    assert len(wrong) <= 1, wrong


def test_ink_is_told_from_paper(found) -> None:
    light = {name for name, _, _, made in found if made.light}
    assert light == {"chalk", "inverted"}


def test_marks_look_like_what_was_written(found) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    known = datasets.load_dataset("digits")
    near = KNeighborsClassifier(3).fit(
        known.train_images.reshape(len(known.train_labels), -1).astype(np.float32), known.train_labels
    )
    pairs = [
        (mark.image.ravel(), label)
        for _, labels, boxes, made in found
        if all_there(boxes, made.marks)
        for mark, label in zip(made.marks, labels, strict=True)
    ]
    said = near.predict(np.array([image for image, _ in pairs], np.float32))
    right = said == [label for _, label in pairs]
    assert right.mean() > 0.85, [(int(a), b) for a, (_, b) in zip(said, pairs, strict=True)]


def test_marks_are_as_mnist_has_them(found) -> None:
    images = np.array([mark.image[:, :, 0] for *_, made in found for mark in made.marks])
    inked = images.astype(float) / 255
    mass = inked.sum(axis=(1, 2))
    middles = [
        (inked * np.arange(28)[:, None]).sum(axis=(1, 2)) / mass,
        (inked * np.arange(28)[None]).sum(axis=(1, 2)) / mass,
    ]
    assert np.abs(np.array(middles) - 14).max() < 0.75
    sides = np.array([np.ptp(np.argwhere(image > 100), axis=0).max() + 1 for image in images])
    assert np.abs(sides - 20).max() <= 1
    assert images.max(axis=(1, 2)).min() > 230
    assert 0.09 < inked.mean() < 0.17, "MNIST: 0.13 of the picture is ink"
