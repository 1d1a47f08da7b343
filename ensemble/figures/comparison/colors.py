"""Colours of groups and of values, told apart on both grounds and with any colour vision."""

import math

from ensemble.figures.comparison.columns import AxisColumn, Value
from ensemble.figures.palette import MEMBER_HUES, MUTED_COLOR, mix_colors

# From little to much. Each is legible as a thin line on white and on black.
SCALE_COLORS = ("#4477AA", "#AA3377", "#D9661F")


def assign_group_colors(count: int) -> list[str]:
    """A colour a group: hues of a few; of many, which have an order, from first to last."""
    if count <= len(MEMBER_HUES):
        return list(MEMBER_HUES[:count])
    return [_interpolate_scale_color(place / (count - 1)) for place in range(count)]


def _interpolate_scale_color(share: float) -> str:
    """A color of `SCALE_COLORS`, by how far along it is in [0, 1]."""
    at = min(max(share, 0.0), 1.0) * (len(SCALE_COLORS) - 1)
    below = min(int(at), len(SCALE_COLORS) - 2)
    return mix_colors(SCALE_COLORS[below], SCALE_COLORS[below + 1], at - below)


def assign_column_colors(column: AxisColumn | None) -> list[str]:
    """A colour a run by its value, by its logarithm where that suits; grey where there is none."""
    if column is None:
        return []
    if not column.is_number:
        words = column.categories
        hues = assign_group_colors(len(words))
        return [MUTED_COLOR if value is None else hues[words.index(str(value))] for value in column.values]
    places = [compute_axis_position(column, value) for value in column.values]
    positions = [place for place in places if place is not None]
    low, high = (min(positions), max(positions)) if positions else (0.0, 1.0)
    room = high - low or 1.0
    return [MUTED_COLOR if place is None else _interpolate_scale_color((place - low) / room) for place in places]


def compute_axis_position(column: AxisColumn, value: Value) -> float | None:
    if value is None or isinstance(value, str):
        return None
    return math.log10(value) if column.log and column.can_use_log else float(value)


def build_color_scale() -> list[tuple[float, str]]:
    """`SCALE_COLORS` as a figure takes it."""
    return [(at / (len(SCALE_COLORS) - 1), color) for at, color in enumerate(SCALE_COLORS)]
