"""Pictures and tables of many classes: a few that matter, and it is said which."""

import json

import numpy as np
import pytest

from benchmarks.screens import sizes
from ensemble.analysis.predictions import Predictions, judge
from ensemble.figures import bars
from ensemble.figures.inspect import compare, confusion
from ensemble.figures.palette import Palette

C, N = 1_000, 2_100
NAMES = [f"<b>{c}</b> {'a very long name ' * 4}" for c in range(C)]


@pytest.fixture(scope="module")
def made() -> Predictions:
    return judge(*sizes.drawn(2, N, C))


def matrix(made: Predictions) -> np.ndarray:
    cells = np.zeros((C, C), np.int64)
    np.add.at(cells, (made.labels, made.said), 1)
    return cells


def test_a_confusion_matrix_of_a_thousand_classes_has_thirty() -> None:
    cells = np.diag(np.full(C, 5))
    wanted = [(999, 3), (3, 999), (500, 7), (8, 500)]
    for count, cell in enumerate(reversed(wanted), 1):
        cells[cell] = count
    kept = confusion.most_confused(cells, most=5)
    assert kept == [3, 7, 8, 500, 999]
    assert confusion.most_confused(cells, most=8) == [0, 1, 2, 3, 7, 8, 500, 999]
    assert {42, 43} < set(confusion.most_confused(cells, (42, 43), most=5))
    assert confusion.most_confused(cells[:10, :10]) == list(range(10))


def test_its_squares_name_their_classes_and_counts(made: Predictions, palette: Palette) -> None:
    cells = matrix(made)
    chart = json.loads(confusion.figure(cells, None, NAMES, "image", "t", palette).to_json())
    (trace,) = chart["data"]
    kept = confusion.most_confused(cells)
    assert len(kept) == confusion.MOST == 30
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
    made: Predictions, palette: Palette
) -> None:
    number = int(np.argmin(made.averaged[np.arange(N), made.labels]))
    kept = bars.likeliest(made, number)
    assert len(kept) == bars.MOST
    assert kept[-1] == made.labels[number]
    order = np.argsort(-made.averaged[number], kind="stable")
    assert kept[:-1].tolist() == order[: bars.MOST - 1].tolist()
    chart = json.loads(bars.figure(made, number, NAMES, "t", palette).to_json())
    assert chart["layout"]["height"] < 1_000
    texts = chart["layout"]["yaxis"]["ticktext"]
    assert texts[0].startswith("<b>says &lt;b&gt;")
    assert texts[-1].startswith("<b>is &lt;b&gt;")


def test_runs_are_compared_by_the_classes_that_differ_most(palette: Palette) -> None:
    won, lost = np.zeros((2, C), int)
    won[[10, 900]], lost[[11, 900]] = (3, 2), (4, 5)
    assert compare.farthest((won, lost), most=3).tolist() == [10, 11, 900]
    chart = json.loads(compare.figure((won, lost), NAMES, "image", "t", palette).to_json())
    assert len(chart["data"][0]["hovertext"]) == compare.MOST
