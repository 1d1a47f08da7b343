"""Connected components of a mask of ink, and which of them are pieces of one digit.

Pens lift: the bar of a 5, the halves of an 8, a pencil's gaps, a stroke that a removed ruled line
cut. Pieces are told from neighbours by how near they are for the pen's width, by whether either
is too low to be a digit of its own, and by whether they stand above each other (bottom-up
grouping of components: O'Gorman, "The document spectrum for page layout analysis", 1993).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.segmentation.clutter import estimate_digit_height
from ensemble.pictures.segmentation.run_lengths import (
    RunLengths,
    encode_run_lengths,
    label_run_components,
    paint_run_lengths,
)

_MAX_COMPONENTS = 400  # components looked at, the largest ones: a page of text has thousands
_MAX_EDGE_POINTS = 300  # of a component's edge at most, for distances between components
_LOW_PIECE_HEIGHT = 0.6  # of the digits' height: what is lower may be a piece of a digit
_MAX_CRACK_WIDTH = 0.9  # widths of a stroke: pieces nearer than this are one stroke, broken
_MAX_STACKED_GAP = 0.22  # of the height of both: how far apart pieces above each other may be
_MAX_BESIDE_GAP = 0.1  # the same where they are rather beside each other
_MAX_NARROW_PIECES, _MAX_NARROW_ASPECT = (8, 1.1)  # pieces; widths for a height: all of them together may be one digit
_MAX_FLAT_ASPECT = 0.3  # heights for a width: what is lower lies
_MAX_JOINED_HEIGHT = 1.35  # of the digits' height: what is joined grows no higher
_MAX_PAIRS = 600  # pairs of components whose distance is measured, the nearest ones
_MAX_JOINED_ASPECT = 1.5  # widths for a height: nor any broader
_MAX_BROKEN_ASPECT = 1.85  # the same where there is nothing else and a low piece is next to the other

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class ConnectedComponents:
    """The connected components of a mask, the largest first, at most `_MAX_COMPONENTS`.

    Attributes:
      run_lengths: the mask's, sorted by component.
      bounds: (P, 2) first and last of each component's runs, the last one excluded.
      boxes: int (P, 4) left, top, right, bottom; right and bottom beyond the ink.
      areas: int (P,) pixels.
      stroke: typical width of a stroke in pixels.
    """

    run_lengths: RunLengths
    bounds: NDArray[np.intp]
    boxes: NDArray[np.intp]
    areas: NDArray[np.intp]
    stroke: float

    def paint_mask(self, group: list[int], box: Box) -> NDArray[np.bool_]:
        """The ink of these components as a mask of the box, in which they have to lie."""
        chosen = np.concatenate([np.arange(*self.bounds[component]) for component in group])
        return paint_run_lengths(self.run_lengths.take(chosen), box)


def find_connected_components(mask: NDArray[np.bool_], stroke: float) -> ConnectedComponents:
    """The components of a mask of ink, bool (H, W); pixels that touch at a corner connect."""
    run_lengths = encode_run_lengths(mask)
    count, component = label_run_components(run_lengths)
    order = np.argsort(component, kind="stable")
    run_lengths, component = run_lengths.take(order), component[order]
    if not count:
        none = np.zeros((0, 4), np.intp)
        return ConnectedComponents(run_lengths, none[:, :2], none, none[:, 0], stroke)
    first = np.searchsorted(component, np.arange(count))
    bounds = np.stack([first, np.append(first[1:], len(component))], axis=1)
    areas = np.add.reduceat(run_lengths.ends - run_lengths.starts, first)
    left, right = (np.minimum.reduceat(run_lengths.starts, first), np.maximum.reduceat(run_lengths.ends, first))
    # The sort is stable: the runs of a component are still in the order of their rows.
    top, bottom = run_lengths.rows[bounds[:, 0]], run_lengths.rows[bounds[:, 1] - 1] + 1
    boxes = np.stack([left, top, right, bottom], axis=1)
    largest = np.argsort(-areas, kind="stable")[:_MAX_COMPONENTS]
    return ConnectedComponents(run_lengths, bounds[largest], boxes[largest], areas[largest], stroke)


def group_components(components: ConnectedComponents) -> list[list[int]]:
    """The components of each digit: lists of indices into `components`, largest first."""
    usual = estimate_digit_height(components.boxes)
    boxes: list[Box] = [tuple(box) for box in components.boxes.tolist()]
    groups = [[k] for k in range(len(boxes))]
    member_of = list(range(len(boxes)))
    pairs = _find_near_pairs(components, usual)
    narrow = len(boxes) <= _MAX_NARROW_PIECES and _is_one_digit_wide(components.boxes)
    for _ in range(2):  # what has become one piece may be a piece of more
        for gap, a, b in pairs:
            a, b = member_of[a], member_of[b]
            alone = narrow or sum(map(len, groups)) == len(groups[a]) + len(groups[b])
            if a == b or not _is_same_digit(boxes[a], boxes[b], gap, components.stroke, 0 if alone else usual):
                continue
            a, b = min(a, b), max(a, b)
            boxes[a] = compute_union_box(boxes[a], boxes[b])
            for k in groups[b]:
                member_of[k] = a
            groups[a] += groups[b]
            groups[b] = []
    return [sorted(group) for group in groups if group]


def _is_one_digit_wide(boxes: NDArray[np.intp]) -> bool:
    """Whether all boxes (P, 4) together are no broader than high: there is no row of digits."""
    if not len(boxes):
        return False
    left, top, right, bottom = boxes.T
    return bool(right.max() - left.min() <= _MAX_NARROW_ASPECT * (bottom.max() - top.min()))


def _is_same_digit(a: Box, b: Box, gap: float, stroke: float, usual: float) -> bool:
    """Whether two pieces of ink, `gap` pixels apart, are of one digit.

    Args:
      a: the box of one piece.
      b: the box of the other.
      gap: the shortest distance between their inks in pixels.
      stroke: the width of strokes in pixels.
      usual: the height of the digits in pixels; 0 where there are no others to tell it.
    """
    if b[3] - b[1] > a[3] - a[1]:
        a, b = b, a
    whole = compute_union_box(a, b)
    width, height = whole[2] - whole[0], whole[3] - whole[1]
    digit = max(usual, a[3] - a[1])
    low = b[3] - b[1] <= _LOW_PIECE_HEIGHT * digit
    share = (min(a[2], b[2]) - max(a[0], b[0])) / min(a[2] - a[0], b[2] - b[0])
    if share >= 0.5 and gap <= _MAX_CRACK_WIDTH / 2 * stroke + 1:
        return True
    broken = not usual and low and gap <= _MAX_CRACK_WIDTH * stroke + 1
    if width > (_MAX_BROKEN_ASPECT if broken else _MAX_JOINED_ASPECT) * max(height, digit) or (
        usual and height > _MAX_JOINED_HEIGHT * digit
    ):
        return False
    if gap <= _MAX_CRACK_WIDTH * stroke + 1:
        return low or share >= 0.5
    over = (min(a[3], b[3]) - max(a[1], b[1])) / min(a[3] - a[1], b[3] - b[1])
    if not usual and gap <= 2 * _MAX_CRACK_WIDTH * stroke + 1 and (over < 0.5 or (share >= 0.5 and over > 0)):
        return True
    # A dot or a comma is no piece: a bar is longer than its stroke is wide. What lies flat below
    # a digit underlines it.
    bar = max(b[2] - b[0], b[3] - b[1]) > 1.8 * stroke
    flat = b[3] - b[1] < _MAX_FLAT_ASPECT * (b[2] - b[0]) and b[1] + b[3] > a[1] + a[3]
    reach = min(_MAX_BESIDE_GAP + 0.3 * share, _MAX_STACKED_GAP) * height
    return low and bar and not flat and share > 0 and gap <= reach


def compute_union_box(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _find_near_pairs(components: ConnectedComponents, usual: float) -> list[tuple[float, int, int]]:
    """Pairs of components that may belong together: the gap between their inks, nearest first."""
    limit = max(2 * _MAX_CRACK_WIDTH * components.stroke + 1, 2 * _MAX_STACKED_GAP * usual)
    left, top, right, bottom = components.boxes.T
    across = np.maximum(left[:, None], left) - np.minimum(right[:, None], right)
    down = np.maximum(top[:, None], top) - np.minimum(bottom[:, None], bottom)
    apart = np.hypot(across.clip(0), down.clip(0))
    height = bottom - top
    low = np.minimum(height[:, None], height) <= _LOW_PIECE_HEIGHT * np.maximum(
        usual, np.maximum(height[:, None], height)
    )
    first, second = np.nonzero(np.triu((apart <= limit) & (low | (across < 0)), 1))
    order = np.argsort(apart[first, second], kind="stable")[:_MAX_PAIRS]
    points: dict[int, NDArray[np.intp]] = {}
    pairs = []
    for k in order:
        a, b = int(first[k]), int(second[k])
        for component in (a, b):
            if component not in points:
                points[component] = _sample_edge_points(components, component)
        gap = _measure_pixel_gap(points[a], points[b])
        if gap <= limit:
            pairs.append((gap, a, b))
    return sorted(pairs)


def _sample_edge_points(components: ConnectedComponents, component: int) -> NDArray[np.intp]:
    """Pixels (N, 2) on a component's edge, thinned evenly to `_MAX_EDGE_POINTS`."""
    left, top, right, bottom = components.boxes[component]
    ink = np.pad(components.paint_mask([component], (left, top, right, bottom)), 1)
    inner = ink[1:-1, 1:-1] & ink[:-2, 1:-1] & ink[2:, 1:-1] & ink[1:-1, :-2] & ink[1:-1, 2:]
    points = np.argwhere(ink[1:-1, 1:-1] & ~inner)
    return points[:: -(-len(points) // _MAX_EDGE_POINTS)] + np.array((top, left))


def _measure_pixel_gap(a: NDArray[np.intp], b: NDArray[np.intp]) -> float:
    """Pixels of ground between the nearest of two sets of pixels, (N, 2) and (K, 2)."""
    from scipy.spatial import cKDTree

    return float(cKDTree(a).query(b)[0].min()) - 1
