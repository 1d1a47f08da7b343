"""Parallel coordinates: a line a run over axes of settings and figures, to be brushed.

A component of our own: Plotly's parallel coordinates tell Streamlit nothing of their brushes.
Here lines are dimmed in the browser while one is dragged, and the page hears once, at its end.
Its scripts stand in `js/`.
"""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ensemble import runs
from ensemble.figures.comparison.columns import AxisColumn, build_parallel_axes
from ensemble.ui.compare.axis_brushes import Brush, parse_browser_brushes
from ensemble.ui.frame.chart_component import register_chart
from ensemble.ui.shared import widget_state
from ensemble.wording import formats
from ensemble.wording.provenance import format_program_version
from ensemble.wording.run_names import format_unique_run_name

SCRIPTS = ("scales.js", "brush.js", "draw.js", "save.js", "coordinates.js")
KEY = "compare_coordinates"
TITLE = "Parallel coordinates"


def show_run_coordinates(
    every: Sequence[runs.Run],
    columns: Sequence[AxisColumn],
    colors: Sequence[str],
    brushes: Mapping[str, Brush],
    on_brush: Callable[[dict[str, Brush]], None],
) -> None:
    """Draw the runs over these columns, and what is brushed.

    Args:
      colors: (R,), of the lines.
    """
    titles = [column.label for column in columns]
    text = f"{formats.format_count(len(every), 'run')} over {', '.join(titles)}"
    caption = f"{TITLE} · {formats.format_count(len(every), 'run')}"
    chart = {
        "axes": build_parallel_axes(columns),
        "runs": [
            {"id": run.id, "name": format_unique_run_name(run), "color": color}
            for run, color in zip(every, colors, strict=True)
        ],
        "caption": caption,
        "title": TITLE,
        "about": f"{caption} · {format_program_version()}",
        "alt": f"{TITLE}: {text}. Tab reaches both ends of every axis; the arrow keys brush.",
        "file": "parallel-coordinates",
    }
    # As text: Streamlit looks for tables in anything else.
    create_run_coordinates()(
        data={"chart": json.dumps(chart), "keep": json.dumps(brushes)},
        key=KEY,
        on_brushed_change=functools.partial(_apply_sent_brushes, columns, on_brush),
    )


def _apply_sent_brushes(columns: Sequence[AxisColumn], on_brush: Callable[[dict[str, Brush]], None]) -> None:
    """Callback: a brush has ended."""
    sent = widget_state.get_widget_value(KEY).get("brushed")
    if isinstance(sent, str):
        on_brush(parse_browser_brushes(sent, columns))


@functools.cache
def create_run_coordinates() -> Any:
    folder = Path(__file__).parent / "js"
    return register_chart("parallel_coordinates", folder, "coordinates.css", SCRIPTS)
