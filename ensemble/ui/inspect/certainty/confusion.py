"""The confusion matrix, what is taken for what: its cells open their images."""

import numpy as np
import streamlit as st

from ensemble.analysis.predictions import ordered
from ensemble.figures.inspect.confusion import Cell, Matrix, confusion, figure, sees, table
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import controls
from ensemble.ui.shared import address, figure_panel, widget
from ensemble.wording import formats
from ensemble.wording.formats import plural

KEY = "inspect_confusion"
LISTED = 200  # mistakes to choose from, the commonest


def show(shown: Inspected) -> None:
    """Draw the matrix, and the images of the cell that is chosen; else all that are wrong."""
    matrix = measured(shown, confusion)
    cell = read(len(shown.names))
    title = f"Confusion matrix · {shown.source}"
    left, right = st.columns([3, 2], gap="large")
    with left:
        figure_panel.show(
            pictured(shown, lambda palette: figure(
                matrix, cell, shown.names, shown.noun, title, palette
            ), KEY, cell),
            key=KEY, of=shown.run, epoch=shown.epoch, name=f"{shown.stem}-confusion",
            title="The confusion matrix", table=lambda: table(matrix, shown.names),
            alt=f"What {formats.count(shown.n, shown.noun)} are against what the ensemble says",
            sees=sees(matrix, shown.names, shown.noun) + pressable(shown, matrix),
            on_select=pressed,
        )  # fmt: skip
    with right:
        choose_cell(shown, matrix, cell)
        digits_of(shown, cell)


def pressable(shown: Inspected, matrix: Matrix) -> str:
    """What a press on the picture does, where there is a mistake to press."""
    if not (matrix - np.diag(np.diag(matrix))).any():
        return ""
    return f" Press a square to see its {plural(shown.noun)}."


def digits_of(shown: Inspected, cell: Cell | None) -> None:
    """The images of a cell, or all that are wrong."""
    chosen = ~shown.made.right
    if cell:
        chosen = (shown.made.labels == cell[0]) & (shown.made.said == cell[1])
    numbers = np.flatnonzero(chosen)
    if not len(numbers):
        st.info(f"There is no such {shown.noun}.", icon=":material/check:")
    images.show(shown, ordered(shown.made, numbers, "unsure"), key="inspect_confused",
                        rows=4)  # fmt: skip


def read(classes: int) -> Cell | None:
    """The cell that the address names, as "4-9": those that are 4 and taken for 9."""
    cell = address.CELL.read()
    return None if cell is None or max(cell) >= classes else cell


def spoken(cell: Cell | None) -> str:
    """A cell as the address has it: "4-9"; "" for none."""
    return "" if cell is None else address.CELL.text(cell)


def pressed() -> None:
    """Callback of the picture: the cell that was pressed, or none any more."""
    points = widget.value(KEY).selection.points
    address.CELL.put(tuple(points[0]["customdata"]) if points else None)


def choose_cell(shown: Inspected, matrix: Matrix, cell: Cell | None) -> None:
    """The same choice from the keyboard: the mistakes, the commonest first."""
    wrong = matrix - np.diag(np.diag(matrix))
    kinds = int((wrong > 0).sum())
    order = np.argsort(-wrong.ravel(), kind="stable")[: min(kinds, LISTED)]
    cells = [divmod(int(one), len(matrix)) for one in order]
    if cell and cell not in cells:
        cells.append(cell)
    options = {spoken(one): name(shown, matrix, one) for one in (None, *cells)}
    stamp = controls.stamp(options.values())
    address.bound(f"inspect_cell_{stamp}", spoken(cell), lambda key: st.selectbox(
        "Shown", list(options), key=key, format_func=options.__getitem__,
        on_change=lambda: address.CELL.put(address.CELL.parse(widget.value(key))),
        help=f"The {LISTED} commonest of {kinds:,} kinds of mistake." if kinds > LISTED else None,
    ))  # fmt: skip


def name(shown: Inspected, matrix: Matrix, cell: Cell | None) -> str:
    """A cell on the control: "4 taken for 9 · 12"."""
    if cell is None:
        return f"All mistakes · {int((~shown.made.right).sum()):,}"
    is_, said = shown.names[cell[0]], shown.names[cell[1]]
    how = f"{is_} taken for {said}" if is_ != said else f"{is_}, and right"
    return f"{how} · {int(matrix[cell]):,}"
