"""Non-digits and varied digits: the right form, the same every time, and what they are called."""

import numpy as np
import pytest

from ensemble import datasets
from ensemble.shift.digit_variation import vary_digits
from ensemble.shift.non_digits import (
    LETTERS,
    MAX_BAR_SPREAD_RATIO,
    NON_DIGIT_KINDS,
    SIGNS,
    draw_non_digits,
    load_photograph_pieces,
)


@pytest.mark.parametrize("kind", NON_DIGIT_KINDS)
def test_non_digits_have_the_form_of_digits(kind):
    images = draw_non_digits(kind, 4)
    assert images.shape == (4, 28, 28, 1)
    assert images.dtype == np.uint8
    assert (images.max(axis=(1, 2, 3)) > 200).all(), "something is drawn"
    ring = np.ones((28, 28), bool)
    ring[2:-2, 2:-2] = False
    assert not images[:, ring].any(), "and stays off the edge"
    for image in images[..., 0] / images.sum(axis=(1, 2), dtype=float).reshape(-1, 1, 1):
        middle = [(image.sum(axis=axis) * np.arange(28)).sum() for axis in (0, 1)]
        assert np.allclose(middle, 14, atol=1.5)
    assert len({one.tobytes() for one in images}) > 2
    np.testing.assert_array_equal(draw_non_digits(kind, 1), images[:1])
    assert not np.array_equal(draw_non_digits(kind, 1, seed=1), images[:1])


def test_no_letter_or_sign_is_written_like_a_digit():
    assert not set(LETTERS + SIGNS) & set("0123456789oOQDcCIilJj|rftZzSsbGTB&$gqpPAhyY?{}/\\")


def test_patches_of_photographs_are_no_bars():
    pieces = load_photograph_pieces()
    assert len(pieces) > 100
    for piece in pieces:
        at = np.argwhere(piece)
        spread = np.linalg.svd(at - at.mean(axis=0), compute_uv=False)
        assert spread[1] ** 2 >= MAX_BAR_SPREAD_RATIO * spread[0] ** 2


@pytest.mark.long
def test_a_varied_digit_is_another_picture_of_the_same_digit():
    digits = datasets.load_dataset("digits")
    images, labels = digits.test_images[:30], digits.test_labels[:30]
    changed = vary_digits(images)
    np.testing.assert_array_equal(changed[:3], vary_digits(images[:3]))
    assert (changed != vary_digits(images, seed=1)).any(axis=(1, 2, 3)).all()
    assert changed.max(axis=(1, 2, 3)).min() > 200
    # The nearest of many untouched digits is still one of its own kind, seldom itself by chance.
    known = digits.train_images.reshape(-1, 784).astype(np.float32)
    apart = ((changed.reshape(-1, 1, 784).astype(np.float32) - known) ** 2).sum(axis=2)
    assert (digits.train_labels[apart.argmin(axis=1)] == labels).mean() > 0.85
    moved = np.abs(changed.astype(int) - images).mean(axis=(1, 2, 3))
    assert (moved > 2).all(), "every one of them is changed"
