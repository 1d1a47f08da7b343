"""A sweep over settings of a regression: all trials learn from one table, split once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

import ensemble
from ensemble import runs, sweeps
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.cli.program import main
from ensemble.config import REGRESSION, RegressionConfig
from ensemble.errors import ConfigError
from ensemble.runs.numeric.numeric_predictions import (
    read_numeric_predictions,
    read_numeric_targets,
    read_numeric_validation,
)
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.sweeps.worker import work_on_sweep
from ensemble.tables.prepared_table import read_prepared_table
from ensemble.wording.provenance import build_rerun_command
from tests.runs.numeric.conftest import build_table

SHARED = ["--members", "2", "--epochs", "3", "--batch-size", "16", "--width", "4", "--devices", "1"]
SPACE = ["--space", "learning_rate=0.001..0.1:log", "--space", "beta=0,0.5"]


@pytest.fixture
def houses(tmp_path: Path, runs_of_one_test: Path) -> list[str]:
    """The options that name a table."""
    path = tmp_path / "houses.csv"
    pd.DataFrame({column.name: column.values for column in build_table().columns}).to_csv(path, index=False)
    return ["--task", "regression", "--table", str(path), "--target", "price", "--validation", "0.2"]


def run_sweep(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *words])


def read_last_line(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def test_trials_are_judged_on_the_validation_rows_of_one_split(houses: list[str]) -> None:
    goals = ["--objective", "rmse", "--objective", "nll", "--objective", "crps"]
    result = run_sweep(*houses, *SHARED, *SPACE, *goals, "--trials", "3", "--sampler", "random")
    said = read_last_line(result)
    assert "validation RMSE of the ensemble" in result.stderr
    trained = [runs.find_run(trial["run_id"]) for trial in said["trials"]]
    assert len(trained) == 3
    for trial, run in zip(said["trials"], trained, strict=True):
        assert (run.task, run.state, run.tags) == (REGRESSION, "finished", (said["study"],))
        assert isinstance(run.settings, RegressionConfig)
        assert trial["params"] == {"learning_rate": run.settings.learning_rate, "beta": run.settings.beta}
        line = next(
            line
            for line in runs.read_history(run.id)
            if line["kind"] == "epoch" and line["epoch"] == run.status.best_epoch
        )
        assert trial["values"] == [line[f"ensemble_validation_{name}"] for name in ("rmse", "nll", "crps")]
        np.testing.assert_array_equal(read_numeric_targets(run).values, read_numeric_targets(trained[0]).values)
    assert said["best"]["values"][0] == min(trial["values"][0] for trial in said["trials"])
    assert read_last_line(run_sweep(said["study"])) == said
    check_summary(said, result.stderr)


def check_summary(said: dict[str, Any], printed: str) -> None:
    """The verdict on the validation rows, and the test figures of the best: on screen and in the JSON."""
    order = [trial["number"] for trial in sorted(said["trials"], key=lambda trial: trial["values"])]
    verdict = said["verdict"]
    assert (verdict["metric"], verdict["split"], verdict["best"]) == ("rmse", "validation", str(order[0]))
    assert said["next"]["number"] == order[1]
    assert (said["next"]["low"] > 0) == (order[1] not in said["not_shown_worse"])
    for sentence in (verdict["answer"], *verdict["evidence"]):
        assert sentence in printed
    assert f"Its ensemble on {said['test']['rmse']['examples']} test rows, RMSE: " in printed
    assert set(said["test"]) == {"rmse", "nll"}


def test_a_stopped_sweep_is_read_from_its_folder_and_given_more_trials(houses: list[str]) -> None:
    said = read_last_line(run_sweep(*houses, *SHARED, "--space", "batch_size=8,1000", "--sampler", "grid"))
    sizes = {runs.find_run(trial["run_id"]).settings.batch_size for trial in said["trials"]}
    assert sizes == {8, 76}, "all training rows are the largest batch"
    sweep = sweeps.find_sweep(said["study"])
    assert isinstance(sweep.config.base, RegressionConfig)
    assert SweepConfig.from_disk(sweep.config.as_dict()) == sweep.config


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--space", "split_seed=1,2"], "space names 'split_seed'"),
        (["--space", "width=4,8", "--objective", "accuracy"], "accuracy is not an objective of a regression"),
        (["--space", "width=4,8", "--splits", "3"], "--splits goes with train"),
        (["--space", "width=4,8", "--flip"], "--flip goes only with --task classification"),
    ],
)
def test_what_does_not_fit_is_refused(houses: list[str], words: list[str], sentence: str) -> None:
    result = run_sweep(*houses, *words)
    assert result.exit_code != 0
    assert sentence in " ".join(result.output.split())
    assert sweeps.list_sweeps() == []


def test_a_table_is_needed(runs_of_one_test: Path) -> None:
    with pytest.raises(ConfigError, match="needs a table"):
        sweeps.create_sweep(SweepConfig(space="width=4,8", base=RegressionConfig()))
    with pytest.raises(ConfigError, match="rmse is not an objective of a classification"):
        SweepConfig(objectives="rmse")


def test_a_table_that_holds_out_too_few_rows_is_refused(houses: list[str]) -> None:
    result = run_sweep(*houses, "--validation", "0.02", "--space", "width=4,8")
    assert "holds out too few rows" in " ".join(result.output.split())
    assert sweeps.list_sweeps() == []


def test_from_python_a_frame_is_searched(runs_of_one_test: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SWEEP_STORE, "start_worker", lambda sweep: work_on_sweep(sweep.id))
    frame = pd.DataFrame({column.name: column.values for column in build_table().columns})
    config = RegressionConfig(members=2, epochs=1, batch_size=16, devices=1, validation=0.2)
    found = ensemble.sweep(
        {"width": [4, 8]}, config, table=frame, target="price", sampler="grid", objectives="crps", progress=False
    )
    assert [trial.params for trial in found.trials] == [{"width": 4}, {"width": 8}]
    assert isinstance(found.best, ensemble.RegressionRun)
    first, second, *_ = found.verdict.splitlines()
    assert first == "One run per setting does not show which settings are better."
    assert "has the lowest validation CRPS" in second
    with pytest.raises(ConfigError, match="needs table"):
        ensemble.sweep({"width": [4, 8]}, config)


def test_members_of_several_trials_become_a_regression_that_is_asked_as_any(houses: list[str], tmp_path: Path) -> None:
    said = read_last_line(run_sweep(*houses, *SHARED, "--space", "learning_rate=0.003,0.03", "--sampler", "grid"))
    chosen = read_last_line(run_sweep(said["study"], "--select", "3", "--name", "Three of four"))
    run = runs.find_run(chosen["run_id"])
    assert (run.task, run.state, run.config.members) == (REGRESSION, "finished", 3)
    trained = [runs.find_run(trial["run_id"]) for trial in said["trials"]]
    check_greedy_choice(chosen, trained)
    tested = read_numeric_predictions(run, 1)
    for number, source in enumerate(chosen["members"]):
        there = read_numeric_predictions(runs.find_run(source["run_id"]), source["epoch"])
        np.testing.assert_array_equal(tested.mean[number], there.mean[source["member"] - 1])
    # Its parameters give the test rows what its predictions are.
    opened = ensemble.open_run(run.id)
    assert isinstance(opened, ensemble.RegressionRun)
    rows = build_table().columns
    with pytest.warns(UserWarning, match="outside the training range"):
        answers = opened.predict(pd.DataFrame({column.name: column.values for column in rows}))
    kept = read_prepared_table(run.path)
    at = kept.row_numbers[kept.split.test] - 1
    np.testing.assert_allclose(answers["mean"].to_numpy()[at], tested.compute_mean(), rtol=1e-4)
    line = runs.read_history(run.id)[-1]
    held, targets = read_numeric_validation(run, 1)
    assert line["ensemble_validation_nll"] == pytest.approx(held.compute_nll(targets.values).mean())
    shown = CliRunner().invoke(main, ["inspect", run.id, "answer"]).output
    assert "Its members were chosen on the validation rows" in " ".join(shown.split())
    assert build_rerun_command(run) == "", "no command chooses these members again"


def check_greedy_choice(chosen: dict[str, Any], trained: list[runs.Run]) -> None:
    """Each member is the one with which the mixture's NLL on the validation rows is lowest (Caruana 2004)."""
    pool = dict[tuple[str, int], tuple[NDArray[np.float64], NDArray[np.float64]]]()
    for run in trained:
        held, targets = read_numeric_validation(run, run.status.best_epoch or 0)
        pool |= {(run.id, member + 1): (held.mean[member], held.variance[member]) for member in range(2)}
    picked = list[tuple[str, int]]()
    for source in chosen["members"]:

        def compute_nll(key: tuple[str, int]) -> float:
            mean, variance = (np.stack(each) for each in zip(*(pool[one] for one in (*picked, key)), strict=True))
            return float(NormalMixture(mean, variance).compute_nll(targets.values).mean())

        best = min((key for key in pool if key not in picked), key=compute_nll)
        assert best == (source["run_id"], source["member"])
        picked.append(best)
