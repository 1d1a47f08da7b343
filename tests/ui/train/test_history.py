from typing import Any

import numpy as np
import pandas as pd
import pytest

from ensemble.ui.train import history
from ensemble.ui.train.learning_curves import build_curve_legend, build_curve_style, list_curve_names


def steps(progress: float, *loss: float | None, whole: float | None = None) -> dict[str, Any]:
    return {
        "kind": "steps",
        "step": 1,
        "progress": progress,
        "train_loss": list(loss),
        "train_accuracy": [0.5] * len(loss),
        "ensemble_train_nll": whole,
        "ensemble_train_accuracy": None,
    }


def epoch(progress: float, accuracy: list[float], whole: float) -> dict[str, Any]:
    return {
        "kind": "epoch",
        "epoch": 1,
        "step": 1,
        "progress": progress,
        "test_accuracy": accuracy,
        "test_loss": [0.1] * len(accuracy),
        "ensemble_test_accuracy": whole,
        "ensemble_test_nll": 0.08,
    }


ROWS = [steps(0.5, 2.0, 1.0, whole=1.2), steps(1.0, 1.0, None, whole=0.6), epoch(1.0, [0.8, 0.9], 0.92)]


def by_name(figure: str) -> dict[tuple[str, str], history.LearningCurve]:
    return {(curve.series, curve.split): curve for curve in history.build_metric_curves(ROWS, figure)}


def test_every_member_its_mean_and_the_ensemble_have_a_curve() -> None:
    found = by_name("accuracy")
    np.testing.assert_array_equal(found["member 2", "test"].y, [0.9])
    np.testing.assert_allclose(found["mean", "test"].y, [0.85])
    np.testing.assert_array_equal(found["ensemble", "test"].y, [0.92])


def test_the_ensembles_loss_is_that_of_the_averaged_probabilities() -> None:
    found = by_name("loss")
    np.testing.assert_array_equal(found["ensemble", "train"].y, [1.2, 0.6])
    np.testing.assert_array_equal(found["mean", "train"].y, [1.5, np.nan])


def test_no_curve_for_what_the_run_did_not_measure() -> None:
    assert ("ensemble", "train") not in by_name("accuracy")


def test_one_member_is_no_ensemble() -> None:
    names = {c.series for c in history.build_metric_curves([steps(1, 2.0), epoch(1, [0.9], 0.9)], "accuracy")}
    assert names == {"member 1"}


@pytest.mark.parametrize("weight", [0.3, 0.9])
def test_smoothing_is_pandas_exponential_average(weight: float) -> None:
    y = np.random.default_rng(1).normal(size=200)
    theirs = pd.Series(y).ewm(alpha=1 - weight).mean()
    np.testing.assert_allclose(history.smooth_series(y, weight), theirs)


def test_smoothing_neither_fills_nor_spreads_a_gap() -> None:
    smoothed = history.smooth_series(np.array([1.0, np.nan, 3.0]), 0.5)
    np.testing.assert_allclose(smoothed, [1.0, np.nan, (3 + 0.5) / 1.5])


def test_no_smoothing_leaves_the_measurements() -> None:
    y = np.array([3.0, 1.0])
    assert history.smooth_series(y, 0.0) is y


def extremes(y: np.ndarray, group: int) -> set[int]:
    """The places of the first lowest and first highest of each group, found one by one."""
    kept = set()
    for start in range(0, len(y), group):
        there = [i for i in range(start, min(start + group, len(y))) if not np.isnan(y[i])]
        kept |= {min(there, key=lambda i: y[i]), max(there, key=lambda i: y[i])} if there else {start}
    return kept | {len(y) - 1}


@pytest.mark.parametrize(("points", "group"), [(100, 1), (101, 4), (195, 4), (1000, 32)])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_a_thinned_curve_keeps_every_peak(points: int, group: int, gaps: float) -> None:
    rng = np.random.default_rng(points)
    x, y = np.arange(points, dtype=float), rng.normal(size=points)
    y[rng.random(points) < gaps] = np.nan
    y[points // 4 : points // 2] = np.nan if gaps else 1.0
    kept = history.thin_curve(history.LearningCurve("mean", "train", x, y), 100)
    expected = sorted(extremes(y, group)) if group > 1 else range(points)
    np.testing.assert_array_equal(kept.x, x[list(expected)])
    np.testing.assert_array_equal(kept.y, y[list(expected)])
    assert len(kept.x) <= 100
    assert (np.nanmin(kept.y), np.nanmax(kept.y)) == (np.nanmin(y), np.nanmax(y))


def test_points_already_drawn_stay_when_the_curve_grows() -> None:
    y = np.random.default_rng(3).normal(size=180)
    before, after = (
        history.thin_curve(history.LearningCurve("mean", "train", np.arange(n, dtype=float), y[:n]), 100)
        for n in (150, 180)
    )
    drawn = before.x < 148  # all but the last group, which is not yet whole
    np.testing.assert_array_equal(before.x[drawn], after.x[after.x < 148])
    np.testing.assert_array_equal(before.y[drawn], after.y[after.x < 148])


def test_latest_test_figures_and_flat_columns() -> None:
    assert history.find_latest_epoch_row(ROWS) is ROWS[-1]
    assert history.find_latest_epoch_row(ROWS[:2]) is None
    columns = history.tabulate_history(ROWS)
    assert columns["train_loss_2"] == [1.0, None, None]
    assert columns["test_accuracy_1"] == [None, None, 0.8]


def test_validation_has_curves_where_it_was_measured_and_columns_of_its_own() -> None:
    held = {
        "validation_loss": [0.3, 0.5],
        "validation_accuracy": [0.7, 0.6],
        "ensemble_validation_nll": 0.2,
        "ensemble_validation_accuracy": 0.75,
    }
    rows = [epoch(1.0, [0.8, 0.9], 0.92) | held]
    assert history.build_split_curves(ROWS[-1:], "validation", "loss") == []
    found = {one.series: one.y.tolist() for one in history.build_split_curves(rows, "validation", "loss")}
    assert found == {"member 1": [0.3], "member 2": [0.5], "mean": [0.4], "ensemble": [0.2]}
    columns = history.tabulate_history(rows)
    assert columns["validation_loss_2"] == [0.5]
    assert columns["ensemble_validation_accuracy"] == [0.75]


def late_groups() -> list[dict[str, Any]]:
    """Two groups of two members; the second has not closed epoch 2, nor told of its last steps."""
    whole = epoch(1.0, [0.8, 0.9, 0.7, 0.6], 0.92)
    late = {
        "kind": "members",
        "epoch": 2,
        "step": 1,
        "progress": 2.0,
        "test_accuracy": [0.85, 0.95, None, None],
        "test_loss": [0.05, 0.04, None, None],
    }
    last = steps(2.0, 0.3, 0.2, None, None)
    return [steps(1.0, 1.0, 1.0, 1.0, 1.0), whole, last, late]


def test_members_whose_group_is_ahead_have_their_points_as_they_come() -> None:
    found = {(c.series, c.split): c for c in history.build_metric_curves(late_groups(), "accuracy")}
    np.testing.assert_array_equal(found["member 2", "test"].y, [0.9, 0.95])
    np.testing.assert_array_equal(found["member 2", "test"].x, [1.0, 2.0])
    np.testing.assert_array_equal(found["member 4", "test"].y, [0.6, np.nan])


def test_the_ensemble_and_the_mean_wait_for_every_group() -> None:
    found = {(c.series, c.split): c for c in history.build_metric_curves(late_groups(), "accuracy")}
    np.testing.assert_array_equal(found["ensemble", "test"].y, [0.92, np.nan])
    np.testing.assert_allclose(found["mean", "test"].y, [0.75, np.nan])
    losses = {(c.series, c.split): c for c in history.build_metric_curves(late_groups(), "loss")}
    np.testing.assert_array_equal(losses["mean", "train"].y, [1.0, np.nan])


def test_an_epoch_that_not_every_group_has_closed_is_no_headline() -> None:
    rows = late_groups()
    assert history.find_latest_epoch_row(rows) is rows[1]


def test_the_mean_member_is_that_of_those_who_go_on() -> None:
    rows = [epoch(1.0, [0.5, 0.7, 0.9], 0.9), epoch(2.0, [0.6, 0.8, 0.0], 0.9)]
    rows[1] |= {"set_aside": [2], "test_accuracy": [0.6, 0.8, None]}
    mean = next(one for one in history.build_split_curves(rows, "test", "accuracy") if one.series == "mean")
    assert mean.y.tolist() == pytest.approx([0.7, 0.7])


def test_an_epoch_that_not_every_group_has_closed_has_no_mean() -> None:
    rows = [epoch(1.0, [0.5, 0.7], 0.9), epoch(2.0, [0.6, 0.0], 0.9)]
    rows[1]["test_accuracy"] = [0.6, None]
    mean = next(one for one in history.build_split_curves(rows, "test", "accuracy") if one.series == "mean")
    assert mean.y[0] == pytest.approx(0.6)
    assert np.isnan(mean.y[1])


def test_learning_curves_of_many_members_are_quantiles_with_a_style_each() -> None:
    members = np.random.default_rng(1).random((3, 200))
    row = {"kind": "epoch", "step": 1, "ensemble_test_accuracy": 0.9}
    rows = [
        {**row, "epoch": epoch, "progress": float(epoch), "test_accuracy": members[epoch].tolist()}
        for epoch in range(3)
    ]
    curves = {curve.series: curve.y for curve in history.build_split_curves(rows, "test", "accuracy")}
    assert set(curves) <= set(list_curve_names(200))
    np.testing.assert_allclose(curves["members, lowest"], members.min(axis=1))
    np.testing.assert_allclose(curves["members, 95 %"], np.quantile(members, 0.95, axis=1))
    np.testing.assert_allclose(curves["mean"], members.mean(axis=1))
    assert all(build_curve_style(name, 200)["width"] for name in list_curve_names(200))
    assert [entry["label"] for entry in build_curve_legend(1024)][:3] == ["ensemble", "mean member", "1,024 members"]
