"""Figures of what was measured: under corruption and of regressions."""

from typing import Any

import numpy as np
import pytest

from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.figures import regression_charts
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette, mix_colors
from ensemble.regression import RegressionTraces, SolveTrace
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.shift_metrics import compute_shift_metrics
from ensemble.views import image_corruption, shift
from ensemble.views.image_corruption import CorruptionAnswers
from tests.analysis.draws import distributions

NAMES = tuple("0123456789")
LABELS = np.arange(60) % 10
AMOUNTS = (-30.0, -15.0, 0.0, 15.0, 30.0)


def curve(kind: str, members: int = 3) -> list[dict[str, Any]]:
    """What was measured at each amount of a corruption, each on other answers."""
    return [
        {"kind": kind, "amount": amount, **compute_shift_metrics(answers(members, seed), LABELS)}
        for seed, amount in enumerate(CORRUPTION_KINDS[kind].amounts)
    ]


def answers(members: int, seed: int) -> np.ndarray:
    return distributions(members, len(LABELS), 10, seed)


def asked(members: int) -> CorruptionAnswers:
    """One image, which is a 4, at five amounts."""
    made = evaluate_predictions(distributions(members, len(AMOUNTS), 10, 1), np.full(len(AMOUNTS), 4))
    images = np.zeros((len(AMOUNTS), 28, 28, 1), np.uint8)
    return CorruptionAnswers(AMOUNTS, images, made, compute_measures(made), None)


def trace(seconds: list[float], devices: int = 1) -> SolveTrace:
    """A solve with these step times, whose error halves at every step."""
    falling, ones = 0.5 ** np.arange(len(seconds)), np.ones(len(seconds))
    return SolveTrace(devices, devices > 1, 1.0, falling, falling, ones, ones, np.array(seconds), 0.0)


@pytest.mark.parametrize(("kind", "reversed_axis"), [("rotation", False), ("contrast", True)])
def test_every_panel_draws_what_was_measured_at_each_amount(kind: str, reversed_axis: bool, palette: Palette) -> None:
    found = curve(kind)
    chart = shift.plot_corruption_metrics(found, CORRUPTION_KINDS[kind], len(LABELS), "title", palette)
    bold = [one for one in chart.data if one.name == "ensemble"]
    assert {one.line.color for one in bold} == {palette.ink}
    averaged = [answers(3, seed).mean(axis=0, dtype=float) for seed in range(len(found))]
    right = [(one.argmax(axis=-1) == LABELS).mean() for one in averaged]
    lost = [-np.log(one[np.arange(len(LABELS)), LABELS]).mean() for one in averaged]
    assert [(one.xaxis, one.yaxis) for one in bold] == [("x", "y"), ("x2", "y2"), ("x3", "y3"), ("x4", "y4")]
    np.testing.assert_allclose(bold[0].y, right)
    np.testing.assert_allclose(bold[1].y, lost, rtol=1e-5)
    second = next(one for one in chart.data if one.name == "2")
    np.testing.assert_allclose(second.y, [(answers(3, seed)[1].argmax(axis=-1) == LABELS).mean() for seed in range(7)])
    assert (chart.layout.xaxis.autorange == "reversed") == reversed_axis


def test_an_accuracy_at_its_amount_is_said_under_the_pointer(palette: Palette) -> None:
    chart = shift.plot_corruption_metrics(
        curve("rotation"), CORRUPTION_KINDS["rotation"], len(LABELS), "title", palette
    )
    first = next(one for one in chart.data if one.name == "ensemble")
    assert first.hovertext[2] == f"The ensemble at 30°: {100 * first.y[2]:.1f} % accuracy"


@pytest.mark.parametrize(("members", "rows"), [(1, 1), (3, 4), (13, 1)])
def test_one_image_has_a_line_and_a_row_for_each_who_says_something(members: int, rows: int, palette: Palette) -> None:
    found = asked(members)
    chart = image_corruption.plot_image_corruption(found, CORRUPTION_KINDS["rotation"], 3, NAMES, "title", palette)
    cells = next(one for one in chart.data if one.type == "heatmap")
    assert len(cells.y) == rows
    votes = found.predictions.averaged.argmax(axis=-1)
    assert list(cells.text[0]) == [str(vote) for vote in votes]
    assert list(cells.z[0]) == (votes == 4).astype(int).tolist()
    fills = [color for _, color in cells.colorscale]
    assert fills[0] == mix_colors(palette.ground, WRONG_COLOR, 0.4)
    assert fills[-1] == mix_colors(palette.ground, RIGHT_COLOR, 0.4)
    who = "the one member" if members == 1 else "ensemble"
    bold = next(one for one in chart.data if one.name == who and one.type == "scatter")
    np.testing.assert_allclose(bold.y, found.predictions.probabilities[:, :, 4].mean(axis=0), rtol=1e-6)
    assert [one.x0 for one in chart.layout.shapes] == [15, 15, 7.5], "where the slider stands"


def test_errors_and_step_times_are_drawn_as_measured(palette: Palette) -> None:
    one, many = trace([0.05, 0.07, 0.06]), trace([0.03] * 3, devices=2)
    errors = regression_charts.plot_regression_errors(RegressionTraces(one, many, ()), 40, "title", palette).data
    assert [line.line.color for line in errors] == [palette.primary, palette.ink]
    np.testing.assert_allclose(errors[0].y, [1, 0.5, 0.25])
    chart = regression_charts.plot_step_times(RegressionTraces(one, many, ()), 40, "title", palette)
    np.testing.assert_allclose(chart.data[0].y, [50, 70, 60])
    assert [line.y0 for line in chart.layout.shapes] == pytest.approx([60, 30]), "the medians"
    assert [text.text for text in chart.layout.annotations] == ["<b>60 ms</b>", "<b>30 ms</b>"]


def test_the_speed_up_is_the_ratio_of_median_step_times(palette: Palette) -> None:
    swept = tuple(trace([ms / 1000] * 5, devices) for ms, devices in ((60, 1), (30, 2), (40, 4)))
    chart = regression_charts.plot_device_scaling(RegressionTraces(swept[0], swept[1], swept), 2, "title", palette)
    measured = next(line for line in chart.data if line.name == "measured")
    assert list(measured.x) == [1, 2, 4]
    assert list(measured.y) == pytest.approx([1, 2, 1.5])
    assert measured.line.color == palette.ink
    bound = next(line for line in chart.data if line.name == "all that 2 cores can give")
    assert list(bound.y) == [2, 2]


def test_a_log_axis_has_ticks_within_what_is_drawn() -> None:
    ticks = regression_charts.build_decade_axis(np.array([0.2, 3.0, np.nan]))
    assert len([tick for tick in ticks["tickvals"] if 0.2 <= tick <= 3.0]) == 4
    assert regression_charts.build_decade_axis(np.array([1e-6, 1.0]))["dtick"] == 1
    assert regression_charts.build_decade_axis(np.array([0.0, np.nan]))["type"] == "log"
