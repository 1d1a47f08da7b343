"""What the ensemble takes for what: a matrix whose cells open their images."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions, ordered
from ensemble.ui import address, figure, formats, inspect_digits, inspect_lines, theme
from ensemble.ui.inspect_loader import measured
from ensemble.ui.inspect_shown import Inspected

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
        figure.show(
            drawn(shown, matrix, cell, title), key=KEY, name=f"{shown.stem}-confusion",
            title="The confusion matrix", table=lambda: table(shown, matrix),
            alt=f"What {shown.n:,} {shown.noun}s are against what the ensemble says",
            sees=sees(shown, matrix), on_select=pressed,
        )  # fmt: skip
    with right:
        choose_cell(shown, matrix, cell)
    kept = ~shown.made.right
    if cell:
        kept = (shown.made.labels == cell[0]) & (shown.made.said == cell[1])
    numbers = np.flatnonzero(kept)
    if not len(numbers):
        st.info(f"There is no such {shown.noun}.", icon=":material/check:")
    inspect_digits.show(shown, ordered(shown.made, numbers, "unsure"), key="inspect_confused")


def confusion(made: Predictions) -> Matrix:
    """(C, C): how many images of the row's class the ensemble says are of the column's."""
    classes = made.averaged.shape[1]
    cells = np.bincount(made.labels * classes + made.said, minlength=classes**2)
    return cells.reshape(classes, classes)


def read(classes: int) -> Cell | None:
    """The cell that the address names, as "4-9": those that are 4 and taken for 9."""
    parts = [address.whole(part) for part in st.query_params.get("cell", "").split("-")]
    if len(parts) != 2 or parts[0] is None or parts[1] is None or max(parts) >= classes:  # type: ignore[type-var]
        return None
    return parts[0], parts[1]


def put(cell: Cell | None) -> None:
    """Write the cell into the address."""
    address.put("cell", None if cell is None else f"{cell[0]}-{cell[1]}")


def pressed() -> None:
    """Callback of the picture: the cell that was pressed, or none any more."""
    points = st.session_state[KEY].selection.points
    put(tuple(points[0]["customdata"][:2]) if points else None)


def drawn(shown: Inspected, matrix: Matrix, cell: Cell | None, title: str) -> "go.Figure":
    """Squares with their counts: rows are what it is, columns what the ensemble says.

    Squares of a scatter, for Streamlit tells of points that are chosen, but not of a heat
    map's cells.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    C, names = len(matrix), shown.names
    label, said = (each.ravel() for each in np.indices((C, C)))
    count = matrix.ravel()
    fills = [fill(int(one), row == column, matrix) for one, row, column in
             zip(count, label, said, strict=True)]  # fmt: skip
    here = [cell == (row, column) for row, column in zip(label, said, strict=True)]
    chart = go.Figure(go.Scatter(
        x=said, y=label, mode="markers+text", showlegend=False, cliponaxis=False,
        marker={"symbol": "square", "size": SIDE, "opacity": 1, "color": fills,
                "line": {"color": theme.ink(), "width": [2 if one else 0 for one in here]}},
        text=[f"{one:,}" if one else "" for one in count], textfont={"size": 11,
        "color": [theme.on(one) for one in fills]},
        selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
        customdata=np.stack([label, said, count], axis=1),
        hovertext=[tell(shown, row, column, one) for row, column, one in
                   zip(label, said, count, strict=True)], hoverinfo="text",
    ))  # fmt: skip
    chart.update_layout(**inspect_lines.layout(title, 40 * C + 130, margin={
        "l": 8, "r": 8, "t": 40, "b": 50}))  # fmt: skip
    ticks = {"tickvals": list(range(C)), "ticktext": list(names), "showgrid": False,
             "zeroline": False, "fixedrange": True, "range": [-0.6, C - 0.4]}  # fmt: skip
    chart.update_xaxes(title="what the ensemble says", **ticks, constrain="domain")
    chart.update_yaxes(title="what it is", **{**ticks, "range": [C - 0.4, -0.6]}, scaleanchor="x",
                       constrain="domain", automargin=True)  # fmt: skip
    return chart


def fill(count: int, right: bool, matrix: Matrix) -> str:
    """A cell's colour: blue where right, orange where wrong, stronger the more."""
    if not count:
        return theme.ground()
    if right:
        return theme.mixed(theme.ground(), theme.RIGHT, 0.25 + 0.6 * count / matrix.max())
    most = (matrix - np.diag(np.diag(matrix))).max()
    return theme.mixed(theme.ground(), theme.WRONG, 0.15 + 0.85 * (count / most) ** 0.5)


def tell(shown: Inspected, row: int, column: int, count: int) -> str:
    """A cell in words."""
    names, counted = shown.names, formats.count(int(count), shown.noun)
    if row == column:
        return f"{counted}: {names[row]}, and said to be"
    return f"{counted}: {names[row]}, said to be {names[column]}"


def sees(shown: Inspected, matrix: Matrix) -> str:
    """The commonest mistake."""
    wrong = matrix - np.diag(np.diag(matrix))
    if not wrong.any():
        return f"The ensemble gets every {shown.noun} right: all stand on the diagonal."
    row, column = np.unravel_index(wrong.argmax(), wrong.shape)
    return (
        f"The commonest mistake: {shown.names[row]} taken for {shown.names[column]}, "
        f"{formats.count(int(wrong.max()), 'time')} of {formats.count(int(wrong.sum()), 'mistake')}. "
        "Press a square to see its images below."
    )


def choose_cell(shown: Inspected, matrix: Matrix, cell: Cell | None) -> None:
    """The same choice from the keyboard: the mistakes, the commonest first."""
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong.ravel(), kind="stable")[: int((wrong > 0).sum())]
    cells = [None, *((int(one) // len(matrix), int(one) % len(matrix)) for one in order)]
    if cell not in cells:
        cells.append(cell)
    key = f"inspect_cell_{shown.epoch}_{len(cells)}"
    address.bound(key, cell, lambda key: st.selectbox(
        "Show below", cells, key=key, format_func=lambda one: name(shown, matrix, one),
        on_change=lambda: put(st.session_state[key]),
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
