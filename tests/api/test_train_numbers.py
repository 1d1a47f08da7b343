"""`ensemble.train_numbers`: a DataFrame or a file in, a run that is judged and asked out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ensemble
from ensemble.errors import ConfigError, DataError
from ensemble.numeric.numeric_store import NUMERIC_STORE, find_numeric_run, list_numeric_runs
from ensemble.numeric.training.numeric_worker import execute_numeric_run
from tests.numeric.conftest import build_table


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({column.name: column.values for column in build_table().columns})


@pytest.fixture(autouse=True)
def worker_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the worker does, without a process of its own for each test."""
    monkeypatch.setattr(NUMERIC_STORE, "start_worker", lambda run: execute_numeric_run(run.id))


def test_a_frame_is_learnt_from_judged_and_asked(
    frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {"members": 2, "epochs": 2, "batch_size": 16, "width": 8, "devices": 1}
    trained = ensemble.train_numbers(frame, "price", name="houses", **small)
    assert trained.state == "finished"
    assert "1 row has no price and was left out." in trained.notes
    assert "finished · epoch 2 of 2" in capsys.readouterr().out
    run = find_numeric_run(trained.id)
    assert (run.name, run.target_name) == ("houses", "price")
    judged = trained.judge()
    assert judged.evaluation.ensemble.examples == 24
    assert "RMSE" in str(judged)
    answers = trained.predict(frame.drop(columns="price"))
    assert list(answers) == ["mean", "sd", "low", "high", "aleatoric_sd", "epistemic_sd"]
    assert (answers["low"] < answers["mean"]).all()
    frame.to_csv(tmp_path / "houses.csv", index=False)
    same = trained.predict(tmp_path / "houses.csv")
    np.testing.assert_allclose(same.to_numpy(), answers.to_numpy(), rtol=1e-5)


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
    assert list_numeric_runs() == []
