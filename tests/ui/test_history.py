from typing import Any

import numpy as np
import pandas as pd
import pytest

from ensemble.ui import history


def steps(progress: float, *loss: float | None, whole: float | None = None) -> dict[str, Any]:
    return {
        "kind": "steps", "step": 1, "progress": progress, "train_loss": list(loss),
        "train_accuracy": [0.5] * len(loss), "ensemble_train_nll": whole,
        "ensemble_train_accuracy": None,
    }  # fmt: skip


def epoch(progress: float, accuracy: list[float], whole: float) -> dict[str, Any]:
    return {
        "kind": "epoch", "step": 1, "progress": progress, "test_accuracy": accuracy,
        "test_loss": [0.1] * len(accuracy), "ensemble_test_accuracy": whole,
        "ensemble_test_nll": 0.08,
    }  # fmt: skip


ROWS = [
    steps(0.5, 2.0, 1.0, whole=1.2),
    steps(1.0, 1.0, None, whole=0.6),
    epoch(1.0, [0.8, 0.9], 0.92),
]


def by_name(figure: str) -> dict[tuple[str, str], history.Curve]:
    return {(curve.who, curve.split): curve for curve in history.curves(ROWS, figure)}


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
    names = {c.who for c in history.curves([steps(1, 2.0), epoch(1, [0.9], 0.9)], "accuracy")}
    assert names == {"member 1"}


@pytest.mark.parametrize("weight", [0.3, 0.9])
def test_smoothing_is_pandas_exponential_average(weight: float) -> None:
    y = np.random.default_rng(1).normal(size=200)
    theirs = pd.Series(y).ewm(alpha=1 - weight).mean()
    np.testing.assert_allclose(history.smooth(y, weight), theirs)


def test_smoothing_neither_fills_nor_spreads_a_gap() -> None:
    smoothed = history.smooth(np.array([1.0, np.nan, 3.0]), 0.5)
    np.testing.assert_allclose(smoothed, [1.0, np.nan, (3 + 0.5) / 1.5])


def test_no_smoothing_leaves_the_measurements() -> None:
    y = np.array([3.0, 1.0])
    assert history.smooth(y, 0.0) is y


@pytest.mark.parametrize(("points", "kept"), [(1, 1), (100, 100), (101, 51), (1000, 63)])
def test_thinning_takes_means_of_neighbours(points: int, kept: int) -> None:
    x, y = np.arange(points, dtype=float), np.random.default_rng(2).normal(size=points)
    thinned = history.thin(history.Curve("mean", "train", x, y), 100)
    assert len(thinned.x) == kept
    group = 1 if points <= 100 else 2 if points == 101 else 16
    np.testing.assert_allclose(thinned.y[0], y[:group].mean())
    np.testing.assert_allclose(thinned.y[-1], y[(kept - 1) * group :].mean())


def test_points_already_drawn_stay_when_the_curve_grows() -> None:
    y = np.random.default_rng(3).normal(size=180)
    before, after = (
        history.thin(history.Curve("mean", "train", np.arange(n, dtype=float), y[:n]), 100)
        for n in (150, 180)
    )
    np.testing.assert_array_equal(before.x, after.x[:75])
    np.testing.assert_array_equal(before.y, after.y[:75])


def test_latest_test_figures_and_flat_columns() -> None:
    assert history.latest(ROWS) is ROWS[-1]
    assert history.latest(ROWS[:2]) is None
    columns = history.table(ROWS)
    assert columns["train_loss_2"] == [1.0, None, None]
    assert columns["test_accuracy_1"] == [None, None, 0.8]
