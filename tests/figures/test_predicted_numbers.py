"""Predicted numbers against true ones: sides, signs, and intervals drawn to both ends."""

import numpy as np
import pytest

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.figures.palette import Palette
from ensemble.views.numeric import numeric_predicted as predicted_numbers
from ensemble.views.numeric import numeric_worst

TARGETS = np.array([1.0, 4.0, 2.5, 9.0])
MEAN = np.array([[1.5, 3.0, 2.0, 6.0], [2.5, 4.0, 2.0, 7.0]])
ENSEMBLE = NormalMixture(MEAN, np.full((2, 4), 0.25))
ENDS = np.array([0.5, 3.0, 1.5, 6.0]), np.array([5.0, 4.2, 2.2, 6.8])
NAMES = ["a", "b", "c", "d"]


def test_true_numbers_go_to_the_right_and_intervals_reach_their_ends(palette: Palette) -> None:
    chart = predicted_numbers.plot_predicted_numbers(ENSEMBLE, TARGETS, ENDS, NAMES, "m", "title", palette)
    marks = [trace for trace in chart.data if trace.mode == "markers"]
    assert [len(trace.x) for trace in marks] == [2, 2], "two intervals hold the target"
    drawn = {
        x: (y, y - minus, y + plus)
        for trace in marks
        for x, y, minus, plus in zip(trace.x, trace.y, trace.error_y.arrayminus, trace.error_y.array, strict=True)
    }
    for number, target in enumerate(TARGETS):
        assert drawn[target] == pytest.approx((MEAN[:, number].mean(), ENDS[0][number], ENDS[1][number]))
    assert chart.layout.xaxis.title.text == "true, m"
    table = predicted_numbers.tabulate_predicted_numbers(ENSEMBLE, TARGETS, ENDS)
    assert table["target"].tolist() == TARGETS.tolist()
    np.testing.assert_allclose(table[["predicted", "low", "high"]], [drawn[target] for target in TARGETS])


def test_the_distance_from_0_of_a_member_is_its_excess_of_predictions(palette: Palette) -> None:
    chosen = np.array([3, 0])
    chart = numeric_worst.plot_member_numbers(ENSEMBLE, TARGETS, chosen, NAMES, ["one", "two"], "", "title", palette)
    lines = {trace.name: list(trace.x) for trace in chart.data}
    assert lines["one"] == [-3.0, 0.5]
    assert lines["two"] == [-2.0, 1.5]
    assert lines["ensemble"] == [-2.5, 1.0]
    assert list(chart.layout.yaxis.ticktext) == ["d", "a"]
    table = numeric_worst.tabulate_member_numbers(ENSEMBLE, TARGETS, chosen, ["one", "two"])
    rows = table[["example", "member", "target", "predicted"]].to_numpy().tolist()
    assert rows == [[3, "one", 9.0, 6.0], [3, "two", 9.0, 7.0], [0, "one", 1.0, 1.5], [0, "two", 1.0, 2.5]]
