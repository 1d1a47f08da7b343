"""The confusion matrix: what images are against what the ensemble says they are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette, mix_colors, select_text_color
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

_CELL_PITCH = 40  # pixels from cell to cell: ten of them fit a phone
_MATRIX_WIDTH, _MIN_CELL_PITCH = 480, 22  # pixels of more than a dozen together, and of each at least
MAX_CLASSES = 30  # classes in the picture
_MAX_LABEL_LETTERS = 24  # letters of a name along an axis
Matrix = NDArray[np.int64]
Cell = tuple[int, int]  # what it is, what the ensemble says


def compute_confusion_matrix(predictions: EnsemblePredictions) -> Matrix:
    """(C, C): how many images of the row's class the ensemble says are of the column's."""
    classes = predictions.averaged.shape[1]
    cells = np.bincount(predictions.labels * classes + predictions.said, minlength=classes**2)
    return cells.reshape(classes, classes)


def select_most_confused(matrix: Matrix, cell: Cell | None = None, most: int = MAX_CLASSES) -> list[int]:
    """The classes of the picture, rising: all, or those of the commonest mistakes.

    Mistakes are gone through from the commonest on, and both classes of each taken until there
    are `most`; where these are too few, the lowest others fill up.

    Args:
      matrix: (C, C), what each class is said to be.
    """
    C = len(matrix)
    if most >= C:
        return list(range(C))
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[: np.count_nonzero(wrong)]
    classes = dict.fromkeys(cell or ())
    for pair in zip(*np.divmod(order, C), strict=True):
        classes.update(dict.fromkeys(int(label) for label in pair))
        if len(classes) >= most:
            break
    classes.update(dict.fromkeys(range(most) if len(classes) < most else ()))
    return sorted(list(classes)[:most])


def plot_confusion_matrix(
    matrix: Matrix, cell: Cell | None, names: Sequence[str], noun: str, title: str, palette: Palette
) -> "go.Figure":
    """Squares with their counts: rows are what it is, columns what the ensemble says.

    Of more than `MAX_CLASSES` classes those that are most taken for one another.

    Squares of a scatter, for Streamlit tells of points that are chosen, but not of a heat
    map's cells.

    Args:
      matrix: (C, C), how many images of the row's class are said to be of the column's.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    kept = select_most_confused(matrix, cell)
    called, ticks = (
        {c: escaping.escape_plotly_text(formatter(names[c])) for c in kept} for formatter in (str, _shorten_axis_label)
    )
    C, inside = len(kept), matrix[np.ix_(kept, kept)]
    pitch = _CELL_PITCH if C <= _MATRIX_WIDTH // _CELL_PITCH else max(_MIN_CELL_PITCH, _MATRIX_WIDTH // C)
    cells = [(row, column) for row in kept for column in kept]
    count = inside.ravel().tolist()
    peaks = int(inside.max()), int((inside - np.diag(np.diag(inside))).max())
    fills = [
        _compute_cell_color(number, row == column, peaks, palette)
        for (row, column), number in zip(cells, count, strict=True)
    ]
    place = {c: at for at, c in enumerate(kept)}
    border = [2 if pair == cell else 0 for pair in cells]
    chart = go.Figure(
        go.Scatter(
            x=[place[column] for _, column in cells],
            y=[place[label] for label, _ in cells],
            mode="markers+text",
            marker={
                "symbol": "square",
                "size": 3 * pitch // 4,
                "opacity": 1,
                "color": fills,
                "line": {"color": palette.ink, "width": border},
            },
            text=[f"{number:,}" if number else "" for number in count],
            textfont={"size": 11 if pitch == _CELL_PITCH else 9, "color": [select_text_color(fill) for fill in fills]},
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            customdata=cells,
            hoverinfo="text",
            showlegend=False,
            cliponaxis=False,
            hovertext=[
                _describe_confusion_cell(pair, number, called, noun) for pair, number in zip(cells, count, strict=True)
            ],
        )
    )
    chart.update_layout(chart_style.build_chart_layout(title, pitch * C + 150, palette))
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
        title="what it is", **{**axis, "range": [C - 0.4, -0.6]}, scaleanchor="x", constrain="domain", automargin=True
    )
    return chart


def _shorten_axis_label(name: str) -> str:
    return name if len(name) <= _MAX_LABEL_LETTERS else f"{name[: _MAX_LABEL_LETTERS - 1]}…"


def _compute_cell_color(count: int, right: bool, peaks: tuple[int, int], palette: Palette) -> str:
    """A cell's colour: blue where right, orange where wrong, stronger the more."""
    if not count:
        return palette.ground
    if right:
        return mix_colors(palette.ground, RIGHT_COLOR, 0.25 + 0.6 * count / peaks[0])
    return mix_colors(palette.ground, WRONG_COLOR, 0.15 + 0.85 * (count / peaks[1]) ** 0.5)


def _describe_confusion_cell(cell: Cell, count: int, names: Mapping[int, str], noun: str) -> str:
    counted, (row, column) = formats.format_count(count, noun), cell
    if row == column:
        return f"{counted}: {names[row]}, and said to be"
    return f"{counted}: {names[row]}, said to be {names[column]}"


def tabulate_confusion_matrix(matrix: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """The matrix with the classes' names: a row for what it is."""
    frame = pd.DataFrame(matrix, columns=[f"says {name}" for name in names])
    frame.insert(0, "is", list(names))
    return frame


def explain_confusion_chart(matrix: Matrix, names: Sequence[str], noun: str) -> str:
    wrong = matrix - np.diag(np.diag(matrix))
    if not wrong.any():
        return f"The ensemble gets every {noun} right: all stand on the diagonal."
    row, column = divmod(int(wrong.argmax()), len(wrong))
    some = (
        ""
        if len(matrix) <= MAX_CLASSES
        else (f"Of {len(matrix):,} classes these are the {MAX_CLASSES} of the commonest mistakes; the table has all. ")
    )
    return some + (
        f"The commonest mistake is {escaping.escape_markdown(names[row])} taken for "
        f"{escaping.escape_markdown(names[column])}: "
        f"{int(wrong.max()):,} of {formats.format_count(int(wrong.sum()), 'mistake')}. "
    )
