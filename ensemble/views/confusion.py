"""Class by class: which is right least often, what each is taken for, and the images of a cell."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.predictions import EnsemblePredictions, sort_examples
from ensemble.analysis.quality.class_scores import (
    ClassScores,
    ClasswiseCalibration,
    LowestGroup,
    ScoreInterval,
    find_lowest_group,
    measure_class_scores,
    measure_classwise_calibration,
)
from ensemble.figures import chart_style
from ensemble.figures.class_counts import shorten_class_name
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette, mix_colors, select_text_color
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Columns, DeferredChoice, Figure, Figures, Images, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import format_p_value

if TYPE_CHECKING:
    import plotly.graph_objects as go


_SIGNIFICANT_P = 0.05


def _describe_lowest_class(scores: ClassScores, names: Sequence[str], noun: str) -> str:
    lowest, present = scores.lowest, int((scores.counts > 0).sum())
    name = shorten_class_name(names[lowest])
    if present < 2:
        return f"All test {pluralize_noun(noun)} are of one class, {name}."
    if scores.recall[lowest] == 1:
        return f"Every test {noun} is right, in every class."
    n = int(scores.counts.sum())
    share = formats.format_percent(float(scores.recall[lowest]), n)
    others = formats.format_percent(scores.others_recall, n)
    if scores.lowest_p < _SIGNIFICANT_P:
        return f"“{name}” is right less often than the other classes: {share} against {others}."
    return f"No class is shown to be right less often; lowest is “{name}” with {share}."


def _describe_lowest_class_evidence(scores: ClassScores, noun: str) -> str:
    """Give the counts, the interval and the test of the lowest class; "" if no class is lowest."""
    lowest, present = scores.lowest, int((scores.counts > 0).sum())
    if present < 2 or scores.recall[lowest] == 1:
        return ""
    ends = formats.format_percent_range(float(scores.low[lowest]), float(scores.high[lowest]), places=1)
    count = int(scores.counts[lowest])
    chance = "" if scores.lowest_p < _SIGNIFICANT_P else "; of several equal classes chance always makes one the lowest"
    return (
        f"{int(scores.right[lowest]):,} of {formats.format_count(count, noun)} right: {ends} "
        f"(95 %, for all {present:,} classes at once); against the others "
        f"{format_p_value(scores.lowest_p)} (Fisher's exact test, corrected for {present:,} "
        f"classes){chance}."
    )


def _describe_class_averages(scores: ClassScores) -> str:
    """Balanced accuracy and macro F1 with their intervals."""
    n = int(scores.counts.sum())
    return (
        "Balanced accuracy, the mean over classes: "
        f"{_format_score(scores.balanced_accuracy, n)}; macro F1: "
        f"{_format_score(scores.macro_f1, n)}; both with 95 % intervals."
    )


def _describe_classwise_calibration(calibration: ClasswiseCalibration) -> str:
    """The class-wise calibration error, beside what chance makes of it."""
    error, chance, high = (
        formats.format_significant(value, 2)
        for value in (calibration.error, calibration.chance, calibration.chance_high)
    )
    verdict = (
        "more than chance makes"
        if calibration.error > calibration.chance_high
        else "not shown to be more than chance makes"
    )
    return (
        f"Class-wise calibration error {error}: {verdict} of labels that are drawn from these "
        f"very probabilities ({chance} on average, in 95 of 100 draws up to {high})."
    )


def describe_lowest_group(lowest: LowestGroup, noun: str) -> str:
    n = lowest.count
    share = formats.format_percent(lowest.right / n, n)
    others = formats.format_percent(lowest.others)
    which = f"that of {noun} {lowest.first:,}"
    begin = (
        f"One group of images is right less often than the others, {which}: {share} against {others}"
        if lowest.p < _SIGNIFICANT_P
        else f"No group of images is shown to be right less often; lowest is {which} with {share}"
    )
    ends = formats.format_percent_range(lowest.low, lowest.high, places=1)
    return (
        f"{begin} ({lowest.right:,} of {n:,}; {ends} for all {lowest.groups:,} groups of at least "
        f"{formats.format_count(lowest.least, noun)} at once, {format_p_value(lowest.p)} after correction for them)."
    )


def _tabulate_class_scores(scores: ClassScores, names: Sequence[str], noun: str) -> pd.DataFrame:
    n = int(scores.counts.sum())
    rows = []
    for number in _order_classes(scores):
        low, high = float(scores.low[number]), float(scores.high[number])
        rows.append(
            {
                "class": names[number],
                pluralize_noun(noun): f"{int(scores.counts[number]):,}",
                "right": formats.format_percent(float(scores.recall[number]), n),
                "interval": "–" if np.isnan(low) else formats.format_percent_range(low, high, places=1),
                "precision": formats.format_percent(float(scores.precision[number]), n),
                "F1": formats.format_percent(float(scores.f1[number]), n),
                "says more often by": f"{100 * scores.excess[number]:+.2f}".replace("-", "−"),
            }
        )
    return pd.DataFrame(rows)


def _tabulate_class_values(scores: ClassScores, names: Sequence[str]) -> pd.DataFrame:
    """The same to keep: shares in [0, 1], classes in their order."""
    return pd.DataFrame(
        {
            "class": list(names),
            "images": scores.counts,
            "said": scores.said,
            "right": scores.right,
            "recall": scores.recall,
            "recall low": scores.low,
            "recall high": scores.high,
            "precision": scores.precision,
            "f1": scores.f1,
            "mean probability less share": scores.excess,
        }
    )


def _explain_class_table(noun: str) -> str:
    """How to read `_tabulate_class_scores`."""
    images = pluralize_noun(noun)
    return (
        f"Right: the share of the class's {images} that the ensemble gets right (recall); "
        "its interval holds for all classes at once. Precision: of what is said to be of the class, the share that is. "
        "F1: the harmonic mean of both. Says more often by: "
        f"the mean probability given to the class less the share of {images} that are of it, in percentage points."
    )


def _order_classes(scores: ClassScores) -> list[int]:
    used = np.flatnonzero(scores.counts + scores.said)
    recall = np.nan_to_num(scores.recall[used], nan=2.0)
    return [int(number) for number in used[np.lexsort((used, recall))]]


def _format_score(score: ScoreInterval, n: int) -> str:
    places = formats.count_percent_decimals(n)
    ends = formats.format_percent_range(score.low, score.high, places)
    return f"{formats.format_percent(score.value, n)} ({ends})"


_CELL_PITCH = 40  # pixels from cell to cell: ten of them fit a phone
_MATRIX_WIDTH, _MIN_CELL_PITCH = 480, 22  # pixels of more than a dozen together, and of each at least
MAX_CLASSES = 30  # classes in the picture
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
        {c: escaping.escape_plotly_text(formatter(names[c])) for c in kept} for formatter in (str, shorten_class_name)
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


_MAX_OPEN_CLASSES = 20  # classes, from which on their figures stand behind a fold
_MAX_LISTED_MISTAKES = 200  # mistakes to choose from, the commonest


def build_confusion(epoch: EvaluatedEpoch) -> View:
    scores = epoch.measure(_score_classes)
    yield Paragraph(_describe_lowest_class(scores, epoch.class_names, epoch.noun), "answer")
    if evidence := _describe_lowest_class_evidence(scores, epoch.noun):
        yield Paragraph(evidence, "evidence")
    lowest = epoch.measure(_find_weakest_group) if epoch.dataset.test_groups.named else None
    if lowest and lowest.right < lowest.count:
        yield Paragraph(describe_lowest_group(lowest, epoch.noun), "finding")
    matrix = epoch.measure(compute_confusion_matrix)
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
    yield Paragraph(_describe_class_averages(scores), "evidence")
    yield Paragraph(_describe_classwise_calibration(epoch.measure(_compare_classwise_calibration)), "evidence")
    yield Table(
        "Class by class",
        _tabulate_class_scores(scores, epoch.class_names, epoch.noun),
        folded=int((scores.counts > 0).sum()) > _MAX_OPEN_CLASSES,
        note=_explain_class_table(epoch.noun),
        key="inspect_classes",
        from_outside=True,
        numbers=lambda: _tabulate_class_values(scores, epoch.class_names),
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
        explanation=explain_confusion_chart(matrix, epoch.class_names, epoch.noun),
        draw=lambda palette: plot_confusion_matrix(
            matrix, cell, names=epoch.class_names, noun=epoch.noun, title=title, palette=palette
        ),
        markdown=True,
        key="inspect_confusion",
        file="confusion",
        title="The confusion matrix",
        table=lambda: tabulate_confusion_matrix(matrix, epoch.class_names),
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


VIEW = RegisteredView(
    "confusion",
    "Class by class",
    "Confusion matrix, and the accuracy of each class",
    build_confusion,
    place=90,
    within="uncertainty",
)
