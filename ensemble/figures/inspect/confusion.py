"""The confusion matrix: what images are against what the ensemble says they are."""

from collections.abc import Mapping, Sequence
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

PITCH = 40  # pixels from cell to cell: ten of them fit a phone
WIDE, LEAST = 480, 22  # pixels of more than a dozen together, and of each at least
MOST = 30  # classes in the picture
NAME = 24  # letters of a name along an axis
Matrix = NDArray[np.int64]
Cell = tuple[int, int]  # what it is, what the ensemble says


def confusion(made: Predictions) -> Matrix:
    """(C, C): how many images of the row's class the ensemble says are of the column's."""
    classes = made.averaged.shape[1]
    cells = np.bincount(made.labels * classes + made.said, minlength=classes**2)
    return cells.reshape(classes, classes)


def most_confused(matrix: Matrix, cell: Cell | None = None, most: int = MOST) -> list[int]:
    """The classes of the picture, rising: all, or those of the commonest mistakes.

    Mistakes are gone through from the commonest on, and both classes of each taken until there
    are `most`; where these are too few, the lowest others fill up.

    Args:
      matrix: (C, C), what each class is said to be.
      cell: the one that is chosen: its classes are always there.
      most: how many there are room for.
    """
    C = len(matrix)
    if most >= C:
        return list(range(C))
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[: np.count_nonzero(wrong)]
    found = dict.fromkeys(cell or ())
    for pair in zip(*np.divmod(order, C), strict=True):
        found.update(dict.fromkeys(int(one) for one in pair))
        if len(found) >= most:
            break
    found.update(dict.fromkeys(range(most) if len(found) < most else ()))
    return sorted(list(found)[:most])


def figure(
    matrix: Matrix,
    cell: Cell | None,
    names: Sequence[str],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """Squares with their counts: rows are what it is, columns what the ensemble says.

    Of more than MOST classes those that are most taken for one another.

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

    kept = most_confused(matrix, cell)
    called, ticks = ({c: escaping.figure(one(names[c])) for c in kept} for one in (str, short))
    C, inside = len(kept), matrix[np.ix_(kept, kept)]
    pitch = PITCH if C <= WIDE // PITCH else max(LEAST, WIDE // C)
    cells = [(row, column) for row in kept for column in kept]
    count = inside.ravel().tolist()
    peaks = int(inside.max()), int((inside - np.diag(np.diag(inside))).max())
    fills = [
        fill(one, row == column, peaks, palette)
        for (row, column), one in zip(cells, count, strict=True)
    ]
    place = {c: at for at, c in enumerate(kept)}
    border = [2 if one == cell else 0 for one in cells]
    chart = go.Figure(
        go.Scatter(
            x=[place[said] for _, said in cells],
            y=[place[label] for label, _ in cells],
            mode="markers+text",
            marker={
                "symbol": "square",
                "size": 3 * pitch // 4,
                "opacity": 1,
                "color": fills,
                "line": {"color": palette.ink, "width": border},
            },
            text=[f"{one:,}" if one else "" for one in count],
            textfont={"size": 11 if pitch == PITCH else 9, "color": [on(one) for one in fills]},
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            customdata=cells,
            hoverinfo="text",
            showlegend=False,
            cliponaxis=False,
            hovertext=[
                tell(one, number, called, noun) for one, number in zip(cells, count, strict=True)
            ],
        )
    )
    chart.update_layout(lines.layout(title, pitch * C + 150, palette))
    chart.update_layout(margin_b=50)
    axis = {
        "tickvals": list(range(C)),
        "ticktext": list(ticks.values()),
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "range": [-0.6, C - 0.4],
    }
    chart.update_xaxes(title="what the ensemble says", **axis, constrain="domain")
    chart.update_yaxes(
        title="what it is",
        **{**axis, "range": [C - 0.4, -0.6]},
        scaleanchor="x",
        constrain="domain",
        automargin=True,
    )
    return chart


def short(name: str) -> str:
    """A class's name along an axis, where a long one would leave no room for the picture."""
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def fill(count: int, right: bool, peaks: tuple[int, int], palette: Palette) -> str:
    """A cell's colour: blue where right, orange where wrong, stronger the more.

    Args:
      count: what stands in it.
      right: whether it is on the diagonal.
      peaks: the most in any cell, and in any off the diagonal.
      palette: the page's colours.
    """
    if not count:
        return palette.ground
    if right:
        return mixed(palette.ground, RIGHT, 0.25 + 0.6 * count / peaks[0])
    return mixed(palette.ground, WRONG, 0.15 + 0.85 * (count / peaks[1]) ** 0.5)


def tell(cell: Cell, count: int, names: Mapping[int, str], noun: str) -> str:
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


def sees(matrix: Matrix, names: Sequence[str], noun: str) -> str:
    """The commonest mistake, in Markdown."""
    wrong = matrix - np.diag(np.diag(matrix))
    if not wrong.any():
        return f"The ensemble gets every {noun} right: all stand on the diagonal."
    row, column = divmod(int(wrong.argmax()), len(wrong))
    some = (
        ""
        if len(matrix) <= MOST
        else (
            f"Of {len(matrix):,} classes these are the {MOST} of the commonest mistakes; the table "
            "has all. "
        )
    )
    return some + (
        f"The commonest mistake is {escaping.markdown(names[row])} taken for "
        f"{escaping.markdown(names[column])}: "
        f"{int(wrong.max()):,} of {formats.count(int(wrong.sum()), 'mistake')}. "
    )
