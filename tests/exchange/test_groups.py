"""Groups that come with predictions: of arrays, files and tables, kept by export and reports."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import exchange, runs
from ensemble.cli.program import main
from ensemble.errors import PredictionsError
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.exchange.given import LABELS, PROBABILITIES, C, N, csv_of, rows_of, written
from tests.pages.predictions_screen import opened

WRITERS = np.array(["ann", "bob", "eve"])[np.arange(N) % 3]


def test_an_array_of_groups_reaches_intervals_screens_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ensemble.import_predictions(PROBABILITIES, LABELS, groups=WRITERS)
    plain = ensemble.import_predictions(PROBABILITIES, LABELS)
    groups = run.predictions().groups
    assert groups is not None
    assert groups.tolist() == (np.arange(N) % 3).tolist()
    assert plain.predictions().groups is None
    assert run.predictions().interval != plain.predictions().interval
    at = opened(run.id, "inspect")
    captions = " ".join(str(one.value) for one in at.caption)
    assert "of one group together: 3 groups." in captions
    captions = " ".join(str(one.value) for one in opened(plain.id, "inspect").caption)
    assert "Intervals and tests take the examples as independent." in captions
    file = tmp_path / "out.npz"
    exchange.export_run(run.id, file)
    assert exchange.import_run(exchange.read_prediction_files([file])).id
    again = runs.list_runs()[0]
    assert evaluate_epoch(again).predictions.groups is not None
    report = tmp_path / "report.html"
    run.save_report(report)
    assert "of one group together: 3 groups." in report.read_text()
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "elsewhere"))
    done = CliRunner().invoke(main, ["import", str(report)])
    assert done.exit_code == 0, done.output
    (copy,) = runs.list_runs()
    kept = evaluate_epoch(copy).predictions.groups
    assert kept is not None
    np.testing.assert_array_equal(kept, groups)


def test_a_column_of_a_table_says_who_wrote_what(tmp_path: Path) -> None:
    columns = ["example", "member", "label", "writer_id", *(f"p_{c}" for c in range(C))]
    rows = [[*row[:3], WRITERS[int(row[0])], *row[3:]] for row in rows_of(PROBABILITIES, LABELS)]
    outputs = exchange.read_prediction_files([written(tmp_path, csv_of(columns, rows, ","))])
    assert outputs.groups is not None
    assert outputs.groups.tolist() == (np.arange(N) % 3).tolist()
    assert "Examples of one group count together: 3 groups." in outputs.notes


def test_a_group_that_is_not_known_is_refused() -> None:
    groups = np.arange(N, dtype=float)
    groups[2] = np.nan
    with pytest.raises(PredictionsError, match=r"`groups\[2\]` is nan: give every example one"):
        ensemble.import_predictions(PROBABILITIES, LABELS, groups=groups)


def test_classes_that_are_called_video_or_writer_stay_classes(tmp_path: Path) -> None:
    names = ("video", "writer", "patient", "photo")[:C]
    rows = [[row[0], row[1], names[int(row[2])], *row[3:]] for row in rows_of(PROBABILITIES, LABELS)]
    file = written(tmp_path, csv_of(["example", "member", "label", *names], rows, ","))
    outputs = exchange.read_prediction_files([file])
    assert outputs.class_names == names
    assert outputs.groups is None


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(PredictionsError, match=r"[Ii]ts `groups` have shape"):
        ensemble.import_predictions(PROBABILITIES, LABELS, groups=WRITERS[:-1])
