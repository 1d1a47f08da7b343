"""The loss over the value: dots in the colours of the curves, what diverged, the best range."""

import numpy as np
import pytest

from ensemble.figures import palette as colours
from ensemble.figures.palette import Palette
from ensemble.views import loss_by_value
from ensemble.views.loss_by_value import LossPoints
from tests.figures.test_inspect import traces

RATES = (0.01, 0.1, 1.0, 10.0)
NAMES = [f"member {m + 1} · rate {rate:g}" for m, rate in enumerate(RATES)]
POINTS = LossPoints("learning_rate", RATES, (0.5, 0.2, 0.25, None), NAMES, "test NLL", (0.1, 1.0), {3: 14})


def test_each_member_is_a_dot_in_the_colour_of_its_curve(palette: Palette) -> None:
    chart = loss_by_value.plot_loss_by_value(POINTS, "title", palette)
    (dots,) = traces(chart, "a member each")
    assert list(dots.x) == [0.01, 0.1, 1.0]
    assert list(dots.y) == [0.5, 0.2, 0.25]
    assert list(dots.marker.color) == colours.assign_ramp_colors(RATES, log=True)[:3]
    assert chart.layout.xaxis.type == "log"
    assert list(chart.layout.xaxis.ticktext) == ["0.01", "0.1", "1", "10"]


def test_members_that_were_set_aside_are_marked_and_named(palette: Palette) -> None:
    (cross,) = traces(loss_by_value.plot_loss_by_value(POINTS, "title", palette), "set aside: no loss any more")
    assert list(cross.x) == [10.0]
    assert cross.marker.symbol == "x"
    assert cross.hovertext[0].endswith("set aside at step 14")
    assert loss_by_value.describe_loss_by_value_chart(POINTS).endswith(
        "lowest 0.200, member 2 · rate 0.1; 1 member set aside"
    )


def test_the_best_range_is_shaded_around_its_values_alone(palette: Palette) -> None:
    chart = loss_by_value.plot_loss_by_value(POINTS, "title", palette)
    (shade,) = (shape for shape in chart.layout.shapes if shape.name == "range")
    assert 0.01 < shade.x0 < 0.1
    assert 1.0 < shade.x1 < 10
    assert chart.layout.annotations[0].x == pytest.approx(np.log10(shade.x0))


def test_members_of_equal_value_are_joined_by_their_mean(palette: Palette) -> None:
    same = LossPoints("momentum", (0.9, 0.5, 0.9), (0.2, 0.4, 0.4), NAMES[:3], "test NLL", None, {})
    (mean,) = traces(loss_by_value.plot_loss_by_value(same, "title", palette), "mean")
    assert list(mean.x) == [0.5, 0.9]
    assert list(mean.y) == pytest.approx([0.4, 0.3])


def test_the_table_has_a_row_for_every_member() -> None:
    rows = loss_by_value.tabulate_loss_by_value(POINTS)
    assert rows["learning_rate"].tolist() == list(RATES)
    assert rows["set_aside_at_step"].tolist()[3] == 14


def test_a_log_axis_of_losses_says_its_marks_in_full(palette: Palette) -> None:
    far = LossPoints("learning_rate", RATES, (0.3, 0.26, 2.3, None), NAMES, "test NLL", None, {})
    axis = loss_by_value.plot_loss_by_value(far, "title", palette).layout.yaxis
    assert axis.type == "log"
    assert list(axis.ticktext) == ["0.2", "0.5", "1", "2"]
