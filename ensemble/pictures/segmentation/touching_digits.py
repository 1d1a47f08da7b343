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

from ensemble.pictures.segmentation.cut_paths import CELL_ROWS, CutPath, find_cut_paths
from ensemble.pictures.segmentation.mnist_form import convert_to_mnist, find_ink_box, measure_stroke_width

ClassifyDigits = Callable[[NDArray[np.uint8]], NDArray[np.floating]]

MIN_CUT_ASPECT = 0.75  # widths for a height: what is narrower is one digit
_MAX_CUT_ASPECT = 8.0  # and what is broader no row of digits
_MAX_DIGIT_ASPECT = 1.85  # no digit of MNIST's is broader: its neighbours in the row are no single digits
_MAX_PATHS_TRIED = 4  # paths of a piece
_MAX_BARE_LENGTH = 1.25  # lengths of a straight stroke: what has less ink is nothing else
_MAX_SPLIT_DEPTH = 4  # halvings: 16 digits in a row
_MAX_FLECK_SHARE = 0.25  # of a side's largest part: what a path cut off goes back to the other side
# Log-odds for each of `_CutFeatures`, and from where on a piece is cut: what one or two of 1,000 of
# the lone broad digits reach, and so less than one of 1,000 of all.
_SHAPE_WEIGHTS, _SHAPE_BIAS, _SHAPE_THRESHOLD = np.array([4.4, -3.0, 13.5, 2.0, 2.4]), -15.4, 2.3
# The same with the logarithms of how unsure of the whole, and of the less sure side, one is.
_RECOGNITION_WEIGHTS, _RECOGNITION_BIAS, _RECOGNITION_THRESHOLD = (
    np.array([2.0, -2.0, 11.9, 1.6, 2.1, 0.85, -0.42]),
    -9.5,
    2.6,
)


class _CutFeatures(NamedTuple):
    """What tells a path between two digits from one through a digit."""

    aspect: float  # width of the piece for its height
    crossed: float  # ink that the path crosses, in widths of a stroke
    lower: float  # height of the lower side, as a share of the whole
    loops: int  # sides that have a loop
    narrower: float  # width of the narrower side, for the height of the whole


def split_touching_digits(cut: NDArray[np.uint8], decide: ClassifyDigits | None = None) -> list[NDArray[np.uint8]]:
    """The digits in a piece of ink, from the left, each in an array of the piece's size.

    Args:
      cut: uint8 (h, w), 255 where a pixel is all ink.
      decide: gives class probabilities (K, C) of pictures uint8 (K, 28, 28, 1). Without it,
        only what shape makes clear is cut.
    """
    return _split_piece_recursively(cut, decide, _MAX_SPLIT_DEPTH)


def _split_piece_recursively(
    cut: NDArray[np.uint8], decide: ClassifyDigits | None, rounds: int
) -> list[NDArray[np.uint8]]:
    """`split_touching_digits` with at most `rounds` cuts one within the other."""
    sides = _find_best_cut(cut, decide) if rounds else None
    if sides is None:
        return [cut]
    return [digit for side in sides for digit in _split_piece_recursively(side, decide, rounds - 1)]


def _find_best_cut(
    cut: NDArray[np.uint8], decide: ClassifyDigits | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """The two sides of the likeliest cut; None if it is not clear that there is one."""
    box = find_ink_box(cut > 127)
    if box is None or not MIN_CUT_ASPECT <= (aspect := (box[2] - box[0]) / (box[3] - box[1])) <= _MAX_CUT_ASPECT:
        return None
    cells = _scale_to_cells(cut[box[1] : box[3], box[0] : box[2]])
    stroke = measure_stroke_width(np.pad(cells, 1)).stroke
    tried = []
    for path in find_cut_paths(cells)[:_MAX_PATHS_TRIED]:
        features = _compute_cut_features(cells, path, stroke)
        if features is not None:
            tried.append((_score_cut_shape(features), features, path))
    if not tried:
        return None
    if decide is None or aspect > _MAX_DIGIT_ASPECT:
        odds, _, path = max(tried, key=lambda candidate: candidate[0])
        return _cut_along_path(cut, box, path) if odds > _SHAPE_THRESHOLD else None
    sides = [_cut_along_path(cut, box, path) for _, _, path in tried]
    odds_of = _score_recognized_cuts([features for _, features, _ in tried], cut, sides, decide)
    best = int(np.argmax(odds_of))
    if odds_of[best] > _RECOGNITION_THRESHOLD:
        return sides[best]
    likely = [k for k, (shape, *_) in enumerate(tried) if shape > _SHAPE_THRESHOLD and odds_of[k] > 0]
    return sides[max(likely, key=odds_of.__getitem__)] if likely else None


def _scale_to_cells(cut: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """The ink scaled to a height of `CELL_ROWS` cells: bool (CELL_ROWS, w)."""
    height, width = cut.shape
    size = (max(1, round(width * CELL_ROWS / height)), CELL_ROWS)
    resampling = Image.Resampling.BOX if height > CELL_ROWS else Image.Resampling.BICUBIC
    return np.asarray(Image.fromarray(cut).resize(size, resampling)) > 127


def _compute_cut_features(ink: NDArray[np.bool_], path: CutPath, stroke: float) -> _CutFeatures | None:
    """What a path divides; None if it divides nothing, opens a loop, or leaves two bare strokes.

    Two ones hardly ever touch, but the strokes of a U, a V or a roof do.

    Args:
      ink: bool (CELL_ROWS, w).
      path: a way through it.
      stroke: width of strokes in cells.
    """
    left = ink & (np.arange(ink.shape[1]) < path.columns[:, None])
    right = ink & ~left
    boxes = find_ink_box(left), find_ink_box(right)
    if boxes[0] is None or boxes[1] is None:
        return None
    lower = min(box[3] - box[1] for box in boxes if box) / CELL_ROWS
    narrower = min(box[2] - box[0] for box in boxes if box) / CELL_ROWS
    loops = int(_has_loop(left)) + int(_has_loop(right))
    if not loops and _has_loop(ink):  # a path that opens a loop goes through a 0, 6, 8 or 9
        return None
    if not loops and all(_is_bare_stroke(side, stroke) for side in (left, right)):
        return None
    return _CutFeatures(ink.shape[1] / CELL_ROWS, path.ink / max(stroke, 1.0), lower, loops, narrower)


def _is_bare_stroke(side: NDArray[np.bool_], stroke: float) -> bool:
    """Whether ink is one stroke, nearly straight: as long as its box is from corner to corner."""
    left, top, right, bottom = find_ink_box(side) or (0, 0, 1, 1)
    length = float(np.hypot(right - left - stroke, bottom - top - stroke)) + stroke
    return float(side.sum()) <= _MAX_BARE_LENGTH * max(stroke, 1.0) * length


def _has_loop(ink: NDArray[np.bool_]) -> bool:
    from scipy import ndimage

    ground, count = ndimage.label(~np.pad(ink, 1))
    return count > 1 and int((np.bincount(ground.ravel())[1:] > 4).sum()) > 1


def _clip_cut_features(features: _CutFeatures) -> NDArray[np.float64]:
    """Features where they tell something: beyond these bounds, more of one is no better."""
    low, high = (0.7, 0.0, 0.55, 0.0, 0.1), (1.6, 4.0, 0.9, 2.0, 0.5)
    return np.clip(np.array(features, float), low, high)


def _score_cut_shape(features: _CutFeatures) -> float:
    """Return the log-odds, by shape alone, that a path separates two digits."""
    return float(_SHAPE_WEIGHTS @ _clip_cut_features(features)) + _SHAPE_BIAS


def _score_recognized_cuts(
    features: list[_CutFeatures],
    whole: NDArray[np.uint8],
    sides: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]],
    decide: ClassifyDigits,
) -> list[float]:
    """The log-odds by shape and recognition for each way to cut `whole`."""
    images = [convert_to_mnist(whole)] + [convert_to_mnist(side) for pair in sides for side in pair]
    unsure = np.log(1 - np.asarray(decide(np.stack(images))).max(axis=1) + 1e-3)
    odds = []
    for k, cut_features in enumerate(features):
        worse = max(unsure[1 + 2 * k], unsure[2 + 2 * k])
        odds.append(
            float(_RECOGNITION_WEIGHTS @ np.array([*_clip_cut_features(cut_features), unsure[0], worse]))
            + _RECOGNITION_BIAS
        )
    return odds


def _cut_along_path(
    cut: NDArray[np.uint8], box: tuple[int, int, int, int], path: CutPath
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    left, top, _, bottom = box
    scale = (bottom - top) / CELL_ROWS
    rows = (np.arange(len(cut)) - top + 0.5) / scale - 0.5
    columns = left + scale * np.interp(rows, np.arange(CELL_ROWS), path.columns)
    before = np.arange(cut.shape[1]) < columns[:, None]
    before ^= _find_detached_flecks(cut, before) | _find_detached_flecks(cut, ~before)
    return np.where(before, cut, 0).astype(np.uint8), np.where(before, 0, cut).astype(np.uint8)


def _find_detached_flecks(cut: NDArray[np.uint8], side: NDArray[np.bool_]) -> NDArray[np.bool_]:
    from scipy import ndimage

    ink = cut > 127
    labels, count = ndimage.label(ink & side, np.ones((3, 3)))
    if count < 2:
        return np.zeros_like(side)
    areas = np.bincount(labels.ravel(), minlength=count + 1)
    small = areas < _MAX_FLECK_SHARE * areas[1:].max()
    small[0] = False
    beside = ndimage.binary_dilation(ink & ~side, np.ones((3, 3)))
    small[np.setdiff1d(np.arange(count + 1), labels[beside])] = False
    return small[labels]
