"""`ensemble.train_numbers`: a DataFrame or a file in, a run that is judged and asked out."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ensemble
from ensemble.config import RegressionConfig
from ensemble.errors import ConfigError, DataError, RunError
from ensemble.figures.palette import LIGHT
from ensemble.runs.numeric.numeric_predictions import read_numeric_targets
from ensemble.runs.store import RUN_STORE, find_regression_run, list_runs
from ensemble.runs.training.worker import execute_run
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.views.summary import summarize_view
from tests.runs.numeric.conftest import build_table

SMALL = {"members": 2, "batch_size": 16, "width": 8, "devices": 1}


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({column.name: column.values for column in build_table().columns})


@pytest.fixture(autouse=True)
def worker_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the worker does, without a process of its own for each test."""
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: execute_run(run.id))


def test_a_frame_is_learnt_from_judged_and_asked(
    frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = ensemble.train_numbers(frame, "price", name="houses", epochs=2, **SMALL)
    assert trained.state == "finished"
    assert "1 row has no price and was left out." in trained.notes
    assert "finished · epoch 2 of 2" in capsys.readouterr().out
    run = find_regression_run(trained.id)
    assert (run.name, run.target_name) == ("houses", "price")
    judged = trained.judge()
    assert judged.evaluation.ensemble.examples == 24
    assert "RMSE" in str(judged)
    assert judged.numbers.curve is None, "several inputs"
    answers = trained.predict(frame.drop(columns="price"))
    assert list(answers) == [*("mean", "sd", "low", "high", "aleatoric_sd", "epistemic_sd"), "extrapolated"]
    with pytest.warns(UserWarning, match="outside the training range"):
        far = trained.predict(frame.assign(area=frame["area"] + 10))
    assert far["extrapolated"].all()
    assert not answers["extrapolated"].all()
    assert (answers["low"] < answers["mean"]).all()
    frame.to_csv(tmp_path / "houses.csv", index=False)
    same = trained.predict(tmp_path / "houses.csv")
    np.testing.assert_allclose(same.to_numpy(np.float64), answers.to_numpy(np.float64), rtol=1e-5)


def test_what_does_not_fit_makes_no_run(frame: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="members is 0"):
        ensemble.train_numbers(frame, "price", members=0)
    with pytest.raises(DataError, match="The table has no column “cost”"):
        ensemble.train_numbers(frame, "cost")
    with pytest.raises(DataError, match="table is a list: give a DataFrame"):
        ensemble.train_numbers([1, 2], "price")
    mixed = frame.assign(odd=[1, "a"] * 60)
    with pytest.raises(DataError, match="give each column one type"):
        ensemble.train_numbers(mixed, "price")
    assert list_runs() == []


def test_a_small_table_is_trained_on_in_one_batch_and_without_validation(frame: pd.DataFrame) -> None:
    trained = ensemble.train_numbers(frame.iloc[10:30], "price", epochs=1, **SMALL | {"batch_size": 32})
    assert trained.state == "finished"
    assert "Batch size 32 exceeds the 16 training rows: all of them are one batch." in trained.notes
    assert any(note.startswith("Validation is off, because 10% of 16 rows") for note in trained.notes)
    run = find_regression_run(trained.id)
    assert run.settings is not None
    assert (run.settings.batch_size, run.settings.validation) == (16, 0.0)


def test_one_input_has_a_curve_and_rows_in_time_order_have_adaptive_intervals() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-4, 4, 250)
    cubic = pd.DataFrame({"x": x, "y": x**3 + rng.normal(0, 3, 250)})
    trained = ensemble.train_numbers(cubic, "y", members=2, epochs=3, devices=1, in_time_order=True, progress=False)
    numbers = trained.judge().numbers
    curve = numbers.curve
    assert curve is not None
    assert (curve.low, curve.high) == (x[:180].min(), x[:180].max())
    assert curve.inputs[0] < curve.low < curve.high < curve.inputs[-1]
    np.testing.assert_allclose(curve.test_inputs, x[200:], atol=1e-5)
    at = np.interp(curve.test_inputs, curve.inputs, curve.predicted.compute_mean())
    np.testing.assert_allclose(at, numbers.predicted.compute_mean(), atol=1.0)
    conformal = numbers.evaluation.conformal
    assert conformal is not None
    assert conformal.in_time_order
    assert "adapt after each example" in str(trained.judge())
    [figure] = [
        figure
        for figure in summarize_view(NUMERIC_VIEWS["predicted"], numbers).figures
        if figure.key == "numeric_curve"
    ]
    assert list(figure.table()) == ["x", "mean", "sd", "epistemic sd"]
    assert len(figure.draw(LIGHT).data) == 4


def test_the_split_has_a_seed_of_its_own_and_older_runs_keep_theirs(frame: pd.DataFrame) -> None:
    first, second, third = (
        find_regression_run(ensemble.train_numbers(frame, "price", epochs=1, **SMALL, **seeds).id)
        for seeds in ({}, {"seed": 7}, {"split_seed": 7})
    )
    targets = [read_numeric_targets(run).values for run in (first, second, third)]
    np.testing.assert_array_equal(targets[0], targets[1])
    assert not np.array_equal(targets[0], targets[2])
    stored = {**first.settings.as_dict(), "seed": 7} if first.settings else {}
    del stored["split_seed"]
    assert RegressionConfig.from_disk(stored).split_seed == 7


def test_runs_of_both_tasks_are_listed_and_opened_by_name(frame: pd.DataFrame) -> None:
    trained = ensemble.train_numbers(frame, "price", name="houses", epochs=1, progress=False, **SMALL)
    opened = ensemble.open_run("houses")
    assert isinstance(opened, ensemble.RegressionRun)
    assert opened == trained == ensemble.list_runs()[0]
    assert (opened.task, opened.state, opened.epochs) == ("regression", "finished", [1])
    assert [line["epoch"] for line in opened.history()] == [1]
    assert opened.view("calibration").answer
    assert "test RMSE" in opened._repr_html_()
    with pytest.raises(RunError, match="predicts numbers, and this is for classes"):
        ensemble.Run(opened.id).predictions()


def test_new_rows_are_read_as_the_table_of_the_run_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    size = rng.uniform(1000, 9000, 80).round(3)
    zone = np.array(["A1", "01", "02", "7"])[np.arange(80) % 4]
    new = np.arange(80) % 3 == 0
    frame = pd.DataFrame({"size": size, "zone": zone, "new": new, "price": size * 2 + 500 * (zone == "01")})
    frame.to_csv(tmp_path / "houses.csv", index=False)
    trained = ensemble.train_numbers(tmp_path / "houses.csv", "price", members=2, epochs=2, progress=False)
    whole = trained.predict(tmp_path / "houses.csv")["mean"].to_numpy()

    def write_german(rows: pd.DataFrame, path: Path) -> None:
        rows.assign(new=rows["new"].astype(str).str.upper()).to_csv(path, index=False, sep=";", decimal=",")

    for rows in (frame, frame.iloc[1:2], frame.iloc[1::4], frame.iloc[[3, 7]], frame.sample(9, random_state=1)):
        expected = whole[rows.index]
        rows = rows.drop(columns="price")
        rows.to_csv(tmp_path / "new.csv", index=False)
        write_german(rows, tmp_path / "german.csv")
        rows.to_parquet(tmp_path / "new.parquet")
        # As pandas reads such rows again: 01 and 7 are numbers to it where no A1 stands among them.
        again = pd.read_csv(tmp_path / "new.csv")
        again.index = rows.index
        for given in (tmp_path / "new.csv", tmp_path / "german.csv", tmp_path / "new.parquet", rows, again):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Numbers are read with a decimal comma")
                answers = trained.predict(given)
            np.testing.assert_allclose(answers["mean"], expected, rtol=1e-6)
        assert answers.index.equals(rows.index)


def test_gaps_and_new_values_of_new_rows_are_reported(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": np.arange(60) * 2.5, "zone": ["a", "b"] * 30, "price": np.arange(60) * 3.0})
    trained = ensemble.train_numbers(frame, "price", members=2, epochs=1, progress=False)
    rows = pd.DataFrame({"size": [1.0, None], "zone": ["c", None]}, index=["x", "y"])
    with pytest.warns(UserWarning, match="missing|no training row") as said:
        assert list(trained.predict(rows).index) == ["x", "y"]
    assert [str(each.message) for each in said] == [
        "size is missing in 1 row: the training rows' mean is used instead.",
        "zone is missing in 1 row: it counts as none of the training values.",
        "1 row has a value of zone that no training row has.",
    ]
