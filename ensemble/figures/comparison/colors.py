"""Colours of groups and of values, told apart on both grounds and with any colour vision."""

import math

from ensemble.figures.comparison.columns import Column, Value
from ensemble.figures.palette import MEMBER_HUES, MUTED, mixed

# From little to much. Each is legible as a thin line on white and on black.
SCALE = ("#4477AA", "#AA3377", "#D9661F")


def of_groups(count: int) -> list[str]:
    """A colour a group: hues of a few; of many, which have an order, from first to last."""
    if count <= len(MEMBER_HUES):
        return list(MEMBER_HUES[:count])
    return [of_share(place / (count - 1)) for place in range(count)]


def of_share(share: float) -> str:
    """A colour of SCALE, by how far along it is in [0, 1]."""
    at = min(max(share, 0.0), 1.0) * (len(SCALE) - 1)
    below = min(int(at), len(SCALE) - 2)
    return mixed(SCALE[below], SCALE[below + 1], at - below)


def of_values(column: Column | None) -> list[str]:
    """A colour a run by its value, by its logarithm where that suits; grey where there is none."""
    if column is None:
        return []
    if not column.is_number:
        words = column.words
        hues = of_groups(len(words))
        return [
            MUTED if value is None else hues[words.index(str(value))] for value in column.values
        ]
    places = [place(column, value) for value in column.values]
    known = [one for one in places if one is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = high - low or 1.0
    return [MUTED if one is None else of_share((one - low) / room) for one in places]


def place(column: Column, value: Value) -> float | None:
    """Where a number stands on its axis."""
    if value is None or isinstance(value, str):
        return None
    return math.log10(value) if column.log and column.may_log else float(value)


def scale() -> list[tuple[float, str]]:
    """SCALE as a figure takes it."""
    return [(at / (len(SCALE) - 1), color) for at, color in enumerate(SCALE)]
