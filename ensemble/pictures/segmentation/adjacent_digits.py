"""Side by side: a picture in MNIST's form that holds several digits, not one.

A picture of 28×28 pixels is left unchanged, with no look at its ink: two small digits in it would
be read as one. They are told by their connected components: two or more of more than half the
ink's height, none above another. Of 10,000 single digits of MNIST's training set one looks so.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.segmentation.components import Box
from ensemble.pictures.segmentation.mnist_form import find_ink_box

_INK_LEVEL = 60  # of 255: between two digits a pixel apart it is darker
_MIN_DIGIT_HEIGHT = 0.55  # of the ink's height: what is lower is a piece of a digit


def split_adjacent_digits(image: NDArray[np.uint8]) -> list[tuple[Box, NDArray[np.uint8]]]:
    """The digits of a picture that holds more than one, from the left; empty where it does not.

    Args:
      image: uint8 (H, W), 0 ground and 255 ink.

    Returns:
      For each the box of its ink (left, top, right, bottom) and uint8 (H, w), its columns alone.
    """
    between = _find_digit_gaps(image > _INK_LEVEL)
    if not between:
        return []
    digits = []
    for left, right in zip([0, *between], [*between, image.shape[1]], strict=True):
        cut = np.ascontiguousarray(image[:, left:right])
        inside = find_ink_box(cut > _INK_LEVEL)
        if inside is None or find_ink_box(cut > 127) is None:  # too faint to be laid out again
            return []
        west, north, east, south = inside
        digits.append(((west + left, north, east + left, south), cut))
    return digits


def _find_digit_gaps(ink: NDArray[np.bool_]) -> list[int]:
    """The columns between digits that stand apart, rising; none where there is one digit.

    Args:
      ink: bool (H, W).
    """
    from scipy import ndimage

    labels, count = ndimage.label(ink, np.ones((3, 3)))
    box = find_ink_box(ink)
    if count < 2 or box is None:
        return []
    tall = _MIN_DIGIT_HEIGHT * (box[3] - box[1])
    spans = sorted(
        (columns.start, columns.stop)
        for rows, columns in ndimage.find_objects(labels)
        if rows.stop - rows.start >= tall
    )
    if any(later[0] < earlier[1] for earlier, later in pairwise(spans)):
        return []
    return [(a[1] + b[0]) // 2 for a, b in pairwise(spans)]
