"""The picture of an experiment with labels: both arms' accuracy by how many labels they have."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.acquisition.learning_results import LearningCurves
from ensemble.figures import chart_style
from ensemble.figures.palette import MEMBER_HUES, MUTED_COLOR, Palette, parse_hex_color
from ensemble.wording import formats

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

HEIGHT = 400
_CHOSEN_NAME, _RANDOM_NAME = "chosen by the members", "drawn at random"
_SEED_OPACITY = 0.4


def plot_learning_arms(curves: LearningCurves, title: str, palette: Palette) -> "go.Figure":
    """Both arms: the mean over seeds bold, each seed thin; the random arm dashed."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    arms = (
        (_RANDOM_NAME, curves.at_random, {"color": MUTED_COLOR, "dash": "dash"}),
        (_CHOSEN_NAME, curves.chosen, {"color": MEMBER_HUES[0], "dash": "solid"}),
    )
    traces = [_build_seed_trace(curves, row, line) for _, values, line in arms for row in 100 * values]
    traces += [_build_mean_trace(curves, name, 100 * values, line) for name, values, line in arms]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    chart.update_xaxes(title="labels", tickvals=list(curves.label_counts), tickformat=",", fixedrange=True)
    chart.update_yaxes(title="accuracy on test images", ticksuffix=" %", automargin=True, fixedrange=True)
    return chart


def _build_seed_trace(curves: LearningCurves, values: NDArray[np.float64], line: dict[str, Any]) -> dict[str, Any]:
    red, green, blue = parse_hex_color(line["color"])
    return {
        "x": list(curves.label_counts),
        "y": values,
        "mode": "lines",
        # A trace's own opacity darkens all that is behind it in some browsers.
        "line": {**line, "color": f"rgba({red}, {green}, {blue}, {_SEED_OPACITY})", "width": 1},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _build_mean_trace(
    curves: LearningCurves, name: str, values: NDArray[np.float64], line: dict[str, Any]
) -> dict[str, Any]:
    there = ~np.isnan(values).all(axis=0)
    means = [float(np.nanmean(column)) for column in values.T[there]]
    return {
        "x": np.array(curves.label_counts)[there],
        "y": means,
        "mode": "lines+markers",
        "name": name,
        "line": {**line, "width": 3},
        "marker": {"size": 8},
        "text": [formats.format_percent(mean / 100, curves.images) for mean in means],
        "hovertemplate": "%{x:,} labels: %{text}<extra>" + name + "</extra>",
    }


def tabulate_learning_arms(curves: LearningCurves) -> "pd.DataFrame":
    import pandas as pd

    rows = [
        {
            "seed": place + 1,
            "labels": labels,
            _CHOSEN_NAME: curves.chosen[place, number],
            _RANDOM_NAME: curves.at_random[place, number],
        }
        for place in range(len(curves.chosen))
        for number, labels in enumerate(curves.label_counts)
    ]
    return pd.DataFrame(rows)
