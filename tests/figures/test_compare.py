"""Figures of several runs: means and bands of groups, points of runs, axes to be brushed."""

from typing import Any

import numpy as np
import pytest

from ensemble.comparison.group_curves import compute_group_curves
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.comparison.run_points import build_run_points
from ensemble.figures import chart_style
from ensemble.figures.comparison import colors, scatter
from ensemble.figures.comparison import curves as pictures
from ensemble.figures.comparison.columns import AxisColumn, build_parallel_axes, list_run_columns
from ensemble.figures.palette import DARK, LIGHT
from ensemble.runs import Run, read_history, rename_run
from tests.comparison.drawn import finished
from tests.contrast import contrast


def three_seeds() -> list[Run]:
    return [finished({"seed": seed}, epochs=3, draw=seed) for seed in (1, 2, 3)]


def test_the_bold_line_is_the_mean_of_the_thin_ones_and_the_band_holds_them() -> None:
    every = three_seeds()
    found = compute_group_curves(group_runs(every), figure="accuracy")
    made = pictures.plot_group_curves([("test", found)], what="accuracy", x="epochs", title="t", palette=LIGHT)
    truth = np.array(
        [[line["ensemble_test_accuracy"] for line in read_history(run.id) if line["kind"] == "epoch"] for run in every]
    )
    bands = [one for one in made.data if one.fill == "toself"]
    thin = [one for one in made.data if one.line.width == 1]
    [bold] = [one for one in made.data if one.line.width == 3]
    assert len(bands) == 1
    assert len(thin) == 3
    np.testing.assert_allclose(bold.y, 100 * truth.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(bands[0].y[:3], 100 * truth.max(axis=0), rtol=1e-4)
    np.testing.assert_allclose(bands[0].y[:2:-1], 100 * truth.min(axis=0), rtol=1e-4)
    assert "mean of 3" in bold.name


def test_a_name_is_no_value_under_the_pointer() -> None:
    run = finished({}, epochs=3)
    group = RunGroup("%{x}<b>", run.id, (run,))
    made = pictures.plot_group_curves(
        [("test", compute_group_curves([group]))], what="loss", x="epochs", title="t", palette=LIGHT
    )
    [bold] = [one for one in made.data if one.line.width == 3]
    assert bold.hovertemplate.count("%{") == 2, "x and y"
    assert "%\N{WORD JOINER}{x}&lt;b&gt;" in bold.hovertemplate


def test_a_runs_name_on_its_thin_line_is_text_under_the_pointer() -> None:
    every = [finished({"seed": seed}, epochs=1, draw=seed) for seed in (1, 2)]
    every = [rename_run(run.id, f"<i>run</i> {place}") for place, run in enumerate(every)]
    found = compute_group_curves(group_runs(every))
    made = pictures.plot_group_curves([("test", found)], what="loss", x="epochs", title="t", palette=LIGHT)
    names = [one.name for one in made.data if one.line.width == 1]
    assert len(names) == 2
    assert all("&lt;i&gt;run" in name and "<" not in name for name in names)


def test_each_split_has_its_dash_and_accuracies_on_a_log_axis_are_shares_of_errors() -> None:
    groups = group_runs(three_seeds())
    both: pictures.CurvesBySplit = [
        (one, compute_group_curves(groups, figure="accuracy", split=one)) for one in ("train", "test")
    ]
    made = pictures.plot_group_curves(both, what="accuracy", x="epochs", title="t", palette=DARK, log=("x", "y"))
    means = [one for one in made.data if one.line.width == 3]
    assert [one.line.dash for one in means] == ["dash", "solid"]
    assert [one.showlegend for one in means] == [False, True]
    assert made.layout.yaxis.type == made.layout.xaxis.type == "log"
    np.testing.assert_allclose(means[1].y, 100 * (1 - both[1][1][0].mean), rtol=1e-4)


def test_every_point_of_a_picture_is_in_its_table() -> None:
    groups = group_runs(three_seeds())
    table = pictures.tabulate_group_curves([("test", compute_group_curves(groups))], "loss", "epochs")
    assert len(table) == 3 * 3 + 3
    each = table[table["run"] != ""].groupby("epochs")["loss"]
    mean = table[table["curve"] == "mean"]
    np.testing.assert_allclose(mean["loss"], each.mean())
    np.testing.assert_allclose(mean["low"], each.min())
    assert set(mean["runs"]) == {3}


def test_a_column_of_every_setting_and_figure_is_known_by_its_kind() -> None:
    every = [
        finished({"learning_rate": rate, "network": network}, draw=draw)
        for draw, (rate, network) in enumerate([(0.01, "mlp"), (1.0, "cnn")])
    ]
    known = {column.name: column for column in list_run_columns(build_run_points(every))}
    rate, network, accuracy = (known[name] for name in ("learning_rate", "network", "accuracy"))
    assert (rate.values, rate.log, rate.is_metric) == ((0.01, 1.0), True, False)
    assert network.categories == sorted(map(str, network.values))
    assert not network.is_number
    assert accuracy.percent
    assert accuracy.is_metric
    assert not known["momentum"].varies
    assert "vary" not in known, "what no run has is no column"
    sent = {axis["name"]: axis for axis in build_parallel_axes([rate, network])}
    assert [sent["network"]["categories"][place] for place in sent["network"]["values"]] == list(network.values)
    assert sent["learning_rate"]["said"] == ["0.01", "1"]


NUMBERS = AxisColumn("a", "A", (1.0, 10.0, None, 100.0), log=True)
WORDS = AxisColumn("b", "B", ("<b>x", "y", "x", None), is_number=False)


def drawn(color: AxisColumn | None, kept: tuple[bool, ...], **more: Any) -> Any:
    return scatter.plot_run_scatter(NUMBERS, WORDS, color, ["p", "q", "r", "<b>s"], kept, "t", LIGHT, **more)


def test_a_point_stands_for_each_run_that_has_both_and_what_is_not_brushed_is_small() -> None:
    made = drawn(NUMBERS, (True, False, True, True), log=("x", "y"))
    out, in_ = made.data[0], made.data[1]
    assert (list(out.x), list(in_.x)) == ([10.0], [1.0])
    assert out.marker.size < in_.marker.size
    assert in_.y[0] == "&lt;b&gt;x"
    assert "&lt;b&gt;x" in in_.hovertext[0]
    assert made.layout.xaxis.type == "log"
    assert made.layout.yaxis.type == "category"


def test_colours_go_by_the_place_on_the_axis_and_are_legible_on_both_grounds() -> None:
    hues = colors.assign_column_colors(NUMBERS)
    assert (hues[0], hues[1], hues[3]) == colors.SCALE_COLORS, "a log axis: evenly apart"
    assert len(set(colors.assign_group_colors(50))) == 50
    for hue in (*colors.assign_group_colors(50), *hues):
        assert min(contrast(hue, one.ground) for one in (LIGHT, DARK)) >= 3


@pytest.mark.parametrize("values", [(), (None, None), (0.0, 0.0), (5.0, 5.0)])
def test_columns_without_spread_are_drawn_too(values: tuple[float | None, ...]) -> None:
    column = AxisColumn("a", "A", values, log=True)
    kept = [True] * len(values)
    scatter.plot_run_scatter(column, column, column, ["n"] * len(values), kept, "t", LIGHT, ("x",))
    assert build_parallel_axes([column])[0]["may_log"] == (values == (5.0, 5.0))


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([0.011, None, 0.9], ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]),
        ([0.26, 2.4], ["0.2", "0.5", "1", "2"]),
        ([1e-6, 10, float("inf"), -1], ["1e−6", "1e−5", "0.0001", "0.001", "0.01", "0.1", "1", "10"]),
        ([310.0, 420.0, 0.0], ["320", "340", "360", "380", "400", "420"]),
        ([0.52, 1.46], ["0.6", "0.8", "1", "1.2", "1.4"]),
        ([0.5], ["0.5"]),
        ([0.0], []),
    ],
)
def test_marks_of_a_log_axis_are_whole_numbers_and_none_a_lone_digit(
    values: list[float | None], marks: list[str]
) -> None:
    made = chart_style.build_log_ticks(values)
    assert made.get("ticktext", []) == marks
    assert [float(one.replace("−", "-")) for one in marks] == made.get("tickvals", [])


def test_no_half_of_an_epoch_is_marked() -> None:
    made = pictures.plot_group_curves(
        [("test", compute_group_curves(group_runs(three_seeds())))], what="loss", x="epochs", title="t", palette=LIGHT
    )
    assert made.layout.xaxis.dtick == 1


def test_log_axes_of_curves_and_points_say_their_marks_in_full() -> None:
    every = [finished({"learning_rate": rate, "seed": at}, epochs=12, draw=at) for at, rate in enumerate((0.01, 1.0))]
    found = [("test", compute_group_curves(group_runs(every)))]
    made = pictures.plot_group_curves(found, what="loss", x="epochs", title="t", palette=LIGHT, log=("x", "y"))
    assert list(made.layout.xaxis.ticktext) == ["1", "2", "5", "10"]
    assert len(made.layout.yaxis.ticktext) > 1
    rate, nll = (one for one in list_run_columns(build_run_points(every)) if one.name in ("learning_rate", "nll"))
    scattered = scatter.plot_run_scatter(rate, nll, None, ["a", "b"], [True] * 2, "t", LIGHT, log=("x",))
    assert next(iter(scattered.layout.xaxis.ticktext)) == "0.01"
    assert "0.5" in scattered.layout.xaxis.ticktext
