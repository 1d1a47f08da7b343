"""Pictures and tables of many classes: a few that matter, and it is said which."""

import json

import numpy as np
import pytest

from benchmarks.screens import sizes
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.figures import probability_bars
from ensemble.figures.palette import Palette
from ensemble.views import confusion
from ensemble.views import run_comparison as wins_by_class

C, N = 1_000, 2_100
NAMES = [f"<b>{c}</b> {'a very long name ' * 4}" for c in range(C)]


@pytest.fixture(scope="module")
def made() -> EnsemblePredictions:
    return evaluate_predictions(*sizes.drawn(2, N, C))


def matrix(made: EnsemblePredictions) -> np.ndarray:
    cells = np.zeros((C, C), np.int64)
    np.add.at(cells, (made.labels, made.said), 1)
    return cells


def test_a_confusion_matrix_of_a_thousand_classes_has_thirty() -> None:
    cells = np.diag(np.full(C, 5))
    wanted = [(999, 3), (3, 999), (500, 7), (8, 500)]
    for count, cell in enumerate(reversed(wanted), 1):
        cells[cell] = count
    kept = confusion.select_most_confused(cells, most=5)
    assert kept == [3, 7, 8, 500, 999]
    assert confusion.select_most_confused(cells, most=8) == [0, 1, 2, 3, 7, 8, 500, 999]
    assert {42, 43} < set(confusion.select_most_confused(cells, (42, 43), most=5))
    assert confusion.select_most_confused(cells[:10, :10]) == list(range(10))


def test_its_squares_name_their_classes_and_counts(made: EnsemblePredictions, palette: Palette) -> None:
    cells = matrix(made)
    chart = json.loads(confusion.plot_confusion_matrix(cells, None, NAMES, "image", "t", palette).to_json())
    (trace,) = chart["data"]
    kept = confusion.select_most_confused(cells)
    assert len(kept) == confusion.MAX_CLASSES == 30
    wrong = cells - np.diag(np.diag(cells))
    row, column = divmod(int(wrong.argmax()), C)
    assert {row, column} <= set(kept)
    assert len(trace["customdata"]) == 900
    for (is_, said), text in zip(trace["customdata"], trace["text"], strict=True):
        assert text == (f"{cells[is_, said]:,}" if cells[is_, said] else "")
    assert chart["layout"]["height"] < 1_000
    ticks = chart["layout"]["xaxis"]["ticktext"]
    assert len(ticks) == 30
    assert all("<" not in one and len(one) < 50 for one in ticks)


def test_an_image_has_bars_of_its_likeliest_classes_and_of_what_it_is(
    made: EnsemblePredictions, palette: Palette
) -> None:
    number = int(np.argmin(made.averaged[np.arange(N), made.labels]))
    kept = probability_bars.select_likeliest_classes(made, number)
    assert len(kept) == probability_bars.MAX_CLASSES
    assert kept[-1] == made.labels[number]
    order = np.argsort(-made.averaged[number], kind="stable")
    assert kept[:-1].tolist() == order[: probability_bars.MAX_CLASSES - 1].tolist()
    chart = json.loads(probability_bars.plot_probability_bars(made, number, NAMES, "t", palette).to_json())
    assert chart["layout"]["height"] < 1_000
    texts = chart["layout"]["yaxis"]["ticktext"]
    assert texts[0].startswith("<b>says &lt;b&gt;")
    assert texts[-1].startswith("<b>is &lt;b&gt;")


def test_runs_are_compared_by_the_classes_that_differ_most(palette: Palette) -> None:
    won, lost = np.zeros((2, C), int)
    won[[10, 900]], lost[[11, 900]] = (3, 2), (4, 5)
    assert wins_by_class.select_most_changed_classes((won, lost), most=3).tolist() == [10, 11, 900]
    chart = json.loads(wins_by_class.plot_wins_by_class((won, lost), NAMES, "image", "t", palette).to_json())
    assert len(chart["data"][0]["hovertext"]) == wins_by_class.MAX_CLASSES
