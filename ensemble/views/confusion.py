"""Class by class: which is right least often, what each is taken for, and the images of a cell."""

import numpy as np

from ensemble.analysis.predictions import EnsemblePredictions, sort_examples
from ensemble.analysis.quality.class_scores import (
    ClassScores,
    ClasswiseCalibration,
    LowestGroup,
    find_lowest_group,
    measure_class_scores,
    measure_classwise_calibration,
)
from ensemble.figures.inspect import confusion as figures
from ensemble.figures.inspect.confusion import Cell, Matrix
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Columns, DeferredChoice, Figure, Figures, Images, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import class_scores as words

_MAX_OPEN_CLASSES = 20  # classes, from which on their figures stand behind a fold
_MAX_LISTED_MISTAKES = 200  # mistakes to choose from, the commonest


def build_confusion(epoch: EvaluatedEpoch) -> View:
    scores = epoch.measure(_score_classes)
    yield Paragraph(words.describe_lowest_class(scores, epoch.class_names, epoch.noun), "answer")
    if evidence := words.describe_lowest_class_evidence(scores, epoch.noun):
        yield Paragraph(evidence, "evidence")
    lowest = epoch.measure(_find_weakest_group) if epoch.dataset.test_groups.named else None
    if lowest and lowest.right < lowest.count:
        yield Paragraph(words.describe_lowest_group(lowest, epoch.noun), "finding")
    matrix = epoch.measure(figures.compute_confusion_matrix)
    choice = _offer_cells(epoch, matrix, None)
    cell = _parse_cell_word((yield DeferredChoice(choice)), len(matrix))

    def matrix_view() -> View:
        yield Figures.single(_build_confusion_figure(epoch, matrix, cell, choice))
        if (matrix - np.diag(np.diag(matrix))).any():
            yield Paragraph(f"Press a square to see its {pluralize_noun(epoch.noun)}.", "hint")

    def cell_images_view() -> View:
        yield _offer_cells(epoch, matrix, cell)
        yield _list_cell_images(epoch, cell)

    yield Columns((3, 2), (matrix_view, cell_images_view))
    yield Paragraph(words.describe_class_averages(scores), "evidence")
    yield Paragraph(words.describe_classwise_calibration(epoch.measure(_compare_classwise_calibration)), "evidence")
    yield Table(
        "Class by class",
        words.tabulate_class_scores(scores, epoch.class_names, epoch.noun),
        folded=int((scores.counts > 0).sum()) > _MAX_OPEN_CLASSES,
        note=words.explain_class_table(epoch.noun),
        key="inspect_classes",
        from_outside=True,
        numbers=lambda: words.tabulate_class_values(scores, epoch.class_names),
        file="classes",
    )


def _score_classes(predictions: EnsemblePredictions) -> ClassScores:
    return measure_class_scores(predictions.averaged, predictions.said, predictions.labels, predictions.groups)


def _compare_classwise_calibration(predictions: EnsemblePredictions) -> ClasswiseCalibration:
    """The ensemble's class-wise calibration error, and what chance makes of it."""
    return measure_classwise_calibration(predictions.averaged, predictions.labels)


def _find_weakest_group(predictions: EnsemblePredictions) -> LowestGroup | None:
    """The group of test images that is right least often; None of fewer than two that count."""
    assert predictions.groups is not None
    return find_lowest_group(predictions.right, predictions.groups)


def _build_confusion_figure(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None, choice: Choice) -> Figure:
    title = f"Confusion matrix · {epoch.source}"
    return Figure(
        label="",
        alt=f"What {formats.format_count(epoch.n, epoch.noun)} are against what the ensemble says",
        explanation=figures.explain_confusion_chart(matrix, epoch.class_names, epoch.noun),
        draw=lambda palette: figures.plot_confusion_matrix(
            matrix, cell, names=epoch.class_names, noun=epoch.noun, title=title, palette=palette
        ),
        markdown=True,
        key="inspect_confusion",
        file="confusion",
        title="The confusion matrix",
        table=lambda: figures.tabulate_confusion_matrix(matrix, epoch.class_names),
        drawn_from=(cell,),
        point_choice=choice,
        format_point_word=lambda data: _format_cell_word((int(data[0]), int(data[1]))),
    )


def _list_cell_images(epoch: EvaluatedEpoch, cell: Cell | None) -> Images:
    predictions = epoch.predictions
    chosen = ~predictions.right
    if cell:
        chosen = (predictions.labels == cell[0]) & (predictions.said == cell[1])
    numbers = sort_examples(predictions, np.flatnonzero(chosen), "unsure")
    empty = f"There is no such {epoch.noun}."
    return Images(numbers, "inspect_confused", rows=4, empty=empty)


def _offer_cells(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> Choice:
    """The mistakes to choose from, the commonest first, and `cell` among them."""
    wrong = matrix - np.diag(np.diag(matrix))
    kinds = int((wrong > 0).sum())
    order = np.argsort(-wrong.ravel(), kind="stable")[: min(kinds, _MAX_LISTED_MISTAKES)]
    cells: list[Cell] = [(int(index) // len(matrix), int(index) % len(matrix)) for index in order]
    if cell and cell not in cells:
        cells.append(cell)
    return Choice(
        name="cell",
        label="Shown",
        values={_format_cell_word(option): _format_cell_label(epoch, matrix, option) for option in (None, *cells)},
        default="",
        help=f"The {_MAX_LISTED_MISTAKES} commonest of {kinds:,} kinds of mistake."
        if kinds > _MAX_LISTED_MISTAKES
        else "",
        form="list",
        accepts=lambda word: _parse_cell_word(word, len(matrix)) is not None,
        key="inspect_cell",
    )


def _format_cell_word(cell: Cell | None) -> str:
    """A cell as an address has it: "4-9" are those that are 4 and taken for 9; "" for none."""
    return "" if cell is None else f"{cell[0]}-{cell[1]}"


def _parse_cell_word(word: str, classes: int) -> Cell | None:
    """The cell that such a word names; None where it names none of this matrix."""
    first, _, second = word.partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) <= 8 for part in (first, second)):
        return None
    cell = int(first), int(second)
    return cell if max(cell) < classes else None


def _format_cell_label(epoch: EvaluatedEpoch, matrix: Matrix, cell: Cell | None) -> str:
    """A cell on the control: "4 taken for 9 · 12"."""
    if cell is None:
        return f"All mistakes · {int((~epoch.predictions.right).sum()):,}"
    label, answer = epoch.class_names[cell[0]], epoch.class_names[cell[1]]
    how = f"{label} taken for {answer}" if label != answer else f"{label}, and right"
    return f"{how} · {int(matrix[cell]):,}"
