"""Figures of what the members doubt, mistake and disagree about, against counting it here."""

import numpy as np
import pytest

from ensemble.analysis.example_measures import compute_measures as measures_of
from ensemble.analysis.members.diversity import nll_decomposition as decomposed
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.views import confusion, uncertainty
from ensemble.views import shift as entropy_histograms
from ensemble.views.members import agreement as pairwise_heatmap
from ensemble.views.members import diversity as decomposition
from ensemble.views.members.agreement import MEASURES, compute_pairwise_matrix
from tests.figures.test_inspect import NAMES, predictions

MADE = predictions(4, lean=1.0)
PARTS = {epoch: decomposed(predictions(3, seed=epoch).probabilities, MADE.labels) for epoch in (1, 2, 3)}


def matrix_of(made: EnsemblePredictions) -> confusion.Matrix:
    """(C, C): how many images of the row's class are said to be of the column's."""
    cells = np.zeros((10, 10), int)
    for label, said in zip(made.labels, made.said, strict=True):
        cells[label, said] += 1
    return cells


def scores(made: EnsemblePredictions) -> entropy_histograms.Scores:
    """Entropies of the ensemble and of each member."""

    def entropy(p: np.ndarray) -> np.ndarray:
        return -(p * np.log(p)).sum(axis=-1)

    return {"entropy": entropy(made.averaged), "member_entropy": entropy(made.probabilities)}


def test_every_square_has_its_count_and_the_chosen_one_a_border(palette: Palette) -> None:
    counts = matrix_of(MADE)
    (squares,) = confusion.plot_confusion_matrix(counts, (4, 9), NAMES, "digit", "title", palette).data
    for at, (label, said) in enumerate(squares.customdata):
        assert squares.text[at] == (str(counts[label, said]) if counts[label, said] else "")
        assert (squares.x[at], squares.y[at]) == (said, label)
        empty = squares.marker.color[at] == palette.ground
        assert empty == (counts[label, said] == 0)
    widths = squares.marker.line.width
    assert [squares.customdata[at] for at in np.flatnonzero(widths)] == [[4, 9]]
    assert squares.marker.line.color == palette.ink
    at = list(squares.customdata).index([3, 3])
    assert squares.hovertext[at].endswith(": 3, and said to be")
    table = confusion.tabulate_confusion_matrix(counts, NAMES)
    assert table["says 9"].tolist() == counts[:, 9].tolist()


@pytest.mark.parametrize(("classes", "height", "square"), [(10, 550, 30), (12, 630, 30), (16, 630, 22), (30, 810, 16)])
def test_squares_shrink_beyond_twelve_classes(classes: int, height: int, square: int, palette: Palette) -> None:
    names = [str(name) for name in range(classes)]
    chart = confusion.plot_confusion_matrix(np.eye(classes, dtype=int), None, names, "digit", "title", palette)
    assert chart.layout.height == height
    assert chart.data[0].marker.size == square


def test_every_pair_of_members_has_its_disagreement(palette: Palette) -> None:
    found = compute_pairwise_matrix(MADE, "disagreement")
    (cells,) = pairwise_heatmap.plot_pairwise_heatmap(MEASURES["disagreement"], found, 400, "digit", "t", palette).data
    for first in range(4):
        for second in range(4):
            apart = int((MADE.votes[first] != MADE.votes[second]).sum())
            if first == second:
                assert np.isnan(cells.z[first][second])
            else:
                assert cells.z[first][second] == pytest.approx(apart / 400)
                assert f"of {apart} digits" in cells.hovertext[first][second]
    assert [color for _, color in cells.colorscale] == [palette.panel, palette.primary]


def test_right_and_wrong_images_stand_at_their_two_uncertainties(palette: Palette) -> None:
    drawn = np.arange(0, 400, 2)
    found = measures_of(MADE)
    right, wrong = uncertainty.plot_uncertainty_scatter(MADE, found, drawn, NAMES, "digit", "t", palette).data
    assert (right.marker.color, wrong.marker.color) == (RIGHT_COLOR, WRONG_COLOR)
    whole = -(MADE.averaged * np.log(MADE.averaged)).sum(axis=-1)
    for trace, kept in ((right, MADE.right), (wrong, ~MADE.right)):
        numbers = [number for number, _, _ in trace.customdata]
        assert numbers == [number for number in drawn if kept[number]]
        np.testing.assert_allclose(trace.x + trace.y, whole[numbers], rtol=1e-5)
        assert trace.name.endswith(f" {kept.sum():,}"), "all are counted, drawn or not"


@pytest.mark.parametrize(
    ("wrong", "unsure", "one_in", "sure"),
    # Of 1,500 points those that mistakes leave, but at least 750: half for doubts, half for all others.
    [(100, 700, 4, 550), (1_000, 375, 5, 325)],
)
def test_all_mistakes_and_doubts_and_some_confident_images_are_drawn(
    wrong: int, unsure: int, one_in: int, sure: int
) -> None:
    first = np.linspace(0.6, 0.9, 3_000)
    labels = (np.arange(3_000) % (3_000 // wrong) == 0).astype(int)
    made = evaluate_predictions(np.stack([first, 1 - first], axis=1)[None], labels)
    drawn = uncertainty.select_drawn_images(made, measures_of(made))
    assert np.isin(np.flatnonzero(labels == 1), drawn).all()
    doubts, surest = np.split(np.flatnonzero(labels == 0), [unsure])
    assert np.isin(doubts, drawn).all()
    assert np.isin(surest, drawn).sum() == sure
    assert len(drawn) == wrong + unsure + sure
    assert uncertainty.compute_thinning_factor(made) == one_in


def test_the_band_between_the_losses_is_the_diversity(palette: Palette) -> None:
    chart = decomposition.plot_loss_decomposition(PARTS, 2, "title", palette)
    mean, whole = chart.data
    assert list(mean.x) == list(whole.x) == [1, 2, 3]
    apart = [one.diversity for one in PARTS.values()]
    np.testing.assert_allclose(np.subtract(mean.y, whole.y), apart, atol=1e-9)
    assert (mean.line.color, whole.line.color) == (MUTED_COLOR, palette.ink)
    assert [line.x0 for line in chart.layout.shapes] == [2], "where the shown epoch is"


@pytest.mark.parametrize(("last", "step"), [(1, 1), (9, 1), (10, 2), (20, 3)])
def test_the_axis_of_epochs_has_whole_steps_and_nine_ticks_at_most(last: int, step: int, palette: Palette) -> None:
    parts = dict.fromkeys(range(1, last + 1), PARTS[1])
    axis = decomposition.plot_loss_decomposition(parts, last, "title", palette).layout.xaxis
    assert (axis.tick0, axis.dtick) == (1, step)


@pytest.mark.parametrize(("members", "panels"), [(1, 1), (4, 2)])
def test_every_image_counts_once_in_its_histogram(members: int, panels: int, palette: Palette) -> None:
    known, unknown = scores(predictions(members)), scores(predictions(members, lean=0.0))
    chart = entropy_histograms.plot_entropy_histograms(known, unknown, ("Digits", "Noise"), "title", palette)
    assert len(chart.data) == 2 * panels
    for trace in chart.data:
        assert sum(trace.y) == pytest.approx(100)
        assert trace.line.color == (MUTED_COLOR if trace.name == "Digits" else palette.primary)
    last = chart.data[-1]
    values = unknown["entropy"] if panels == 2 else unknown["member_entropy"]
    half = 100 * (values < entropy_histograms.compute_max_entropy() / 2).mean()
    assert sum(last.y[last.x < entropy_histograms.compute_max_entropy() / 2]) == pytest.approx(half)


def test_the_label_of_an_image_is_before_its_prediction(palette: Palette) -> None:
    counts = np.array([[8, 5, 0], [1, 9, 0], [2, 0, 7]])
    names = ["cat", "dog", "owl"]
    (squares,) = confusion.plot_confusion_matrix(counts, None, names, "image", "title", palette).data
    texts = {tuple(cell): text for cell, text in zip(squares.customdata, squares.hovertext, strict=True)}
    assert texts[0, 1] == "5 images: cat, said to be dog"
    assert texts[1, 0] == "1 image: dog, said to be cat"
    assert texts[2, 2] == "7 images: owl, and said to be"
    text = confusion.explain_confusion_chart(counts, names, "image")
    assert "The commonest mistake is cat taken for dog: 5 of 8 mistakes." in text
    table = confusion.tabulate_confusion_matrix(counts, names).set_index("is")
    assert (table.loc["cat", "says dog"], table.loc["dog", "says cat"]) == (5, 1)
