"""Specks, holes and things at the border: what is found beside the strokes of a pen and dropped.

A pen writes with one width, so what is much thinner than the strokes that carry most ink is a
crease or an edge, what is much smaller is dust, what touches the border and is broad is a finger
or the table. Where nothing else is there, such things stay: the rejection threshold judges them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.floating]
_MAX_SPECK_SIZE = 0.14  # of the usual height: what is smaller in both directions is a speck
_MAX_DUST_SHARE = 0.02  # of the ink of the largest component
_MIN_WIDTH_RATIO = 0.38  # of the pen's width: what is thinner is a crease, or the edge of a sheet
_SOLID_FILL_SHARE = 0.68  # of its box: what fills more, and is as high as it is wide, is a dot or a hole
_MAX_RIM_WIDTHS = 3.0  # widths of a stroke along the border: a stroke that is cut there touches it for less
_MIN_READABLE_SIDE = 8  # pixels: where nothing is longer, there is nothing to be read
_BORDER_MARGIN = 0.006  # of the picture: what comes so near to its side reaches it
_MAX_LINE_THICKNESS = 0.12  # of its length: the box of a printed line is no thicker
_LENGTH_RATIO_ABOVE, _LENGTH_RATIO_BESIDE = (1.2, 1.4)  # lengths of the rest: a line over it, or beside it, is longer
_MIN_LINE_GAPS = (0.5, 1.5)  # widths of that line, and how far it is from the rest: over, and beside it


@dataclass(frozen=True, eq=False)
class _ComponentMeasures:
    """Figures of a mask's P connected components: arrays (P,) by the component's label less one."""

    areas: Values
    widths: Values
    boxes: Values  # (P, 4): top, left, bottom, right
    contacts: Values  # pixels on the picture's border

    @property
    def extents(self) -> Values:
        """The longer side of each component's box."""
        return np.maximum(self.boxes[:, 2] - self.boxes[:, 0], self.boxes[:, 3] - self.boxes[:, 1])


def remove_specks(mask: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], float]:
    """The strokes of a mask bool (H, W), and the width of the pen in pixels, 0 without ink."""
    from scipy import ndimage

    if not mask.any():
        return mask, 0.0
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left, bottom, right = rows[0], columns[0], rows[-1] + 1, columns[-1] + 1
    cut = np.ascontiguousarray(mask[top:bottom, left:right])
    labels, count = ndimage.label(cut, np.ones((3, 3), np.uint8))
    components = _measure_components(labels, count, _collect_border_labels(labels, (top, left), mask.shape))
    stays = _select_pen_strokes(components)
    if components.extents[stays].max(initial=0) < min(_MIN_READABLE_SIDE, 0.2 * max(mask.shape)):
        stays[:] = False
    cleaned = np.zeros_like(mask)
    cleaned[top:bottom, left:right] = np.concatenate([[False], stays])[labels]
    weights = components.areas * stays
    return cleaned, _weighted_median(components.widths, weights)


def _collect_border_labels(
    labels: NDArray[np.integer], corner: tuple[int, int], shape: tuple[int, ...]
) -> list[NDArray[np.integer]]:
    """The labels along the picture's four sides, and along four lines a little inside of them.

    Args:
      labels: (h, w), of a part of the picture.
      corner: top and left of that part in the picture.
      shape: (H, W) of the picture.
    """
    border_labels: list[NDArray[np.integer]] = []
    for axis in (0, 1):
        inside = round(_BORDER_MARGIN * shape[axis])
        for place in {0, inside, shape[axis] - 1 - inside, shape[axis] - 1}:
            if 0 <= place - corner[axis] < labels.shape[axis]:
                border_labels.append(np.asarray(labels.take(place - corner[axis], axis)))
    return border_labels


def _measure_components(
    labels: NDArray[np.integer], count: int, borders: list[NDArray[np.integer]]
) -> _ComponentMeasures:
    """Figures of each of `count` components; `borders` as `_collect_border_labels` gives them."""
    from scipy import ndimage

    padded = np.pad(labels, 1)
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:].astype(float)
    outline = np.zeros(count + 1)
    for near, far in (
        (padded[1:], padded[:-1]),
        (padded[:-1], padded[1:]),
        (padded[:, 1:], padded[:, :-1]),
        (padded[:, :-1], padded[:, 1:]),
    ):
        outline += np.bincount(near[(near > 0) & (far == 0)], minlength=count + 1)
    contacts = np.zeros(count + 1)
    for border in borders:
        contacts = np.maximum(contacts, np.bincount(border, minlength=count + 1))
    boxes = np.array([(y.start, x.start, y.stop, x.stop) for y, x in ndimage.find_objects(labels)], float)
    # Outlines on a grid are 4/π as long as the curve, over all directions.
    widths = 2 * areas / (outline[1:] * np.pi / 4)
    return _ComponentMeasures(areas, widths, boxes.reshape(-1, 4), contacts[1:])


def _select_pen_strokes(components: _ComponentMeasures) -> NDArray[np.bool_]:
    stays = _exclude_border_components(components)
    stays &= ~_find_printed_lines(components, stays)
    solid = _find_solid_shapes(components) & stays
    if (stays & ~solid).any():
        stays &= ~solid
    weights = components.areas * stays
    pen, tall = (_weighted_median(components.widths, weights), _weighted_median(components.extents, weights))
    speck = (components.extents < _MAX_SPECK_SIZE * tall) | (
        components.areas < _MAX_DUST_SHARE * weights.max(initial=0)
    )
    speck &= components.extents < 0.5 * tall
    return stays & ~speck & (components.widths >= _MIN_WIDTH_RATIO * pen)


def _exclude_border_components(components: _ComponentMeasures) -> NDArray[np.bool_]:
    """All but what lies along the border, or reaches it and was not drawn by the pen inside."""
    touching = components.contacts > 0
    along = components.contacts > np.maximum(_MAX_RIM_WIDTHS * components.widths, 0.25 * components.extents)
    stays = ~along
    inner = ~touching
    weights = components.areas * inner
    shorn = components.contacts > 1.7 * components.widths
    stays &= ~(shorn & (components.areas < 0.3 * weights.max(initial=0)))
    if not weights.any():
        return stays if stays.any() else np.ones_like(stays)
    pen, tall = (_weighted_median(components.widths, weights), _weighted_median(components.extents, weights))
    other = (components.widths > 1.5 * pen) | (components.widths < 0.6 * pen)
    if tall > 0.2 * (components.extents * touching).max(initial=0):
        stays &= ~(touching & other)
    return stays


def _find_printed_lines(components: _ComponentMeasures, stays: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Straight lines that all shorter ink lies beside, at some distance.

    What is left of a form's or a table's frame around one cell: in a picture of the cell alone the
    lines are few and short, so that `ruled_lines` finds none.
    """
    line_mask = np.zeros(len(stays), bool)
    for line in np.flatnonzero(stays):
        rest = components.boxes[stays & (components.extents * _LENGTH_RATIO_ABOVE < components.extents[line])]
        if not len(rest):
            continue
        own = components.boxes[line]
        hull = np.concatenate([rest[:, :2].min(axis=0), rest[:, 2:].max(axis=0)])
        long, thick = own[2:] - own[:2], components.areas[line] / max(components.extents[line], 1)
        for along, beyond, away in (
            (0, _LENGTH_RATIO_BESIDE, _MIN_LINE_GAPS[1]),
            (1, _LENGTH_RATIO_ABOVE, _MIN_LINE_GAPS[0]),
        ):
            other, length = 1 - along, long[along]
            within = own[along] <= hull[along] and hull[along + 2] <= own[along + 2]
            gap = max(own[other] - hull[other + 2], hull[other] - own[other + 2])
            thin = max(long[other], 2 * thick) <= _MAX_LINE_THICKNESS * length + 1
            longer = length >= beyond * (hull[along + 2] - hull[along])
            line_mask[line] |= thin and within and longer and gap > away * thick
    return line_mask


def _find_solid_shapes(components: _ComponentMeasures) -> NDArray[np.bool_]:
    high = components.boxes[:, 2] - components.boxes[:, 0]
    wide = components.boxes[:, 3] - components.boxes[:, 1]
    square = np.minimum(high, wide) > 0.7 * np.maximum(high, wide)
    return square & (components.areas > _SOLID_FILL_SHARE * high * wide)


def _weighted_median(values: Values, weights: Values) -> float:
    """The median of values (P,) by weights; 0 where all weights are 0."""
    order = np.argsort(values)
    summed = np.cumsum(weights[order])
    if not summed.size or summed[-1] <= 0:
        return 0.0
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])


def apply_hysteresis_threshold(low: NDArray[np.bool_], high: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """The connected components of `low` with a pixel of `high` in them (Canny 1986), both (H, W).

    Returns:
      A mask (H, W), and how many components it has.
    """
    from scipy import ndimage

    mask = np.zeros_like(low)
    rows, columns = np.flatnonzero(low.any(axis=1)), np.flatnonzero(low.any(axis=0))
    if not rows.size:
        return mask, 0
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    labels, count = ndimage.label(low[box], np.ones((3, 3), np.uint8))
    sure = np.zeros(count + 1, bool)
    sure[labels[high[box]]] = True
    sure[0] = False
    mask[box] = sure[labels]
    return mask, int(sure.sum())
