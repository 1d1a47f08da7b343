"""What the ensemble takes for what: a matrix whose cells open their images."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions, ordered
from ensemble.figures import lines
from ensemble.figures.palette import RIGHT, WRONG, Palette, mixed, on
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import controls
from ensemble.ui.shared import address, figure_panel
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

KEY = "inspect_confusion"
SIDE = 30  # pixels of a cell's square: ten of them fit a phone
Matrix = NDArray[np.int64]
Cell = tuple[int, int]  # what it is, what the ensemble says


def show(shown: Inspected) -> None:
    """Draw the matrix, and the images of the cell that is chosen; else all that are wrong."""
    matrix = measured(shown, confusion)
    cell = read(len(shown.names))
    title = f"Confusion matrix · {shown.source}"
    left, right = st.columns([3, 2], gap="large")
    with left:
        figure_panel.show(
            pictured(shown, lambda palette: drawn(shown, matrix, cell, title, palette), KEY, cell),
            key=KEY, name=f"{shown.stem}-confusion",
            title="The confusion matrix", table=lambda: table(shown, matrix),
            alt=f"What {shown.n:,} {shown.noun}s are against what the ensemble says",
            sees=sees(shown, matrix), on_select=pressed,
        )  # fmt: skip
    with right:
        choose_cell(shown, matrix, cell)
        digits_of(shown, cell)


def digits_of(shown: Inspected, cell: Cell | None) -> None:
    """The images of a cell, or all that are wrong."""
    kept = ~shown.made.right
    if cell:
        kept = (shown.made.labels == cell[0]) & (shown.made.said == cell[1])
    numbers = np.flatnonzero(kept)
    if not len(numbers):
        st.info(f"There is no such {shown.noun}.", icon=":material/check:")
    images.show(shown, ordered(shown.made, numbers, "unsure"), key="inspect_confused",
                        rows=4)  # fmt: skip


def confusion(made: Predictions) -> Matrix:
    """(C, C): how many images of the row's class the ensemble says are of the column's."""
    classes = made.averaged.shape[1]
    cells = np.bincount(made.labels * classes + made.said, minlength=classes**2)
    return cells.reshape(classes, classes)


def read(classes: int) -> Cell | None:
    """The cell that the address names, as "4-9": those that are 4 and taken for 9."""
    row, _, column = st.query_params.get("cell", "").partition("-")
    is_, said = address.whole(row), address.whole(column)
    if is_ is None or said is None or max(is_, said) >= classes:
        return None
    return is_, said


def spoken(cell: Cell | None) -> str:
    """A cell as the address has it: "4-9"; "" for none."""
    return "" if cell is None else f"{cell[0]}-{cell[1]}"


def pressed() -> None:
    """Callback of the picture: the cell that was pressed, or none any more."""
    points = st.session_state[KEY].selection.points
    row, column = points[0]["customdata"] if points else (0, 0)
    address.put("cell", spoken((row, column)) if points else None)


def drawn(
    shown: Inspected, matrix: Matrix, cell: Cell | None, title: str, palette: Palette
) -> "go.Figure":
    """Squares with their counts: rows are what it is, columns what the ensemble says.

    Squares of a scatter, for Streamlit tells of points that are chosen, but not of a heat
    map's cells.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    C, names = len(matrix), shown.names
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
        hovertext=[tell(shown, one, number) for one, number in zip(cells, count, strict=True)],
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


def tell(shown: Inspected, cell: Cell, count: int) -> str:
    """A cell in words."""
    names, counted, (row, column) = shown.names, formats.count(count, shown.noun), cell
    if row == column:
        return f"{counted}: {names[row]}, and said to be"
    return f"{counted}: {names[row]}, said to be {names[column]}"


def sees(shown: Inspected, matrix: Matrix) -> str:
    """The commonest mistake."""
    wrong = matrix - np.diag(np.diag(matrix))
    if not wrong.any():
        return f"The ensemble gets every {shown.noun} right: all stand on the diagonal."
    row, column = divmod(int(wrong.argmax()), len(wrong))
    return (
        f"The commonest mistake is {shown.names[row]} taken for {shown.names[column]}: "
        f"{int(wrong.max()):,} of {formats.count(int(wrong.sum()), 'mistake')}. "
        f"Press a square to see its {shown.noun}s."
    )


def choose_cell(shown: Inspected, matrix: Matrix, cell: Cell | None) -> None:
    """The same choice from the keyboard: the mistakes, the commonest first."""
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong.ravel(), kind="stable")[: int((wrong > 0).sum())]
    cells = [divmod(int(one), len(matrix)) for one in order]
    if cell and cell not in cells:
        cells.append(cell)
    options = {spoken(one): name(shown, matrix, one) for one in (None, *cells)}
    stamp = controls.stamp(options.values())
    address.bound(f"inspect_cell_{stamp}", spoken(cell), lambda key: st.selectbox(
        "Shown", list(options), key=key, format_func=options.__getitem__,
        on_change=lambda: address.put("cell", st.session_state[key] or None),
    ))  # fmt: skip


def name(shown: Inspected, matrix: Matrix, cell: Cell | None) -> str:
    """A cell on the control: "4 taken for 9 · 12"."""
    if cell is None:
        return f"All mistakes · {int((~shown.made.right).sum()):,}"
    is_, said = shown.names[cell[0]], shown.names[cell[1]]
    how = f"{is_} taken for {said}" if is_ != said else f"{is_}, and right"
    return f"{how} · {int(matrix[cell]):,}"


def table(shown: Inspected, matrix: Matrix) -> pd.DataFrame:
    """The matrix with the classes' names: a row for what it is."""
    frame = pd.DataFrame(matrix, columns=[f"says {one}" for one in shown.names])
    frame.insert(0, "is", list(shown.names))
    return frame
