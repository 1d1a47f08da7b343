"""Touching digits are cut where they touch; lone broad ones are not."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ensemble.pictures.segmentation import touching_digits


def is_whole(mask):
    from scipy import ndimage

    return ndimage.label(mask, np.ones((3, 3)))[1] == 1


def pushed_together(first, second, overlap):
    """Two masks on one base, the second moved left until `overlap` pixels of ink are shared."""
    height = max(len(first), len(second))
    masks = [np.pad(mask, ((height - len(mask), 0), (0, 0))) for mask in (first, second)]
    for x in range(masks[0].shape[1], 0, -1):
        sheet = np.zeros((2, height, x + masks[1].shape[1] + masks[0].shape[1]), bool)
        sheet[0, :, : masks[0].shape[1]] = masks[0]
        sheet[1, :, x : x + masks[1].shape[1]] = masks[1]
        if sheet.all(axis=0).sum() >= overlap:
            break
    both = sheet.any(axis=0)
    return both[:, : np.flatnonzero(both.any(axis=0))[-1] + 1], x


@pytest.mark.long
def test_lone_broad_digits_are_never_cut(digits):
    masks, _ = digits
    broad = 0
    for mask in masks:
        stretched = np.asarray(Image.fromarray(mask).resize((int(1.25 * len(mask)), len(mask))))
        for ink in (mask, stretched):
            broad += ink.shape[1] > touching_digits.MIN_CUT_ASPECT * len(ink)
            assert len(touching_digits.split_touching_digits(ink.astype(np.uint8) * 255)) == 1
    assert broad > 60


def test_touching_pairs_are_cut_where_they_touch(digits):
    masks, _ = digits
    rounds = [m for m in masks if is_whole(m) and m.shape[1] > 0.6 * len(m)][:24]
    cut = near = 0
    for first, second in zip(rounds[::2], rounds[1::2], strict=True):
        both, x = pushed_together(first, second, 40)
        found = touching_digits.split_touching_digits(both.astype(np.uint8) * 255)
        assert (sum(side > 127 for side in found) == both).all()  # no ink lost, none twice
        if len(found) == 2:
            cut += 1
            near += abs(np.flatnonzero((found[1] > 127).any(axis=0))[0] - x) < 0.3 * len(both)
    assert cut >= 4
    assert near >= cut - 1


def test_recognition_settles_what_shape_leaves_open():
    ring = np.hypot(*np.mgrid[-60:61, -50:51] / np.array([1, 0.85])[:, None, None])
    pair = np.concatenate([(ring < 58) & (ring > 46)] * 2, axis=1).astype(np.uint8) * 255
    pair[:, 96:106] = np.maximum(pair[:, 96:106], 255 * (np.abs(np.arange(121) - 60) < 14)[:, None])
    asked = []

    def answer(sure_of_whole):
        def decide(images):
            asked.append(images.shape)
            sure = np.full(len(images), 0.999 - 0.9 * sure_of_whole)
            sure[0] = 0.1 + 0.899 * sure_of_whole
            return np.stack([sure, 1 - sure], axis=1)

        return decide

    assert len(touching_digits.split_touching_digits(pair, answer(False))) == 2
    assert len(touching_digits.split_touching_digits(pair[:, :101], answer(True))) == 1
    assert all(shape[1:] == (28, 28, 1) and shape[0] % 2 for shape in asked)


def test_members_that_are_sure_of_two_digits_as_one_do_not_outweigh_a_clear_shape():
    ring = np.hypot(*np.mgrid[-60:61, -50:51] / np.array([1, 0.85])[:, None, None])
    two = np.concatenate([(ring < 58) & (ring > 46)] * 2, axis=1).astype(np.uint8) * 255

    def joined(rows):
        pair = two.copy()
        pair[np.abs(np.arange(121) - 60) < rows, 96:106] = 255
        return pair

    def sure_of_the_whole(images):
        sure = np.full(len(images), 0.5)
        sure[0] = 0.9999
        return np.stack([sure, 1 - sure], axis=1)

    for pair in joined(6), joined(8):
        assert len(touching_digits.split_touching_digits(pair)) == 2, "by shape alone"
    assert len(touching_digits.split_touching_digits(joined(6), sure_of_the_whole)) == 2
    assert len(touching_digits.split_touching_digits(joined(8), sure_of_the_whole)) == 1, "no cut is likelier"


@pytest.mark.parametrize("letter", ["U", "V", "roof"])
def test_strokes_of_a_letter_are_not_cut_into_ones(letter) -> None:
    points = {
        "U": [(30, 20), (30, 130), (50, 165), (75, 175), (100, 165), (120, 130), (120, 20)],
        "V": [(20, 20), (75, 180), (130, 20)],
        "roof": [(20, 180), (75, 20), (130, 180)],
    }[letter]
    sheet = Image.new("L", (150, 200))
    ImageDraw.Draw(sheet).line(points, 255, 10, "curve")
    ink = np.asarray(sheet)
    assert len(touching_digits.split_touching_digits(ink)) == 1

    def sure_of_ones(images: np.ndarray) -> np.ndarray:
        answers = np.full((len(images), 10), 0.001)
        answers[0, 0] = 0.5  # the whole is nothing much,
        answers[1:, 1] = 0.99  # and each side a clear 1
        return answers

    assert len(touching_digits.split_touching_digits(ink, sure_of_ones)) == 1
