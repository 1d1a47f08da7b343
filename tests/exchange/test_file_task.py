"""A file given to the command of the other task is refused with the command that takes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.cli.program import main
from ensemble.errors import PredictionsError
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.file_task import is_numeric_file

N = 24
SHARES = np.linspace(0.1, 0.9, N)
CLASSES = {"p_a": SHARES, "p_b": 1 - SHARES, "label": np.array(["a", "b"])[np.arange(N) % 2]}
NUMBERS = {"mean": SHARES, "std": SHARES, "target": SHARES}
POINTS = {"id": np.arange(N), "prediction": SHARES, "target": SHARES + 0.01}
ARRAYS = {
    "classes": {"probabilities": np.stack([SHARES, 1 - SHARES], axis=1), "labels": np.arange(N) % 2},
    "numbers": {"mean": SHARES, "std": SHARES, "targets": SHARES},
    "points": {"predictions": SHARES[None], "targets": SHARES + 0.01},
}


def write(path: Path, columns: dict[str, Any], arrays: dict[str, Any]) -> None:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".csv":
        pd.DataFrame(columns).to_csv(path, index=False)
    else:
        pd.DataFrame(columns).to_parquet(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_the_other_command_is_named_with_the_file(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(f"my file.{suffix}")
    write(path, CLASSES, ARRAYS["classes"])
    assert not is_numeric_file(path)
    refused = CliRunner().invoke(main, ["numbers", str(path)])
    assert f"Read it with `ensemble import '{path}'`, in Python with ensemble.Predictions.from_files(\"{path}\")." in (
        refused.output
    )
    for name, columns in (("numbers", NUMBERS), ("points", POINTS)):
        write(path, columns, ARRAYS[name])
        assert is_numeric_file(path)
        with pytest.raises(PredictionsError) as error:
            ensemble.Predictions.from_files(path)
        assert f"{path}: it holds predicted numbers, not classes. Judge it with `ensemble numbers '{path}'`" in str(
            error.value
        )
        for command in ("numbers", "import"):
            done = CliRunner().invoke(main, [command, str(path)])
            assert done.exit_code == 0, done.output


def test_a_table_to_train_on_that_holds_predictions_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for columns, is_named in ((CLASSES, True), (NUMBERS, True), ({"size": SHARES, "price": SHARES}, False)):
        write(path, columns, {})
        notes = " ".join(read_data_table(path).notes)
        assert (f"import the file: `ensemble import {path}`." in notes) is is_named


def test_arrays_of_the_other_task_are_refused_with_the_function_that_takes_them() -> None:
    shares = np.stack([[SHARES, 1 - SHARES]] * 3).transpose(0, 2, 1)
    with pytest.raises(PredictionsError, match=r"give them to ensemble\.Predictions\.from_arrays"):
        ensemble.judge_numbers(shares, np.arange(N) % 2)
    with pytest.raises(PredictionsError, match=r"Judge them with ensemble\.judge_numbers"):
        ensemble.Predictions.from_arrays(shares, SHARES)
