"""Everything that a view shows, as lines of text."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures.palette import LIGHT
from ensemble.views.iteration import DefaultChooser, iterate_parts
from ensemble.views.parts import Figure, Figures, Images, Table, View

LISTED_VALUES = 6  # of an array, from its start and from its end
RUN_ID = re.compile(r"\b[a-z][a-z0-9_]*-\d{4}-\d{6}(?:-\d+)?\b")
# What the clock and this machine have in it.
PASSING = re.compile(
    r"\d{1,2} [A-Z][a-z]{2,8}(?: \d{4})?,? \d\d:\u2060?\d\d(?::\u2060?\d\d)?(?: \(\d+\))?"
    r"|\d{1,2} [A-Z][a-z]{2,8} \d{4}|year = \{\d{4}\}|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"
    r"|\b(?:\d+ (?:s|min|h|seconds?|minutes?) ago|just now)\b|on \d+ devices?|\b[0-9a-f]{16}\b|\b\d{10}\.\d+\b"
)
LEFT_OUT = {"strip", "icon", "key", "width", "height"}  # fields of parts: a picture, and how they are laid out


def render_view(view: View, chooser: DefaultChooser) -> Iterator[str]:
    for part in iterate_parts(view, chooser):
        yield from render_part(part)


def render_part(part: Any) -> Iterator[str]:
    """Yield the lines of a part of a view: its fields, with figures drawn and tables made."""
    if isinstance(part, Figures):
        for word in part.choice.values if part.choice else ("",):
            yield from render_part(part.figure(word))
            if note := part.notes.get(word):
                yield f"  note: {note()}"
        return
    yield type(part).__name__
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, pd.DataFrame):
            yield from render_table(value)
        elif field.name not in LEFT_OUT and not callable(value) and not (isinstance(value, str | bool) and not value):
            yield f"  {field.name}: {render_value(value)}"
    match part:
        case Figure():
            figure = part.draw(LIGHT).to_plotly_json()
            figure["layout"].pop("template", None)
            for trace in figure["data"]:
                yield f"  {trace['type']} {trace.get('name') or ''}: {render_value(trace)}"
            yield f"  layout: {render_value(figure['layout'])}"
            yield from render_table(part.table())
        case Table() if part.numbers:
            yield from render_table(part.numbers())
        case Images() if part.list_lines_below and len(part.numbers):
            yield f"  below: {render_value(part.list_lines_below(int(part.numbers[0])))}"


def render_table(frame: pd.DataFrame) -> Iterator[str]:
    for name in frame:
        yield f"  column {name}: {render_value(frame[name].to_numpy())}"


def render_value(value: Any) -> str:
    """Return a value as text: fractions with five digits; long lists as their start and a hash, or as summaries."""
    return json.dumps(simplify(value), ensure_ascii=False, default=str)


def simplify(value: Any) -> Any:
    match value:
        case bool() | None | int() | str():
            return value
        case float() | np.floating():
            return float(f"{value:.5g}")
        case np.integer() | np.bool_():
            return value.item()
        case np.ndarray() if value.dtype.kind == "f":
            return summarize_floats(value)
        case np.ndarray():
            return simplify(value.tolist())
        case {"dtype": str(kind), "bdata": str(packed)}:  # Plotly's arrays
            return simplify(np.frombuffer(base64.b64decode(packed), kind))
        case Mapping():
            return {str(key): simplify(inner) for key, inner in value.items()}
        case Sequence() if value and all(isinstance(inner, float | np.floating) for inner in value):
            return summarize_floats(np.array(value))
        case Sequence() if len(value) > 2 * LISTED_VALUES:
            whole = json.dumps([round_figures(simplify(inner)) for inner in value], default=str)
            return [*map(simplify, value[:LISTED_VALUES]), len(value), hash_text(whole)]
        case Sequence():
            return list(map(simplify, value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: simplify(getattr(value, field.name)) for field in fields(value)}
    return type(value).__name__ if callable(value) else str(value)


def summarize_floats(values: NDArray[np.floating]) -> Any:
    """Return few values as they are, of many the shape, the mean, the mean of squares and a sum with rising weights.

    Values below a millionth of the largest are 0, because their digits are rounding errors.
    """
    flat = np.nan_to_num(values.ravel().astype(float), nan=-1e-3)
    largest = np.abs(flat).max(initial=0.0)
    flat = np.where(np.abs(flat) < 1e-6 * largest, 0.0, flat)
    if flat.size <= 2 * LISTED_VALUES:
        return [simplify(float(value)) for value in flat]
    weighted = (flat * np.linspace(0.5, 1.5, flat.size)).mean()
    return [values.shape, *(simplify(float(value)) for value in (flat.mean(), (flat**2).mean(), weighted))]


def round_figures(value: Any) -> Any:
    """Drop fractions within a hashed list: no tolerance is possible there."""
    return round(value) if isinstance(value, float) and np.isfinite(value) else value


def hash_text(text: str) -> str:
    return hashlib.sha256(replace_passing(text, {}).encode()).hexdigest()[:12]


def replace_passing(text: str, names: Mapping[str, str]) -> str:
    """Replace the identifiers of runs by their names, and what differs from day to day."""
    return PASSING.sub("TIME", RUN_ID.sub(lambda found: names.get(found[0], "RUN"), text))
