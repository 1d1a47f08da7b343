"""Two objectives against each other, and the trials that no other beats in both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ensemble.figures import chart_style
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.figures.comparison.scatter import build_column_axis, build_scatter_points
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 440


def plot_pareto_front(
    x: AxisColumn, y: AxisColumn, on_front: Sequence[bool], names: Sequence[str], title: str, palette: Palette
) -> "go.Figure":
    """A point a trial; those of the Pareto front bold, and joined.

    Args:
      on_front: (T,), whether each is on the front.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Scatter(front_trace) for front_trace in build_front_traces(x, y, on_front, names, palette)])
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    chart.update_xaxes(build_column_axis(x, False), title=escaping.escape_plotly_text(x.axis_title), automargin=True)
    chart.update_yaxes(build_column_axis(y, False), title=escaping.escape_plotly_text(y.axis_title), automargin=True)
    return chart


def build_front_traces(
    x: AxisColumn, y: AxisColumn, on_front: Sequence[bool], names: Sequence[str], palette: Palette
) -> list[dict[str, Any]]:
    there = [place for place, value in enumerate(x.values) if value is not None and y.values[place] is not None]
    front = sorted((place for place in there if on_front[place]), key=lambda place: float(x.values[place] or 0.0))
    beaten = [place for place in there if not on_front[place]]
    traces = []
    if beaten:
        traces.append(
            build_scatter_points(x, y, None, names, beaten)
            | {"name": "beaten by another", "marker": {"size": 7, "color": MUTED_COLOR, "opacity": 0.7}}
        )
    traces.append(
        build_scatter_points(x, y, None, names, front)
        | {
            "name": "Pareto front",
            "mode": "lines+markers",
            "line": {"color": palette.ink, "width": 1.5, "dash": "dot"},
            "marker": {"size": 11, "color": palette.ink, "symbol": "diamond"},
        }
    )
    return traces
