"""`train --task regression`: a table in, an ensemble that predicts its numbers out."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.api import open_numbers
from ensemble.cli.program import main
from ensemble.runs.numeric.numeric_predictions import read_numeric_predictions, select_numeric_epoch
from ensemble.runs.store import find_regression_run, list_runs
from ensemble.tables.prepared_table import read_prepared_table
from tests.runs.numeric.conftest import build_table

SMALL = ["--members", "2", "--epochs", "3", "--batch-size", "16", "--width", "8", "--devices", "2"]


@pytest.fixture
def houses(tmp_path: Path) -> Path:
    table = build_table()
    names = ",".join(table.column_names)
    rows = zip(*(column.values for column in table.columns), strict=True)
    path = tmp_path / "houses.csv"
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows)]))
    return path


def call(*words: str) -> Result:
    """The command with these words, whatever comes of it."""
    return CliRunner().invoke(main, ["train", *words])


def test_a_table_is_learnt_from_and_what_was_assumed_is_said(houses: Path) -> None:
    done = call("--task", "regression", "--table", str(houses), "--target", "price", *SMALL)
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["state"], result["target"], result["members"]) == ("finished", "price", 2)
    assert result["best_ensemble_test_nll"] is not None
    assert "1 row has no price and was left out." in done.stderr
    assert "As categories, a column for each value: city (2 values)." in done.stderr
    run = find_regression_run(result["run_id"])
    mixture = read_numeric_predictions(run, select_numeric_epoch(run))
    assert np.isfinite(mixture.mean).all()
    assert mixture.examples == 24
    again = call("--resume", run.id)
    assert again.exit_code == 1
    assert "it has finished" in again.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--target price", "--target goes only with --task regression: add that"),
        ("--beta 0.5 --depth 3", "--beta, --depth go only with --task regression"),
        (
            "--task regression --table t.csv --target y --dataset mnist --flip",
            "--dataset, --flip go only with --task classification",
        ),
        ("--task regression --table t.csv --target y --from w.npz", "--from goes only with --task classification"),
        ("--task regression --table t.csv", "--task regression needs --target"),
        (
            "--task regression --table t.csv --target y --network cnn",
            "network is cnn, which takes images: for a table choose mlp",
        ),
        ("--task regression --table t.csv --target y", "t.csv cannot be read"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: str, sentence: str) -> None:
    done = call(*words.split())
    assert done.exit_code != 0
    assert sentence in " ".join(done.output.split())
    assert list_runs() == []


def test_a_column_that_is_not_there_makes_no_run(houses: Path) -> None:
    done = call("--task", "regression", "--table", str(houses), "--target", "cost")
    assert "its columns are area, city, price" in done.output
    assert list_runs() == []


def test_a_trained_run_answers_for_new_rows_as_for_its_test_rows(houses: Path) -> None:
    """The whole table is asked about, the target left out: test rows come as they were kept."""
    done = call("--task", "regression", "--table", str(houses), "--target", "price", *SMALL)
    run = find_regression_run(json.loads(done.stdout.splitlines()[-1])["run_id"])
    lines = houses.read_text().splitlines()
    new = houses.with_name("new.csv")
    new.write_text("\n".join(line.rpartition(",")[0] for line in lines))
    asked = CliRunner().invoke(main, ["predict", run.id, str(new)], catch_exceptions=False)
    assert asked.exit_code == 0, asked.output
    head, *rows = asked.stdout.splitlines()
    assert head == "row,mean,sd,low_90,high_90,aleatoric_sd,epistemic_sd,extrapolated"
    answers = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    assert len(answers) == len(lines) - 1
    table = read_prepared_table(run.path)
    places = table.row_numbers[table.split.test] - 1
    kept = read_numeric_predictions(run, select_numeric_epoch(run))
    assert isinstance(kept, NormalMixture)
    np.testing.assert_allclose(answers[places, 1], kept.compute_mean(), rtol=1e-4)
    np.testing.assert_allclose(answers[places, 2] ** 2, kept.compute_variance(), rtol=1e-3)
    assert (answers[:, 3] < answers[:, 1]).all()
    assert (answers[:, 1] < answers[:, 4]).all()
    np.testing.assert_allclose(answers[:, 2] ** 2, (answers[:, 5:7] ** 2).sum(axis=1), rtol=1e-4)
    first = CliRunner().invoke(main, ["predict", run.id, str(new), "--json"]).stdout.splitlines()[0]
    assert json.loads(first)["row"] == 1
    new.write_text("area\n1\n")
    refused = CliRunner().invoke(main, ["predict", run.id, str(new)])
    assert "has no column “city”" in refused.output


def test_several_splits_are_runs_of_their_own_and_end_with_means_and_standard_errors(houses: Path) -> None:
    words = ["--task", "regression", "--table", str(houses), "--target", "price", *SMALL]
    done = call(*words, "--splits", "3")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    found = [open_numbers(run_id) for run_id in told["run_ids"]]
    rmse = [each.evaluation.ensemble.rmse for each in found]
    assert len({tuple(each.numbers.targets) for each in found}) == 3
    assert told["ensemble"]["rmse"]["mean"] == pytest.approx(np.mean(rmse))
    error = np.std(rmse, ddof=1) / np.sqrt(3)
    assert told["ensemble"]["rmse"]["standard_error"] == pytest.approx(error)
    members = [np.mean([member.crps for member in each.evaluation.members]) for each in found]
    assert told["member"]["crps"]["mean"] == pytest.approx(np.mean(members))
    assert "Mean ± standard error over 3 splits: ensemble RMSE " in done.stderr
    assert told["suspects"] == []
    assert "normal noise" not in done.stderr
    alone = call(*words, "--splits", "3", "--time-order")
    assert "Rows in time order have one split: leave out --splits." in alone.output
    ordered = call(*words, "--time-order")
    assert "Rows are in time order: the last ones are tested on." in ordered.stderr
    run = find_regression_run(json.loads(ordered.stdout.splitlines()[-1])["run_id"])
    table = read_prepared_table(run.path)
    assert table.row_numbers[table.split.test].min() > table.row_numbers[table.split.train].max()
