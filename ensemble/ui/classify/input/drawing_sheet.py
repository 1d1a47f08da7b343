"""A sheet to draw digits on with a mouse, a finger or a pen.

A component of our own: it keeps its strokes through every rerun, draws them smoothly at the
screen's own resolution, and sends them as numbers, which are drawn again here, so that what
is read does not depend on the screen. Its script stands in `js/`.
"""

import functools
import io
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from PIL import Image, ImageDraw

from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab

KEY = "classify_sheet"
_DEFAULT_PEN_PX = 18  # pixels: on a digit 200 high about what MNIST's pens are
_MAX_STROKES, _MAX_STROKE_NUMBERS = (400, 6_000)  # on a sheet, and in one of them: a browser may send anything
_SIDE_LIMITS_PX = (60, 1600)
_SUPERSAMPLING = 2  # drawn so many times larger, then made smaller: soft edges
SCRIPTS = ("boxes.js", "strokes.js", "channel.js", "sheet.js")
STYLES = ("boxes.css", "sheet.css")
HTML = """
<div class="sheet">
  <div class="paper">
    <canvas role="img" aria-label="Sheet to draw digits on"></canvas>
    <div class="boxes" aria-hidden="true"></div>
    <div class="hint"></div>
  </div>
  <div class="bar">
    <button type="button" class="undo" title="Take the last stroke back (Ctrl+Z)" disabled>
      Undo
    </button>
    <button type="button" class="clear" title="Start with an empty sheet" disabled>Clear</button>
    <label>Pen <input class="width" type="range" min="6" max="40" step="2"
      aria-label="Width of the pen" disabled></label>
  </div>
</div>
"""

Point = tuple[float, float]


def show_drawing_sheet(boxes: Sequence[dict[str, Any]], serial: int, hint: str) -> None:
    """The sheet, with what the ensemble says drawn over it.

    Args:
      boxes: `place` in pixels of the drawing, `said`, `rejected`, `open`.
      serial: the number of the drawing that they belong to; over another one none is shown.
    """
    kept = read_sheet_drawing()
    _create_sheet_component()(
        data={
            "strokes": kept.get("strokes", []),
            "pen": kept.get("pen", _DEFAULT_PEN_PX),
            "serial": serial,
            "boxes": list(boxes),
            "hint": hint,
        },
        key=KEY,
        on_drawing_change=_keep_sent_drawing,
    )


def _keep_sent_drawing() -> None:
    """Callback: the drawing outlives the component, which goes with another input."""
    drawn = parse_sent_drawing(widget_state.get_widget_value(KEY).get("drawing"))
    if drawn is not None:
        tab.drawing = drawn


def read_sheet_drawing() -> dict[str, Any]:
    """What is on the sheet: strokes, their serial, pen, width and height; {} at first."""
    return dict(tab.drawing)


def read_drawing_serial() -> int:
    """The drawing's number: one more at every change."""
    return int(read_sheet_drawing().get("serial", 0))


def parse_sent_drawing(sent: Any) -> dict[str, Any] | None:
    """What a browser sent, within bounds; None for what is no drawing."""
    try:
        strokes = [
            {
                "w": _clamp_sent_number(stroke["w"], 1, 80),
                "p": _check_stroke_path([_clamp_sent_number(v, -4000, 4000) for v in stroke["p"]]),
            }
            for stroke in sent["strokes"][:_MAX_STROKES]
        ]
        return {
            "strokes": strokes,
            "serial": int(sent["serial"]),
            "pen": _clamp_sent_number(sent["pen"], 1, 80),
            "width": round(_clamp_sent_number(sent["width"], *_SIDE_LIMITS_PX)),
            "height": round(_clamp_sent_number(sent["height"], *_SIDE_LIMITS_PX)),
        }
    except (TypeError, KeyError, ValueError):
        return None


def _check_stroke_path(numbers: list[float]) -> list[float]:
    """x, y, x, y, … of one stroke.

    Raises:
      ValueError: they are no pairs, or more than anybody draws.
    """
    if len(numbers) < 2 or len(numbers) % 2 or len(numbers) > _MAX_STROKE_NUMBERS:
        raise ValueError("not a stroke")
    return numbers


def _clamp_sent_number(value: Any, low: float, high: float) -> float:
    """A finite number brought within bounds.

    Raises:
      ValueError: it is none.
    """
    if not math.isfinite(value):
        raise ValueError("not a number")
    return float(min(max(value, low), high))


def encode_drawing_png(drawn: dict[str, Any]) -> bytes:
    size = drawn["width"] * _SUPERSAMPLING, drawn["height"] * _SUPERSAMPLING
    page = Image.new("L", size, 255)
    draw = ImageDraw.Draw(page)
    for stroke in drawn["strokes"]:
        _draw_ink_stroke(draw, _smooth_stroke_points(stroke["p"]), stroke["w"] * _SUPERSAMPLING / 2)
    buffer = io.BytesIO()
    page.reduce(_SUPERSAMPLING).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _draw_ink_stroke(draw: ImageDraw.ImageDraw, along: Sequence[Point], radius: float) -> None:
    scaled = [(x * _SUPERSAMPLING, y * _SUPERSAMPLING) for x, y in along]
    for x, y in scaled:
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=0)
    if len(scaled) > 1:
        draw.line(scaled, fill=0, width=max(1, round(2 * radius)))


def _smooth_stroke_points(flat: Sequence[float]) -> list[Point]:
    """Points along a stroke: curves through the middles, with the points as their handles."""
    handles = list(zip(flat[::2], flat[1::2], strict=True))
    if len(handles) < 3:
        return handles
    curve_points, start = [handles[0]], handles[0]
    for handle, after in itertools.pairwise(handles[1:]):
        end = _compute_midpoint(handle, after)
        curve_points += [_evaluate_bezier_curve(start, handle, end, step / 4) for step in (1, 2, 3, 4)]
        start = end
    return [*curve_points, handles[-1]]


def _compute_midpoint(point: Point, other: Point) -> Point:
    return (point[0] + other[0]) / 2, (point[1] + other[1]) / 2


def _evaluate_bezier_curve(start: Point, handle: Point, end: Point, at: float) -> Point:
    """The point `at`, 0 to 1, of a quadratic Bézier curve."""
    a, b, c = (1 - at) ** 2, 2 * at * (1 - at), at**2
    return (a * start[0] + b * handle[0] + c * end[0], a * start[1] + b * handle[1] + c * end[1])


@functools.cache
def _create_sheet_component() -> Any:
    """The component, registered once: its scripts are plain functions, joined in order."""
    folder = Path(__file__).parents[1] / "js"
    return st.components.v2.component(
        "ensemble_sheet",
        html=HTML,
        css="\n".join((folder / name).read_text() for name in STYLES),
        js="\n".join((folder / name).read_text() for name in SCRIPTS),
    )
