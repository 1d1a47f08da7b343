"""The confusion matrix: what each class is taken for, and the images of a cell."""

import numpy as np

from ensemble.analysis.predictions import ordered
from ensemble.figures.inspect import confusion as figures
from ensemble.figures.inspect.confusion import Cell, Matrix
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Asked, Choice, Columns, Figure, Figures, Images, Paragraph, View
from ensemble.wording import formats
from ensemble.wording.formats import plural

LISTED = 200  # mistakes to choose from, the commonest


def build_confusion(epoch: EvaluatedEpoch) -> View:
    """The matrix, and the images of the cell that is chosen; else all that are wrong."""
    matrix = epoch.measure(figures.confusion)
    choice = offer_cells(epoch, matrix, None)
    cell = parse_cell((yield Asked(choice)), len(matrix))

    def build_matrix() -> View:
        yield Figures.single(plot_matrix(epoch, matrix, cell, choice))
        if (matrix - np.diag(np.diag(matrix))).any():
            yield Paragraph(f"Press a square to see its {plural(epoch.noun)}.", "hint")

    def build_images() -> View:
        yield offer_cells(epoch, matrix, cell)
        yield list_images(epoch, cell)

    yield Columns((3, 2), (build_matrix, build_images))


def plot_matrix(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None, choice: Choice) -> Figure:
    """The matrix with a cell marked."""
    title = f"Confusion matrix · {epoch.source}"
    return Figure(
        label="",
        alt=f"What {formats.count(epoch.n, epoch.noun)} are against what the ensemble says",
        sees=figures.sees(matrix, epoch.class_names, epoch.noun),
        draw=lambda palette: figures.figure(
            matrix, cell, epoch.class_names, epoch.noun, title, palette
        ),
        markdown=True,
        key="inspect_confusion",
        file="confusion",
        title="The confusion matrix",
        table=lambda: figures.table(matrix, epoch.class_names),
        drawn_from=(cell,),
        sets=choice,
        word=lambda data: spell_cell((int(data[0]), int(data[1]))),
    )


def list_images(epoch: EvaluatedEpoch, cell: Cell | None) -> Images:
    """The images of a cell, or all that are wrong, the least sure first."""
    predictions = epoch.predictions
    chosen = ~predictions.right
    if cell:
        chosen = (predictions.labels == cell[0]) & (predictions.said == cell[1])
    numbers = ordered(predictions, np.flatnonzero(chosen), "unsure")
    empty = f"There is no such {epoch.noun}."
    return Images(numbers, "inspect_confused", rows=4, empty=empty)


def offer_cells(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> Choice:
    """The mistakes to choose from, the commonest first, and `cell` among them."""
    wrong = matrix - np.diag(np.diag(matrix))
    kinds = int((wrong > 0).sum())
    order = np.argsort(-wrong.ravel(), kind="stable")[: min(kinds, LISTED)]
    cells: list[Cell] = [(int(one) // len(matrix), int(one) % len(matrix)) for one in order]
    if cell and cell not in cells:
        cells.append(cell)
    return Choice(
        "cell",
        "Shown",
        {spell_cell(one): name_cell(epoch, matrix, one) for one in (None, *cells)},
        "",
        f"The {LISTED} commonest of {kinds:,} kinds of mistake." if kinds > LISTED else "",
        "list",
        accepts=lambda word: parse_cell(word, len(matrix)) is not None,
        key="inspect_cell",
    )


def spell_cell(cell: Cell | None) -> str:
    """A cell as an address has it: "4-9" are those that are 4 and taken for 9; "" for none."""
    return "" if cell is None else f"{cell[0]}-{cell[1]}"


def parse_cell(word: str, classes: int) -> Cell | None:
    """The cell that such a word names; None where it names none of this matrix."""
    first, _, second = word.partition("-")
    if not all(one.isascii() and one.isdigit() and len(one) <= 8 for one in (first, second)):
        return None
    cell = int(first), int(second)
    return cell if max(cell) < classes else None


def name_cell(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> str:
    """A cell on the control: "4 taken for 9 · 12"."""
    if cell is None:
        return f"All mistakes · {int((~epoch.predictions.right).sum()):,}"
    label, answer = epoch.class_names[cell[0]], epoch.class_names[cell[1]]
    how = f"{label} taken for {answer}" if label != answer else f"{label}, and right"
    return f"{how} · {int(matrix[cell]):,}"
