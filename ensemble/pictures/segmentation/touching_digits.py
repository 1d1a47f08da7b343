"""Touching digits: pieces of ink that are more than one digit are cut, lone broad ones are not.

A path of little ink (cut_paths.py) is a cut if the piece is broad, both sides are as high as the
whole, both have loops, and little ink is crossed: the features of Congedo, Dimauro, Impedovo and
Pirlo ("Segmentation of numeric strings", 1995). A logistic regression weighs them, fitted to paths
through 1,282 lone broad digits of MNIST's training set, half of them turned by up to 15 degrees,
and 677 pairs pushed together, in thin, thick and their own strokes. What shape leaves open,
recognition decides: a second fit weighs how sure an ensemble is of the whole and of the sides
("recognition-based segmentation" in Casey and Lecolinet, "A survey of methods and strategies in
character segmentation", 1996). Members may be sure of a whole that is none, of 88 as of one 8:
where shape is clear they need not be, as long as a cut is likelier than none to both together.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.segmentation.cut_paths import ROWS, Path, paths_through
from ensemble.pictures.segmentation.mnist_form import ink_box, stroke_width, to_mnist

Decide = Callable[[NDArray[np.uint8]], NDArray[np.floating]]

LEAST = 0.75  # widths for a height: what is narrower is one digit
MOST = 8.0  # and what is broader no row of digits
ALONE = 1.85  # no digit of MNIST's is broader: its neighbours in the row are no single digits
TRIED = 4  # paths of a piece
ROUNDS = 4  # halvings: 16 digits in a row
FLECK = 0.25  # of a side's largest part: what a path cut off goes back to the other side
# Log-odds for each of `Features`, and from where on a piece is cut: what one or two of 1,000 of the
# lone broad digits reach, and so less than one of 1,000 of all.
SHAPE, SHAPE_AT_0, SHAPE_SURE = np.array([4.4, -3.0, 13.5, 2.0, 2.4]), -15.4, 2.3
# The same with the logarithms of how unsure of the whole, and of the less sure side, one is.
BOTH, BOTH_AT_0, BOTH_SURE = np.array([2.0, -2.0, 11.9, 1.6, 2.1, 0.85, -0.42]), -9.5, 2.6


class Features(NamedTuple):
    """What tells a path between two digits from one through a digit."""

    aspect: float  # width of the piece for its height
    crossed: float  # ink that the path crosses, in widths of a stroke
    lower: float  # height of the lower side, as a share of the whole
    loops: int  # sides that have a loop
    narrower: float  # width of the narrower side, for the height of the whole


def split(cut: NDArray[np.uint8], decide: Decide | None = None) -> list[NDArray[np.uint8]]:
    """The digits in a piece of ink, from the left, each in an array of the piece's size.

    Args:
      cut: uint8 (h, w), 255 where a pixel is all ink.
      decide: gives class probabilities (K, C) of pictures uint8 (K, 28, 28, 1). Without it,
        only what shape makes clear is cut.
    """
    return split_further(cut, decide, ROUNDS)


def split_further(
    cut: NDArray[np.uint8], decide: Decide | None, rounds: int
) -> list[NDArray[np.uint8]]:
    """`split` with at most `rounds` cuts one within the other."""
    sides = halves(cut, decide) if rounds else None
    if sides is None:
        return [cut]
    return [digit for side in sides for digit in split_further(side, decide, rounds - 1)]


def halves(
    cut: NDArray[np.uint8], decide: Decide | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """The two sides of the likeliest cut; None if it is not clear that there is one."""
    box = ink_box(cut > 127)
    if box is None or not LEAST <= (aspect := (box[2] - box[0]) / (box[3] - box[1])) <= MOST:
        return None
    cells = in_cells(cut[box[1] : box[3], box[0] : box[2]])
    stroke = stroke_width(np.pad(cells, 1)).stroke
    tried = []
    for path in paths_through(cells)[:TRIED]:
        features = describe(cells, path, stroke)
        if features is not None:
            tried.append((weigh(features), features, path))
    if not tried:
        return None
    if decide is None or aspect > ALONE:
        odds, _, path = max(tried, key=lambda one: one[0])
        return sides_of(cut, box, path) if odds > SHAPE_SURE else None
    sides = [sides_of(cut, box, path) for _, _, path in tried]
    odds_of = settle([features for _, features, _ in tried], cut, sides, decide)
    best = int(np.argmax(odds_of))
    if odds_of[best] > BOTH_SURE:
        return sides[best]
    likely = [k for k, (shape, *_) in enumerate(tried) if shape > SHAPE_SURE and odds_of[k] > 0]
    return sides[max(likely, key=odds_of.__getitem__)] if likely else None


def in_cells(cut: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """The ink scaled to a height of `ROWS` cells: bool (ROWS, w)."""
    height, width = cut.shape
    size = (max(1, round(width * ROWS / height)), ROWS)
    resampling = Image.Resampling.BOX if height > ROWS else Image.Resampling.BICUBIC
    return np.asarray(Image.fromarray(cut).resize(size, resampling)) > 127


def describe(ink: NDArray[np.bool_], path: Path, stroke: float) -> Features | None:
    """What a path divides; None if it divides nothing, or opens a loop.

    Args:
      ink: bool (ROWS, w).
      path: a way through it.
      stroke: width of strokes in cells.
    """
    left = ink & (np.arange(ink.shape[1]) < path.columns[:, None])
    right = ink & ~left
    boxes = ink_box(left), ink_box(right)
    if boxes[0] is None or boxes[1] is None:
        return None
    lower = min(box[3] - box[1] for box in boxes if box) / ROWS
    narrower = min(box[2] - box[0] for box in boxes if box) / ROWS
    loops = int(has_loop(left)) + int(has_loop(right))
    if not loops and has_loop(ink):  # a path that opens a loop goes through a 0, 6, 8 or 9
        return None
    return Features(ink.shape[1] / ROWS, path.ink / max(stroke, 1.0), lower, loops, narrower)


def has_loop(ink: NDArray[np.bool_]) -> bool:
    """Whether ink encloses ground of more than a few cells."""
    from scipy import ndimage

    ground, count = ndimage.label(~np.pad(ink, 1))
    return count > 1 and int((np.bincount(ground.ravel())[1:] > 4).sum()) > 1


def bounded(features: Features) -> NDArray[np.float64]:
    """Features where they tell something: beyond these bounds, more of one is no better."""
    low, high = (0.7, 0.0, 0.55, 0.0, 0.1), (1.6, 4.0, 0.9, 2.0, 0.5)
    return np.clip(np.array(features, float), low, high)


def weigh(features: Features) -> float:
    """The log-odds, by shape alone, that a path lies between two digits."""
    return float(SHAPE @ bounded(features)) + SHAPE_AT_0


def settle(
    features: list[Features],
    whole: NDArray[np.uint8],
    sides: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]],
    decide: Decide,
) -> list[float]:
    """The log-odds by shape and recognition for each way to cut `whole`."""
    images = [to_mnist(whole)] + [to_mnist(side) for pair in sides for side in pair]
    unsure = np.log(1 - np.asarray(decide(np.stack(images))).max(axis=1) + 1e-3)
    odds = []
    for k, one in enumerate(features):
        worse = max(unsure[1 + 2 * k], unsure[2 + 2 * k])
        odds.append(float(BOTH @ np.array([*bounded(one), unsure[0], worse])) + BOTH_AT_0)
    return odds


def sides_of(
    cut: NDArray[np.uint8], box: tuple[int, int, int, int], path: Path
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The ink left and right of a path that was found in the box of the ink."""
    left, top, _, bottom = box
    scale = (bottom - top) / ROWS
    rows = (np.arange(len(cut)) - top + 0.5) / scale - 0.5
    columns = left + scale * np.interp(rows, np.arange(ROWS), path.columns)
    before = np.arange(cut.shape[1]) < columns[:, None]
    before ^= flecks(cut, before) | flecks(cut, ~before)
    return np.where(before, cut, 0).astype(np.uint8), np.where(before, 0, cut).astype(np.uint8)


def flecks(cut: NDArray[np.uint8], side: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Small components of a side that hung together with the other side before they were cut."""
    from scipy import ndimage

    ink = cut > 127
    labels, count = ndimage.label(ink & side, np.ones((3, 3)))
    if count < 2:
        return np.zeros_like(side)
    areas = np.bincount(labels.ravel(), minlength=count + 1)
    small = areas < FLECK * areas[1:].max()
    small[0] = False
    beside = ndimage.binary_dilation(ink & ~side, np.ones((3, 3)))
    small[np.setdiff1d(np.arange(count + 1), labels[beside])] = False
    return small[labels]
