"""The confusion matrix: what each class is taken for, and the images of a cell."""

import numpy as np

from ensemble.analysis.predictions import sort_examples
from ensemble.figures.inspect import confusion as figures
from ensemble.figures.inspect.confusion import Cell, Matrix
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import (
    Choice,
    Columns,
    DeferredChoice,
    Figure,
    Figures,
    Images,
    Paragraph,
    View,
)
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

MAX_LISTED_MISTAKES = 200  # mistakes to choose from, the commonest


def build_confusion(epoch: EvaluatedEpoch) -> View:
    """The matrix, and the images of the cell that is chosen; else all that are wrong."""
    matrix = epoch.measure(figures.compute_confusion_matrix)
    choice = offer_cells(epoch, matrix, None)
    cell = parse_cell_word((yield DeferredChoice(choice)), len(matrix))

    def matrix_view() -> View:
        yield Figures.single(build_confusion_figure(epoch, matrix, cell, choice))
        if (matrix - np.diag(np.diag(matrix))).any():
            yield Paragraph(f"Press a square to see its {pluralize_noun(epoch.noun)}.", "hint")

    def cell_images_view() -> View:
        yield offer_cells(epoch, matrix, cell)
        yield list_cell_images(epoch, cell)

    yield Columns((3, 2), (matrix_view, cell_images_view))


def build_confusion_figure(
    epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None, choice: Choice
) -> Figure:
    """The matrix with a cell marked."""
    title = f"Confusion matrix · {epoch.source}"
    return Figure(
        label="",
        alt=f"What {formats.format_count(epoch.n, epoch.noun)} are against what the ensemble says",
        explanation=figures.explain_confusion_chart(matrix, epoch.class_names, epoch.noun),
        draw=lambda palette: figures.plot_confusion_matrix(
            matrix, cell, epoch.class_names, epoch.noun, title, palette
        ),
        markdown=True,
        key="inspect_confusion",
        file="confusion",
        title="The confusion matrix",
        table=lambda: figures.tabulate_confusion_matrix(matrix, epoch.class_names),
        drawn_from=(cell,),
        point_choice=choice,
        format_point_word=lambda data: format_cell_word((int(data[0]), int(data[1]))),
    )


def list_cell_images(epoch: EvaluatedEpoch, cell: Cell | None) -> Images:
    """The images of a cell, or all that are wrong, the least sure first."""
    predictions = epoch.predictions
    chosen = ~predictions.right
    if cell:
        chosen = (predictions.labels == cell[0]) & (predictions.said == cell[1])
    numbers = sort_examples(predictions, np.flatnonzero(chosen), "unsure")
    empty = f"There is no such {epoch.noun}."
    return Images(numbers, "inspect_confused", rows=4, empty=empty)


def offer_cells(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> Choice:
    """The mistakes to choose from, the commonest first, and `cell` among them."""
    wrong = matrix - np.diag(np.diag(matrix))
    kinds = int((wrong > 0).sum())
    order = np.argsort(-wrong.ravel(), kind="stable")[: min(kinds, MAX_LISTED_MISTAKES)]
    cells: list[Cell] = [(int(index) // len(matrix), int(index) % len(matrix)) for index in order]
    if cell and cell not in cells:
        cells.append(cell)
    return Choice(
        "cell",
        "Shown",
        {
            format_cell_word(option): format_cell_label(epoch, matrix, option)
            for option in (None, *cells)
        },
        "",
        f"The {MAX_LISTED_MISTAKES} commonest of {kinds:,} kinds of mistake."
        if kinds > MAX_LISTED_MISTAKES
        else "",
        "list",
        accepts=lambda word: parse_cell_word(word, len(matrix)) is not None,
        key="inspect_cell",
    )


def format_cell_word(cell: Cell | None) -> str:
    """A cell as an address has it: "4-9" are those that are 4 and taken for 9; "" for none."""
    return "" if cell is None else f"{cell[0]}-{cell[1]}"


def parse_cell_word(word: str, classes: int) -> Cell | None:
    """The cell that such a word names; None where it names none of this matrix."""
    first, _, second = word.partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) <= 8 for part in (first, second)):
        return None
    cell = int(first), int(second)
    return cell if max(cell) < classes else None


def format_cell_label(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> str:
    """A cell on the control: "4 taken for 9 · 12"."""
    if cell is None:
        return f"All mistakes · {int((~epoch.predictions.right).sum()):,}"
    label, answer = epoch.class_names[cell[0]], epoch.class_names[cell[1]]
    how = f"{label} taken for {answer}" if label != answer else f"{label}, and right"
    return f"{how} · {int(matrix[cell]):,}"
