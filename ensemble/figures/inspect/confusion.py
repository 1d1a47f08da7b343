"""The confusion matrix: what images are against what the ensemble says they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions
from ensemble.figures import lines
from ensemble.figures.palette import RIGHT, WRONG, Palette, mixed, on
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

SIDE = 30  # pixels of a cell's square: ten of them fit a phone
Matrix = NDArray[np.int64]
Cell = tuple[int, int]  # what it is, what the ensemble says


def confusion(made: Predictions) -> Matrix:
    """(C, C): how many images of the row's class the ensemble says are of the column's."""
    classes = made.averaged.shape[1]
    cells = np.bincount(made.labels * classes + made.said, minlength=classes**2)
    return cells.reshape(classes, classes)


def figure(
    matrix: Matrix,
    cell: Cell | None,
    names: Sequence[str],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """Squares with their counts: rows are what it is, columns what the ensemble says.

    Squares of a scatter, for Streamlit tells of points that are chosen, but not of a heat
    map's cells.

    Args:
      matrix: (C, C), how many images of the row's class are said to be of the column's.
      cell: the one that is chosen.
      names: the classes' names, C of them.
      noun: what one image is called.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    names = [escaping.figure(name) for name in names]
    C = len(matrix)
    cells = [(row, column) for row in range(C) for column in range(C)]
    count = matrix.ravel().tolist()
    fills = [fill(one, row == column, matrix, palette) for (row, column), one in
             zip(cells, count, strict=True)]  # fmt: skip
    border = [2 if one == cell else 0 for one in cells]
    chart = go.Figure(go.Scatter(
        x=[said for _, said in cells], y=[label for label, _ in cells], mode="markers+text",
        marker={"symbol": "square", "size": SIDE, "opacity": 1, "color": fills,
                "line": {"color": palette.ink, "width": border}},
        text=[f"{one:,}" if one else "" for one in count],
        textfont={"size": 11, "color": [on(one) for one in fills]},
        selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
        customdata=cells, hoverinfo="text", showlegend=False, cliponaxis=False,
        hovertext=[tell(one, number, names, noun)
                   for one, number in zip(cells, count, strict=True)],
    ))  # fmt: skip
    chart.update_layout(lines.layout(title, 40 * C + 150, palette))
    chart.update_layout(margin_b=50)
    ticks = {"tickvals": list(range(C)), "ticktext": list(names), "showgrid": False,
             "zeroline": False, "fixedrange": True, "range": [-0.6, C - 0.4]}  # fmt: skip
    chart.update_xaxes(title="what the ensemble says", **ticks, constrain="domain")
    chart.update_yaxes(title="what it is", **{**ticks, "range": [C - 0.4, -0.6]}, scaleanchor="x",
                       constrain="domain", automargin=True)  # fmt: skip
    return chart


def fill(count: int, right: bool, matrix: Matrix, palette: Palette) -> str:
    """A cell's colour: blue where right, orange where wrong, stronger the more."""
    if not count:
        return palette.ground
    if right:
        return mixed(palette.ground, RIGHT, 0.25 + 0.6 * count / matrix.max())
    most = (matrix - np.diag(np.diag(matrix))).max()
    return mixed(palette.ground, WRONG, 0.15 + 0.85 * (count / most) ** 0.5)


def tell(cell: Cell, count: int, names: Sequence[str], noun: str) -> str:
    """A cell in words."""
    counted, (row, column) = formats.count(count, noun), cell
    if row == column:
        return f"{counted}: {names[row]}, and said to be"
    return f"{counted}: {names[row]}, said to be {names[column]}"


def table(matrix: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """The matrix with the classes' names: a row for what it is."""
    frame = pd.DataFrame(matrix, columns=[f"says {one}" for one in names])
    frame.insert(0, "is", list(names))
    return frame
