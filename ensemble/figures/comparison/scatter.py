"""Any figure of several runs against any setting, coloured by a third."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.figures import chart_style
from ensemble.figures.comparison import colors
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 420
MARKER_SIZE = 10


def plot_run_scatter(
    x: AxisColumn,
    y: AxisColumn,
    color: AxisColumn | None,
    names: Sequence[str],
    kept: Sequence[bool],
    title: str,
    palette: Palette,
    log: Sequence[str] = (),
) -> "go.Figure":
    """A point a run; those that a brush has taken out are small and grey.

    Args:
      color: what colours the points; None for one colour.
      kept: (R,), which of them are brushed.
      log: which axes are log, of "x" and "y".
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure(
        [
            go.Scatter(trace)
            for trace in _build_scatter_traces(x, y, color=color, names=names, kept=kept, palette=palette)
        ]
    )
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    chart.update_xaxes(
        build_column_axis(x, "x" in log), title=escaping.escape_plotly_text(x.axis_title), automargin=True
    )
    chart.update_yaxes(
        build_column_axis(y, "y" in log), title=escaping.escape_plotly_text(y.axis_title), automargin=True
    )
    return chart


def build_column_axis(column: AxisColumn, log: bool) -> dict[str, Any]:
    if not column.is_number:
        words = [escaping.escape_plotly_text(word) for word in column.categories]
        return {"type": "category", "categoryorder": "array", "categoryarray": words}
    if log and column.can_use_log:
        drawn_at = [convert_axis_value(column, place) for place in range(len(column.values))]
        return {"type": "log", **chart_style.build_log_ticks(drawn_at, " %" if column.percent else "")}
    return {"type": "linear", "ticksuffix": " %" if column.percent else ""}


def _build_scatter_traces(
    x: AxisColumn, y: AxisColumn, color: AxisColumn | None, names: Sequence[str], kept: Sequence[bool], palette: Palette
) -> list[dict[str, Any]]:
    """The points that are left out first, so that the others stand over them."""
    whole = [place for place in range(len(names)) if x.values[place] is not None and y.values[place] is not None]
    out = [place for place in whole if not kept[place]]
    in_ = [place for place in whole if kept[place]]
    traces = []
    if out:
        traces.append(
            build_scatter_points(x, y, color, names, out)
            | {"name": "not brushed", "marker": {"size": 5, "color": MUTED_COLOR, "opacity": 0.3}}
        )
    if color is None or not color.is_number:
        return [*traces, *_build_category_traces(x, y, color=color, names=names, places=in_, palette=palette)]
    hues = colors.assign_column_colors(color)
    marker = {
        "size": MARKER_SIZE,
        "color": [hues[place] for place in in_],
        "line": {"color": palette.ground, "width": 1},
    }
    traces.append(
        build_scatter_points(x, y, color, names, in_)
        | {"name": f"brighter: more {color.label}", "marker": marker, "showlegend": False}
    )
    return [*traces, _build_color_bar(color)]


def _build_category_traces(
    x: AxisColumn,
    y: AxisColumn,
    color: AxisColumn | None,
    names: Sequence[str],
    places: Sequence[int],
    palette: Palette,
) -> list[dict[str, Any]]:
    """One trace a word that colours, each in the legend; one for all where nothing does."""
    edge = {"color": palette.ground, "width": 1}
    if color is None:
        marker = {"size": MARKER_SIZE, "color": palette.primary, "line": edge}
        return [build_scatter_points(x, y, None, names, places) | {"marker": marker, "showlegend": False}]
    hues = dict(zip(color.categories, colors.assign_group_colors(len(color.categories)), strict=True))
    categories = [(word, word, hue) for word, hue in hues.items()] + [(None, "none", MUTED_COLOR)]
    traces = []
    for word, name, hue in categories:
        if its := [place for place in places if color.values[place] == word]:
            traces.append(
                build_scatter_points(x, y, color, names, its)
                | {
                    "name": escaping.escape_plotly_text(name),
                    "marker": {"size": MARKER_SIZE, "color": hue, "line": edge},
                }
            )
    return traces


def build_scatter_points(
    x: AxisColumn, y: AxisColumn, color: AxisColumn | None, names: Sequence[str], places: Sequence[int]
) -> dict[str, Any]:
    columns = list(dict.fromkeys(column for column in (x, y, color) if column is not None))
    says = [
        "<br>".join(
            [
                f"<b>{escaping.escape_plotly_text(names[place])}</b>",
                *(
                    escaping.escape_plotly_text(f"{column.label}: {column.format_value(column.values[place])}")
                    for column in columns
                ),
            ]
        )
        for place in places
    ]
    return {
        "x": [convert_axis_value(x, place) for place in places],
        "y": [convert_axis_value(y, place) for place in places],
        "mode": "markers",
        "hovertext": says,
        "hoverinfo": "text",
    }


def convert_axis_value(column: AxisColumn, place: int) -> Any:
    value = column.values[place]
    if isinstance(value, str):
        return escaping.escape_plotly_text(value)
    return 100 * value if column.percent and value is not None else value


def _build_color_bar(color: AxisColumn) -> dict[str, Any]:
    values = [at for value in color.values if (at := colors.compute_axis_position(color, value)) is not None]
    log = color.log and color.can_use_log
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    ends = [low, high] if high > low else [low]
    labels = [color.format_value(10**at if log else at) for at in ends]
    return {
        "x": [None],
        "y": [None],
        "mode": "markers",
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {
            "color": [low],
            "cmin": low,
            "cmax": high if high > low else low + 1,
            "colorscale": colors.build_color_scale(),
            "showscale": True,
            "colorbar": {
                "title": {"text": escaping.escape_plotly_text(color.axis_title), "side": "right"},
                "tickvals": ends,
                "ticktext": labels,
                "thickness": 12,
                "outlinewidth": 0,
            },
        },
    }


def tabulate_run_scatter(
    columns: Sequence[AxisColumn], ids: Sequence[str], names: Sequence[str], kept: Sequence[bool]
) -> pd.DataFrame:
    """A row a run: what it is called and each of the columns; at the end whether it is brushed."""
    return pd.DataFrame(
        {
            "run": list(ids),
            "name": list(names),
            **{column.name: list(column.values) for column in columns},
            "brushed": list(kept),
        }
    )
