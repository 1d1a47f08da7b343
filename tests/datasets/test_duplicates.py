"""Copies among images are found, exact ones and those that were saved again; others are not."""

import io

import numpy as np
from PIL import Image

from ensemble import datasets
from ensemble.datasets.duplicates import find_duplicate_images


def photographs(n: int, seed: int = 0) -> np.ndarray:
    """Smooth pictures with a little colour, uint8 (n, 32, 32, 3)."""
    rng = np.random.default_rng(seed)
    grey, tint = rng.integers(20, 236, (n, 6, 6, 1)), rng.integers(-12, 13, (n, 6, 6, 3))
    size, kind = (32, 32), Image.Resampling.BICUBIC
    coarse = np.clip(grey + tint, 0, 255).astype(np.uint8)
    return np.stack([np.asarray(Image.fromarray(each).resize(size, kind)) for each in coarse])


def save_again(image: np.ndarray, quality: int) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def test_exact_copies_and_pictures_that_were_saved_again_are_one() -> None:
    images = photographs(60)
    again = np.stack([save_again(images[0], 90), images[7], images[7]])
    found = find_duplicate_images(np.concatenate([images, again]))
    assert found.copies == 3
    assert found.groups[0] == found.groups[60]
    assert found.groups[7] == found.groups[61] == found.groups[62]
    assert not found.in_training.any()


def test_a_test_image_that_was_trained_on_is_found() -> None:
    test, train = photographs(40, seed=1), photographs(80, seed=2)
    train[33] = save_again(test[5], 92)
    found = find_duplicate_images(test, train)
    assert np.flatnonzero(found.in_training).tolist() == [5]
    assert found.copies == 0


def test_images_of_one_value_are_copies_only_where_they_are_equal() -> None:
    flat = np.stack([np.full((8, 8, 1), value, np.uint8) for value in (0, 1, 1, 200)])
    groups = find_duplicate_images(flat).groups.tolist()
    assert groups[1] == groups[2]
    assert len(set(groups)) == 3


def test_the_embedded_digits_hold_no_copies() -> None:
    digits = datasets.load_dataset("digits")
    found = find_duplicate_images(digits.test_images, digits.train_images)
    assert found.copies == 0
    assert not found.in_training.any()


def test_a_thousand_pictures_that_are_nearly_one_are_no_million_pairs() -> None:
    rng = np.random.default_rng(5)
    image = rng.integers(0, 256, (12, 12, 1))
    many = np.clip(image + rng.integers(-2, 3, (3000, 12, 12, 1)), 0, 255).astype(np.uint8)
    many[:1000] = many[0]
    assert find_duplicate_images(many, many[:50]).in_training.all()
