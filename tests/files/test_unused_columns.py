"""What a file has and nobody used is named, in one sentence, at every entry point."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ensemble import datasets
from ensemble.cli.program import main
from ensemble.datasets.decisions.decision_table import read_label_changes
from ensemble.datasets.own.sources.folders.group_table import number_picture_groups
from ensemble.datasets.own.sources.folders.label_table import parse_label_table
from ensemble.datasets.own.sources.folders.picture_table import read_picture_table
from ensemble.exchange import read_prediction_files
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.files.columns import list_unused_notes
from ensemble.tables.prepared_table import prepare_table

N = 24
SHARES = np.linspace(0.1, 0.9, N)
CLASSES = {"p_a": SHARES, "p_b": 1 - SHARES, "label": np.array(["a", "b"])[np.arange(N) % 2], "confidence": SHARES}
NUMBERS = {"mean": SHARES, "std": SHARES, "target": SHARES, "seconds": SHARES}
HOUSES = {"size": SHARES, "street": [f"street {n}" for n in range(N)], "price": SHARES + np.arange(N) % 3}
PICTURES = {"file": [f"{n}.png" for n in range(N)], "writer": ["a"] * N}


def read_predictions(path: Path) -> Sequence[str]:
    return read_prediction_files([path]).notes


def read_numbers(path: Path) -> Sequence[str]:
    return read_numeric_file(path).notes


def read_houses(path: Path) -> Sequence[str]:
    return prepare_table(read_data_table(path), "price", 0, 0.2, 0.2).notes


def read_decisions(path: Path) -> Sequence[str]:
    return read_label_changes(path, datasets.load_dataset("digits")).notes


def read_picture_groups(path: Path) -> Sequence[str]:
    return number_picture_groups(path, {"train": [path.parent / f"{n}.png" for n in range(N)]})[1]


def read_picture_labels(path: Path) -> Sequence[str]:
    table = parse_label_table(read_picture_table(path))
    assert table is not None
    return table.notes


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
@pytest.mark.parametrize(
    ("read", "columns", "sentence"),
    [
        (read_predictions, CLASSES, "Columns that were not used: “confidence”."),
        (read_numbers, NUMBERS, "Columns that were not used: “seconds”."),
        (read_houses, HOUSES, "Columns that were not used: “street” (text that differs from row to row)."),
        (
            read_decisions,
            {"split": "test", "number": range(10), "label": range(10), "decision": "keep", "colour": "red"},
            "Columns that were not used: “colour”.",
        ),
        (
            read_picture_groups,
            {**PICTURES, "group": "a", "colour": "red"},
            "Columns of a.csv that were not used: “writer”, “colour”.",
        ),
        (
            read_picture_labels,
            {**PICTURES, "label": ["a", "b"] * (N // 2), "split": "train"},
            "Columns of a.csv that were not used: “writer”.",
        ),
    ],
)
def test_columns_that_were_not_used_are_named(
    read: Any, columns: dict[str, Any], sentence: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{suffix}"
    if suffix == "npz":
        if read not in (read_predictions, read_numbers):
            pytest.skip("it reads tables")
        arrays = {"targets" if name == "target" else name: values for name, values in columns.items()}
        if read is read_predictions:
            arrays = {
                "probabilities": np.stack([SHARES, 1 - SHARES], axis=1),
                "labels": np.arange(N) % 2,
                "confidence": SHARES,
            }
        np.savez(path, **arrays)
        sentence = sentence.replace("Columns", "Arrays")
    elif suffix == "csv":
        pd.DataFrame(columns).to_csv(path, index=False)
    elif read in (read_predictions, read_numbers, read_houses):
        pd.DataFrame(columns).to_parquet(path)
    else:
        pytest.skip("it reads CSV")
    assert sentence in read(path)


def test_many_columns_are_counted_and_numbers_of_rows_are_not_named() -> None:
    assert list_unused_notes(["Unnamed: 0", ""]) == []
    (note,) = list_unused_notes([f"c{n}" for n in range(11)])
    assert note.endswith("“c7” and 3 more.")


def test_commands_have_them_in_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, columns in (("classes", CLASSES), ("numbers", NUMBERS), ("houses", HOUSES)):
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)
    train = "train --task regression --table houses.csv --target price --epochs 1 --members 2"
    for words, unused in (
        ("import classes.csv", "“confidence”"),
        ("label next classes.csv --by entropy --json", "“confidence”"),
        ("import numbers.csv", "“seconds”"),
        ("numbers numbers.csv --json", "“seconds”"),
        (train, "“street” (text that differs from row to row)"),
    ):
        done = CliRunner().invoke(main, words.split())
        assert done.exit_code == 0, done.output
        notes = json.loads(done.stdout.splitlines()[-1])["notes"]
        assert f"Columns that were not used: {unused}." in notes, words
