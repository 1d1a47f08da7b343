"""A table is read the same in every dialect, at every entry point."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import datasets, exchange
from ensemble.datasets.decisions.decision_table import read_label_changes
from ensemble.datasets.own.sources.folders.picture_table import read_picture_table
from ensemble.exchange.data_tables import read_data_table
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.files.table import read_table_file
from tests.files.dialects import DIALECTS, PLAIN, Rows

N = 24
NAMES = ("Äpfel", "Kürbis")
RNG = np.random.default_rng(5)


def read_predictions(path: Path) -> Any:
    found = exchange.read_prediction_files([path])
    return found.probabilities.tolist(), found.class_names, found.labels.tolist(), found.member_names


def read_numbers(path: Path) -> Any:
    found = read_numeric_file(path)
    return found.mixture.compute_mean().tolist(), found.targets.tolist(), found.example_names


def read_table(path: Path) -> Any:
    columns = read_data_table(path).columns
    return [(column.name, column.kind, column.values.tolist()) for column in columns]


def read_decisions(path: Path) -> Any:
    changes = read_label_changes(path, datasets.load_dataset("digits"))
    return changes.new_labels, changes.removed, changes.runs


def read_cells(path: Path) -> Any:
    return [cells for _, cells in read_table_file(path).iterate_rows()]


def read_picture_labels(path: Path) -> Any:
    table = read_picture_table(path)
    return table.names, table.rows


def draw_predictions() -> Rows:
    shares = RNG.uniform(0.1, 0.9, N).round(4)
    rows = [[f"{n:03}", "a", NAMES[n % 2], f"{share:.4f}", f"{1 - share:.4f}"] for n, share in enumerate(shares)]
    return [["example", "member", "label", *(f"p_{name}" for name in NAMES)], *rows]


def draw_numbers() -> Rows:
    values = RNG.normal(0.0, 300.0, (N, 2)).round(2)
    rows = [[f"x{n}", f"{a:.2f}", f"{b:.2f}", "12.50"] for n, (a, b) in enumerate(values)]
    return [["example", "target", "mean", "std"], *rows]


def draw_table() -> Rows:
    values = RNG.normal(0.0, 3000.0, (N, 2)).round(1)
    rows = [[f"{a:.1f}", NAMES[n % 2], str(n * 7), f"{b:.1f}"] for n, (a, b) in enumerate(values)]
    return [["Größe", "sort", "count", "price"], *rows]


def draw_decisions() -> Rows:
    labels = datasets.load_dataset("digits").test_labels
    rows = [["test", str(n), str(labels[n]), "relabel", str((labels[n] + 1) % 10), "me"] for n in range(N)]
    return [["split", "number", "label", "decision", "new_label", "run"], *rows]


def draw_labels() -> Rows:
    return [["file_name", "label"], *([f"a/{n}.png", NAMES[n % 2]] for n in range(N))]


ENTRIES: dict[str, tuple[Callable[[], Rows], Callable[[Path], Any]]] = {
    "predictions": (draw_predictions, read_predictions),
    "predicted numbers": (draw_numbers, read_numbers),
    "a table to train on": (draw_table, read_table),
    "decisions about labels": (draw_decisions, read_decisions),
    "labels of a pool": (draw_labels, read_cells),
    "labels of pictures": (draw_labels, read_picture_labels),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_dialect_gives_the_cells_of_the_plain_table(entry: str, tmp_path: Path) -> None:
    draw, read = ENTRIES[entry]
    rows, path = draw(), tmp_path / "a.csv"
    path.write_bytes(PLAIN.write(rows))
    expected = read(path)
    for name, dialect in DIALECTS.items():
        path.write_bytes(dialect.write(rows))
        assert read(path) == expected, name


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_row_that_is_too_short_is_refused_by_its_line_at_every_entry(entry: str, tmp_path: Path) -> None:
    draw, read = ENTRIES[entry]
    path = tmp_path / "a.csv"
    path.write_bytes(PLAIN.write([*draw(), ["x"]]))
    with pytest.raises(Exception, match=rf"a\.csv: its line {N + 2} has 1 cells, and the first row "):
        read(path)
