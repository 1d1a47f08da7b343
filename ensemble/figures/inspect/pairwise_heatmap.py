"""How far every two members differ, as a heat map."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.wording.verdicts.pairwise_measures import Matrix, PairwiseMeasure

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MAX_LABELED_MEMBERS = 10  # up to so many members a cell has its figure written in it


def plot_pairwise_heatmap(
    measure: PairwiseMeasure, values: Matrix, n: int, noun: str, title: str, palette: Palette
) -> "go.Figure":
    """The matrix as a heat map, member 1 on top and on the left.

    Args:
      values: (M, M), of every pair of members.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    M = len(values)
    numbers = [str(m + 1) for m in range(M)]
    hovers = [[measure.describe_cell(r, c, values[r, c], n, noun) for c in range(M)] for r in range(M)]
    cells = values.copy()
    if measure.blank_diagonal:
        np.fill_diagonal(cells, np.nan)
    chart = go.Figure(
        go.Heatmap(
            z=cells,
            x=numbers,
            y=numbers,
            hovertext=hovers,
            hoverinfo="text",
            xgap=1,
            ygap=1,
            colorscale=palette.heatmap_scale,
            showscale=M > _MAX_LABELED_MEMBERS,
            text=[[measure.format_cell(value) for value in row] for row in cells]
            if M <= _MAX_LABELED_MEMBERS
            else None,
            texttemplate="%{text}" if M <= _MAX_LABELED_MEMBERS else None,
            hoverongaps=False,
            colorbar={"title": {"text": measure.unit, "side": "right"}, "thickness": 12},
        )
    )
    chart.update_layout(chart_style.build_chart_layout(title, 420, palette))
    # Numbers of members are short: to measure them, Plotly would draw the matrix twice.
    chart.update_layout(margin_b=50, margin_l=56)
    axis = {
        "title": "member",
        "type": "category",
        "showgrid": False,
        "fixedrange": True,
        "constrain": "domain",
        "automargin": False,
    }
    chart.update_xaxes(axis)
    chart.update_yaxes(axis, autorange="reversed", scaleanchor="x")
    return chart


def tabulate_pairwise_values(values: Matrix) -> pd.DataFrame:
    names = [f"member {m + 1}" for m in range(len(values))]
    frame = pd.DataFrame(values, columns=names)
    frame.insert(0, "member", names)
    return frame
