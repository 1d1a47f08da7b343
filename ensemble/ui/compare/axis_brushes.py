"""What is brushed on the parallel coordinates: which runs it leaves, and how an address has it.

"learning_rate:0.01..0.1;network:cnn|mlp": of a number a range, either end of which may be open,
of a choice its words. A run that has no value on a brushed axis is not kept.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from ensemble.figures.comparison.columns import AxisColumn

Range = tuple[float | None, float | None]
Brush = Range | tuple[str, ...]
_MAX_ADDRESS_LENGTH = 2000  # letters of an address that are read


def parse_brushes(text: str | None, columns: Sequence[AxisColumn]) -> dict[str, Brush]:
    """What an address says is brushed; parts that make no sense are left out.

    Args:
      columns: the axes that there are; another one cannot be brushed.
    """
    columns_by_name, brushes = {column.name: column for column in columns}, {}
    for part in (text or "")[:_MAX_ADDRESS_LENGTH].split(";"):
        name, _, brush_text = part.partition(":")
        if column := columns_by_name.get(name):
            brush = _parse_brush_range(brush_text) if column.is_number else _parse_brush_words(brush_text)
            if any(end is not None for end in brush):
                brushes[name] = brush
    return brushes


def _parse_brush_range(text: str) -> Range:
    """ "0.01..0.1", "..0.1" or "0.01.."; an end that is no number is open."""
    low, _, high = text.partition("..")
    return _parse_range_end(low), _parse_range_end(high)


def _parse_range_end(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _parse_brush_words(text: str) -> tuple[str, ...]:
    return tuple(unquote(word) for word in text.split("|") if word)


def format_brushes(brushes: Mapping[str, Brush]) -> str:
    return ";".join(f"{name}:{_format_brush(brush)}" for name, brush in brushes.items())


def _format_brush(brush: Brush) -> str:
    if _is_brush_range(brush):
        ends = ("" if end is None else repr(float(end)).removesuffix(".0") for end in brush)
        return "..".join(ends)
    return "|".join(quote(str(word), safe="") for word in brush)


def _is_brush_range(brush: Brush) -> bool:
    return len(brush) == 2 and not any(isinstance(end, str) for end in brush)


def parse_browser_brushes(text: str, columns: Sequence[AxisColumn]) -> dict[str, Brush]:
    """What the browser sends when a brush has ended, as JSON; nonsense is left out."""
    try:
        sent = json.loads(text[: 10 * _MAX_ADDRESS_LENGTH])
    except (ValueError, RecursionError):
        return {}
    parts = {}
    for name, brush in sent.items() if isinstance(sent, dict) else ():
        if isinstance(brush, list) and (part := _parse_browser_brush(brush)):
            parts[str(name)] = part
    return parse_brushes(format_brushes(parts), columns)


def _parse_browser_brush(brush: list[Any]) -> Brush | None:
    if brush and all(isinstance(word, str) for word in brush):
        return tuple(brush)
    numbers = all(end is None or (isinstance(end, int | float) and math.isfinite(end)) for end in brush)
    return (brush[0], brush[1]) if len(brush) == 2 and numbers else None


def compute_brush_mask(brushes: Mapping[str, Brush], columns: Sequence[AxisColumn]) -> list[bool]:
    rows = max((len(column.values) for column in columns), default=0)
    left = [True] * rows
    for column in columns:
        if (brush := brushes.get(column.name)) is not None:
            left = [
                before and _is_within_brush(brush, value) for before, value in zip(left, column.values, strict=True)
            ]
    return left


def _is_within_brush(brush: Brush, value: float | str | None) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        return value in brush
    low, high = brush if _is_brush_range(brush) else (None, None)
    return (low is None or value >= float(low)) and (high is None or value <= float(high))


def describe_brushes(brushes: Mapping[str, Brush], columns: Sequence[AxisColumn]) -> str:
    """What is brushed, as a person reads it: "learning rate 0.01 to 0.1, network MLP"."""
    columns_by_name = {column.name: column for column in columns}
    return ", ".join(
        f"{columns_by_name[name].label_in_sentence} {_describe_brush(brush, columns_by_name[name])}"
        for name, brush in brushes.items()
    )


def _describe_brush(brush: Brush, column: AxisColumn) -> str:
    if not _is_brush_range(brush):
        return " or ".join(map(str, brush))
    low, high = (None if end is None else column.format_value(float(end)) for end in brush)
    if low is None or high is None:
        return f"up to {high}" if low is None else f"from {low}"
    return f"{low} to {high}"
