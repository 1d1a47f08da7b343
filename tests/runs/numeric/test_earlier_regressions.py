"""Regressions that version 1.0 left behind open, are judged, and resume."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.runs.numeric.numeric_answers import answer_table
from ensemble.runs.numeric.numeric_predictions import read_numeric_predictions, select_numeric_epoch
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
from tests.runs.groups.inline import arrays
from tests.runs.numeric.conftest import build_table

# Three folders of version 1.0: trained to its end, stopped after two of three epochs, and imported.
ARCHIVE = Path(__file__).parents[2] / "recorded" / "regression_runs_1_0.zip"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, runs.Run]:
    """The runs by their names."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path))
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    assert runs.list_unreadable_runs() == {}
    return {run.name: run for run in runs.list_runs()}


def test_they_open_with_what_they_showed(recorded: dict[str, runs.Run]) -> None:
    assert {name: (run.task, run.state, run.target_name) for name, run in recorded.items()} == {
        "finished": ("regression", "finished", "price"),
        "stopped": ("regression", "stopped", "price"),
        "imported": ("regression", "imported", "height"),
    }
    assert recorded["imported"].member_names == ("a", "b")
    assert recorded["imported"].settings is None
    for run in recorded.values():
        numbers = evaluate_numeric_run(run)
        epoch = select_numeric_epoch(run)
        line = next(line for line in runs.read_history(run.id) if line.get("epoch") == epoch)
        assert line["kind"] == "epoch"
        assert line["ensemble_test_rmse"] == pytest.approx(numbers.evaluation.ensemble.rmse)
        assert run.status.ensemble_test_rmse is not None
        shown = CliRunner().invoke(main, ["inspect", run.id], catch_exceptions=False)
        assert shown.exit_code == 0, shown.output
    assert recorded["finished"].status.img_member_per_s
    assert answer_table(recorded["finished"], build_table(20)).mixture.mean.shape == (2, 20)


def test_a_stopped_one_resumes_and_ends_as_that_version_ended(recorded: dict[str, runs.Run]) -> None:
    resumed = runs.execute_run(runs.requeue_run(recorded["stopped"].id).id)
    assert (resumed.state, resumed.status.epoch) == ("finished", 3)
    finished = recorded["finished"]
    for what in ("predictions", "validation"):
        for one, other in zip(arrays(resumed.path, what).values(), arrays(finished.path, what).values(), strict=True):
            np.testing.assert_allclose(np.frombuffer(one), np.frombuffer(other), rtol=1e-4)
    assert resumed.status.best_epoch == finished.status.best_epoch
    assert read_numeric_predictions(resumed, 3).members == 2


def test_they_are_listed_with_the_names_of_this_version(recorded: dict[str, runs.Run]) -> None:
    listed = CliRunner().invoke(main, ["runs", "list", "--json"], catch_exceptions=False).stdout.splitlines()
    assert {json.loads(line)["task"] for line in listed} == {"regression"}
