"""What came of the trials by one setting alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ensemble.figures import chart_style
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.figures.comparison.scatter import build_column_axis, convert_axis_value
from ensemble.figures.palette import Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT, MARKER_SIZE = 330, 9


def plot_setting_slice(
    column: AxisColumn, values: AxisColumn, numbers: Sequence[int], best: int | None, title: str, palette: Palette
) -> "go.Figure":
    """A point a trial; the best is larger, a diamond.

    Args:
      numbers: what the trials are called, from 1: T numbers.
      best: the place of the best; None where there is none.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure(
        [go.Scatter(slice_trace) for slice_trace in _build_slice_traces(column, values, numbers, best, palette)]
    )
    margin = {"l": 8, "r": 16, "t": 58, "b": 48}
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette, showlegend=False) | {"margin": margin})
    chart.update_xaxes(build_column_axis(column, column.log), title=escaping.escape_plotly_text(column.axis_title))
    chart.update_yaxes(
        build_column_axis(values, False), title=escaping.escape_plotly_text(values.axis_title), automargin=True
    )
    return chart


def _build_slice_traces(
    column: AxisColumn, values: AxisColumn, numbers: Sequence[int], best: int | None, palette: Palette
) -> list[dict[str, Any]]:
    there = [
        place for place, value in enumerate(values.values) if value is not None and column.values[place] is not None
    ]
    traces = [
        _build_trial_points(column, values, numbers, there)
        | {"marker": {"size": MARKER_SIZE, "color": palette.primary, "opacity": 0.75}}
    ]
    if best in there:
        ring = {
            "size": MARKER_SIZE + 5,
            "color": palette.ink,
            "symbol": "diamond",
            "line": {"color": palette.ground, "width": 1.5},
        }
        traces.append(_build_trial_points(column, values, numbers, [best]) | {"marker": ring})
    return traces


def _build_trial_points(
    column: AxisColumn, values: AxisColumn, numbers: Sequence[int], places: Sequence[int]
) -> dict[str, Any]:
    says = [
        "<br>".join(
            [
                f"<b>trial {numbers[place]}</b>",
                *(
                    escaping.escape_plotly_text(
                        f"{axis_column.label}: {axis_column.format_value(axis_column.values[place])}"
                    )
                    for axis_column in (column, values)
                ),
            ]
        )
        for place in places
    ]
    return {
        "x": [convert_axis_value(column, place) for place in places],
        "y": [convert_axis_value(values, place) for place in places],
        "mode": "markers",
        "hovertext": says,
        "hoverinfo": "text",
    }
