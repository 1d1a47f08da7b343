"""A table whose numbers can be read with a point or a comma: every entry point asks, and takes the answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.api.regression_run import read_table
from ensemble.cli.program import main
from ensemble.errors import ConfigError, EnsembleError
from ensemble.exchange import read_prediction_files
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.exchange.prediction_files import read_unlabelled_files
from ensemble.runs.store import find_run
from ensemble.wording.provenance import build_rerun_command

N = 40
VALUES = [f"{n % 9 + 1},{100 + n}" for n in range(N)]  # 1,100: 1100, or 1.1
POINTS = np.array([float(value.replace(",", "")) for value in VALUES])
QUESTION = "can be read in two ways: “1,100” is 1100 with a decimal point and 1.100 with a decimal comma."
HINT = 'Choose one: `--decimal point` or `--decimal comma`, in Python decimal="point" or decimal="comma".'
NUMBERS = "mean;std;target\n" + "\n".join(f"{value};{value};{value}" for value in VALUES)
CLASSES = "logit_a;logit_b;label\n" + "\n".join(f"{value};{value};{'ab'[n % 2]}" for n, value in enumerate(VALUES))
HOUSES = "size;price\n" + "\n".join(f"{value};{value}" for value in VALUES)

SWEEP = (
    "sweep --task regression --table a.csv --target price --trials 1 --epochs 1 --members 1 --validation 0.3 "
    "--space learning_rate=0.01,0.02"
)


def read_logits(path: Path, decimal: str = "") -> Any:
    return read_prediction_files([path], decimal=decimal).probabilities[0, 0, :, 0]


def read_unlabelled_logits(path: Path, decimal: str = "") -> Any:
    return read_unlabelled_files([path], decimal=decimal).probabilities[0, :, 0]


def read_targets(path: Path, decimal: str = "") -> Any:
    return read_numeric_file(path, decimal).targets


def read_sizes(path: Path, decimal: str = "") -> Any:
    return read_data_table(path, decimal=decimal).columns[0].values


def read_python_table(path: Path, decimal: str = "") -> Any:
    return read_table(str(path), decimal=decimal).columns[0].values


def read_python_logits(path: Path, decimal: str = "") -> Any:
    return ensemble.Predictions.from_files(path, decimal=decimal).averaged[:, 0]


HALVES = {"point": np.full(N, 0.5), "comma": np.full(N, 0.5)}
SIZES = {"point": POINTS, "comma": POINTS / 1000}


@pytest.mark.parametrize(
    ("read", "content", "expected"),
    [
        (read_logits, CLASSES, HALVES),
        (read_unlabelled_logits, CLASSES, HALVES),
        (read_python_logits, CLASSES, HALVES),
        (read_targets, NUMBERS, SIZES),
        (read_sizes, HOUSES, SIZES),
        (read_python_table, HOUSES, SIZES),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_readings_are_refused_until_one_is_chosen(
    read: Callable[..., Any], content: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(EnsembleError) as refused:
        read(path)
    assert str(refused.value).startswith("a.csv: the numbers of “")
    assert str(refused.value).endswith(f"{QUESTION} {HINT}")
    for decimal, values in expected.items():
        np.testing.assert_allclose(read(path, decimal), values)
    with pytest.raises(ConfigError, match=r'decimal is \'semicolon\': choose "point" or "comma"'):
        read(path, "semicolon")


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (["numbers", "a.csv"], NUMBERS),
        (["import", "a.csv"], NUMBERS),
        (["import", "a.csv"], CLASSES),
        (["label", "next", "a.csv", "--by", "entropy"], CLASSES),
        (SWEEP.split(), HOUSES),
    ],
    ids=["numbers", "import numbers", "import classes", "label next", "sweep"],
)
def test_a_command_names_its_option(
    words: list[str], content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(content)
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 1
    assert f"{QUESTION} {HINT}" in refused.output
    done = CliRunner().invoke(main, [*words, "--decimal", "comma"])
    assert done.exit_code == 0, done.output


def test_a_run_keeps_the_choice_for_new_rows_and_for_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("houses.csv").write_text(HOUSES)
    words = ["train", "--task", "regression", "--table", "houses.csv", "--target", "price", "--epochs", "1"]
    done = CliRunner().invoke(main, [*words, "--members", "2", "--decimal", "comma"])
    assert done.exit_code == 0, done.output
    run = find_run(json.loads(done.stdout.splitlines()[-1])["run_id"])
    assert "--table houses.csv --target price --decimal comma --members 2" in build_rerun_command(run)
    Path("new.csv").write_text("size;colour\n1,100;red\n9,100;blue\n")
    told = [
        CliRunner().invoke(main, ["predict", run.id, "new.csv", "--json", *more]) for more in ([], ["--decimal=comma"])
    ]
    first, second = ([json.loads(line) for line in each.stdout.splitlines()] for each in told)
    assert first == second
    assert not any(row["extrapolated"] for row in first)
    assert first[0]["notes"] == ["Numbers are read with a decimal comma.", "Columns that were not used: “colour”."]
    assert first[1]["notes"] == []
    other = CliRunner().invoke(main, ["predict", run.id, "new.csv", "--json", "--decimal", "point"])
    assert all(json.loads(line)["extrapolated"] for line in other.stdout.splitlines())
