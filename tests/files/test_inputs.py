"""What people bring, and what comes of it: the file, the entry point, what is read and what is reported.

One row for each kind of input that was once read wrongly, or without a word. A row says what is read as
a list of numbers or words, or that the file is refused, and words that the notes or the refusal have.
Pictures have a table of their own, as `data add` is slower (tests/datasets/own).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ensemble import exchange
from ensemble.errors import EnsembleError
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.file_task import is_numeric_file
from ensemble.exchange.numeric_files import read_numeric_file

RNG = np.random.default_rng(11)
N = 40
TARGET = RNG.normal(50, 9, N).round(3)
MEAN = TARGET + RNG.normal(0, 2, N).round(3)
LABELS = np.arange(N) % 4
SHARES = RNG.dirichlet(np.ones(4), N)
ORDER = np.argsort(-SHARES, axis=1)
LARGEST_FIRST = np.take_along_axis(SHARES, ORDER, axis=1)
NUMBERS = {"target": TARGET, "mean": MEAN}
CLASSES = {"label": LABELS, **{f"p_{n}": SHARES[:, n] for n in range(4)}}


@dataclass(frozen=True)
class Input:
    """A row of the table.

    Attributes:
      entry: of `ENTRIES`.
      content: the text of a CSV, columns of one, or arrays of an `.npz`.
      reads: what the entry makes of it; None where it is refused.
      reports: words of the notes, or of the refusal.
    """

    entry: str
    content: str | Mapping[str, Any] | dict[str, np.ndarray]
    reads: Any
    reports: Sequence[str] = ()


def read_numbers(path: Path) -> tuple[Any, Sequence[str]]:
    assert is_numeric_file(path) or path.name.startswith("points")
    read = read_numeric_file(path)
    spread = "spread" if hasattr(read.mixture, "variance") else type(read.mixture).__name__
    return [len(read.member_names), spread], read.notes


def read_classes(path: Path) -> tuple[Any, Sequence[str]]:
    assert not is_numeric_file(path)
    found = exchange.read_prediction_files([path])
    accuracy = (found.probabilities[0].mean(axis=0).argmax(axis=1) == found.labels).mean()
    return [found.probabilities.shape[1], found.probabilities.shape[3], round(float(accuracy), 3)], found.notes


def read_table(path: Path) -> tuple[Any, Sequence[str]]:
    table = read_data_table(path)
    first = [(column.kind, column.values[0] if len(column.values) else None) for column in table.columns]
    return first, (*table.notes, *(note for column in table.columns for note in column.notes))


ENTRIES: dict[str, Callable[[Path], tuple[Any, Sequence[str]]]] = {
    "numbers": read_numbers,
    "classes": read_classes,
    "table": read_table,
}
ACCURACY = round(float((SHARES.argmax(axis=1) == LABELS).mean()), 3)
ONE = [1, "spread"]
POINT = [1, "PointEnsemble"]
INPUTS: dict[str, Input] = {
    # Columns next to the mean.
    "standard errors and intervals": Input(
        *("numbers", {**NUMBERS, "mean_se": 1.0, "mean_ci_lower": MEAN - 1, "obs_ci_upper": MEAN + 1}, POINT),
        ["not used: “mean_se”, “mean_ci_lower”, “obs_ci_upper”", "level of the bounds “mean_ci_lower”"],
    ),
    "y_pred and y_pred_std": Input("numbers", {"y_true": TARGET, "y_pred": MEAN, "y_pred_std": 1.0}, ONE),
    "y_std as an array": Input("numbers", {"y_true": TARGET, "y_pred": MEAN, "y_std": np.ones(N)}, ONE),
    "mu and log_var": Input("numbers", {"target": TARGET, "mu": MEAN, "log_var": 0.0}, ONE),
    "mean and logvar as arrays": Input("numbers", {**NUMBERS, "logvar": np.zeros(N)}, ONE),
    "std and var that agree": Input("numbers", {**NUMBERS, "std": 2.0, "var": 4.0}, ONE),
    "std and var that do not": Input("numbers", {**NUMBERS, "std": 2.0, "var": 2.0}, None, ["contradict each other"]),
    "members and their ensemble": Input(
        *("numbers", {"target": TARGET, "mean_1": MEAN, "mean_2": MEAN, "mean_ensemble": MEAN}, [2, "PointEnsemble"]),
        ["The ensemble's own prediction is not a member: “mean_ensemble” left out."],
    ),
    "quantiles called 0.1, 0.5, 0.9": Input(
        *("numbers", {"item_id": "a", "mean": MEAN, "0.1": MEAN - 1, "0.5": MEAN, "0.9": MEAN + 1, "target": TARGET}),
        [1, "QuantileEnsemble"],
        ["not used: “item_id”, “mean”"],
    ),
    "rows of several splits": Input("numbers", {**NUMBERS, "split": ["a", "b"] * 20}, None, ["belong to 2 splits"]),
    "an example twice": Input("numbers", {**NUMBERS, "id": "x"}, None, ["two rows of the example “x”"]),
    "classes given to numbers": Input("numbers", CLASSES, None, ["ensemble import"]),
    # Decimal and thousands signs.
    "quoted 0,523": Input(
        "table", '"a","b"\n"0,523","1"\n"0,871","2"\n', [("number", 0.523), ("number", 1.0)], ["decimal comma"]
    ),
    "decimal comma after 220 rows": Input(
        "table", "a;b\n" + "7;1\n" * 220 + "7,25;1\n8,5;1\n", [("number", 7.0), ("number", 1.0)], ["decimal comma"]
    ),
    "every price above 1.000,00": Input(
        "table", "a;b\n237.554,74;1\n9.001,50;2\n", [("number", 237554.74), ("number", 1.0)]
    ),
    "spaces between thousands": Input(
        "table", "a;b\n237 554,74;1\n9 001,50;2\n", [("number", 237554.74), ("number", 1.0)]
    ),
    "a currency": Input(
        "table", 'a,b\n"$1,234.50",1\n"$12",2\n', [("number", 1234.5), ("number", 1.0)], ["the sign $ is left out"]
    ),
    "per cent": Input(
        "table", "a,b\n12.5 %,1\n3 %,2\n", [("number", 12.5), ("number", 1.0)], ["the sign % is left out"]
    ),
    "two currencies": Input("table", "a,b\n$5,1\n€4,2\n", [("text", "$5"), ("number", 1.0)]),
    "only 1,234": Input(
        "table", "a;b\n1,234;x\n5,678;y\n", None, ["1234 with a decimal point and 1.234 with a decimal comma"]
    ),
    "1,234 next to 1.5": Input("table", 'a,b\n"1,234",1.5\n"5,678",2\n', [("number", 1234.0), ("number", 1.5)]),
    "1.234 next to 0,5": Input("table", "a;b\n1.234;0,5\n5.678;2\n", [("number", 1234.0), ("number", 0.5)]),
    "three decimals between commas": Input("table", "a,b\n1.234,1\n5.678,2\n", [("number", 1.234), ("number", 1.0)]),
    # Header and cells.
    "no header": Input(
        "table",
        "88.1,3,105120\n66.2,4,99000\n",
        [("number", 88.1), ("number", 3.0), ("number", 105120.0)],
        ["The first row is data"],
    ),
    "years as names": Input(
        "table", "2019,2020,2021\n5,6,7\n8,9,4\n", [("number", 5.0), ("number", 6.0), ("number", 7.0)]
    ),
    "a column PK": Input("table", "PK,<b>\n4,1\n9,2\n", [("number", 4.0), ("number", 1.0)]),
    "JSON": Input("table", '[{"a": 1}]', None, ["it is JSON: save the table as CSV or Parquet"]),
    "a line break in a cell": Input("table", 'a,b\n"x\ny",1\nz,2\n', [("text", "x\ny"), ("number", 1.0)]),
    "a hash in a quoted cell": Input(
        "table", 'a,b\n"x\n#y",1\n# a comment\nz,2\n', [("text", "x\n#y"), ("number", 1.0)]
    ),
    "sep= and UTF-16": Input(
        "table", "sep=;\na;b\n1;2\n3;5\n", [("number", 1.0), ("number", 2.0)], ["before the header"]
    ),
    # Columns next to the classes.
    "mean and std of the pictures": Input(
        "classes", {**CLASSES, "mean": 0.5, "std": 0.2}, [1, 4, ACCURACY], ["“mean”, “std”"]
    ),
    "the largest first, with their classes": Input(
        "classes",
        {
            "label": LABELS,
            **{f"index_{n}": ORDER[:, n] for n in range(4)},
            **{f"prob_{n}": LARGEST_FIRST[:, n] for n in range(4)},
        },
        [1, 4, ACCURACY],
        ["put in the classes' order"],
    ),
    "the largest first": Input(
        "classes",
        {"label": LABELS, **{f"p_{n}": LARGEST_FIRST[:, n] for n in range(4)}},
        None,
        ["sorted by size, not by class"],
    ),
    "logit_max": Input(
        "classes",
        {
            "label": np.array(list("abcd"))[LABELS],
            **{f"logit_{c}": np.log(SHARES[:, n]) for n, c in enumerate("abcd")},
            "logit_max": np.log(SHARES).max(axis=1),
        },
        [1, 4, ACCURACY],
        ["“logit_max”"],
    ),
    "sigmoids called predictions": Input(
        "classes", {"predictions": RNG.uniform(0.2, 0.9, (2, N, 4)), "labels": LABELS}, None, ["as sigmoids of classes"]
    ),
    "arrays of classes with mean and std": Input(
        "classes",
        {"preds": SHARES[None].astype("f4"), "labels": LABELS, "mean": np.ones(3), "std": np.ones(3)},
        [1, 4, ACCURACY],
        ["“mean”, “std”"],
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_is_read_and_reported_as_the_table_says(name: str, tmp_path: Path) -> None:
    given = INPUTS[name]
    if isinstance(given.content, str):
        path = tmp_path / "a.csv"
        path.write_bytes(given.content.encode("utf-16" if "UTF-16" in name else "utf-8"))
    elif "array" in name or "predictions" in given.content:
        path = tmp_path / "a.npz"
        np.savez(path, **given.content)
    else:
        path = tmp_path / ("points.csv" if "prediction" in given.content else "a.csv")
        pd.DataFrame(given.content, index=range(N)).to_csv(path, index=False)
    if given.reads is None:
        with pytest.raises(EnsembleError) as refusal:
            (read_numeric_file if given.entry == "numbers" else ENTRIES[given.entry])(path)
        said = str(refusal.value)
    else:
        read, notes = ENTRIES[given.entry](path)
        assert read == given.reads
        said = "\n".join(notes)
        assert said or not given.reports
    assert [words for words in given.reports if words not in said] == [], said
