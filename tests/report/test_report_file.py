"""A report is written whole or not at all, over nothing unasked, and can be read back."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.errors import PredictionsError, UnknownRunError
from ensemble.exchange.capsule.capsule_import import import_capsule
from ensemble.exchange.capsule.capsule_reader import read_report_capsules
from ensemble.report import render_report, report_file, write_report
from ensemble.ui.frame import report_download
from tests.pages.ensembles import trained


def test_the_command_writes_a_file_that_gives_the_run_back(tmp_path: Path) -> None:
    run, path = trained(epochs=1), tmp_path / "one.html"
    called = CliRunner().invoke(main, ["report", run.id, "--out", str(path)])
    assert json.loads(called.stdout.splitlines()[-1]) == {
        "run_ids": [run.id],
        "file": str(path),
        "bytes": path.stat().st_size,
        "members": False,
        "all_epochs": False,
        "weights": None,
    }
    again = import_capsule(read_report_capsules(path)[0])
    before, after = (runs.read_run_predictions(one, 1) for one in (run.id, again.id))
    assert np.array_equal(before, after)
    second = CliRunner().invoke(main, ["report", run.id, "--out", str(path)])
    assert second.exit_code == 1
    assert "already exists" in second.stderr
    assert "--force" in second.stderr


def test_what_cannot_be_written_is_a_sentence_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(epochs=1)
    with pytest.raises(PredictionsError, match="its folder does not exist"):
        write_report([run.id], tmp_path / "missing" / "one.html")
    with pytest.raises(UnknownRunError):
        write_report(["none"], tmp_path / "one.html")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(report_file, "render_report", lambda *_, **__: "page")  # which takes a while
    (tmp_path / "folder").mkdir()
    with pytest.raises(PredictionsError, match=r"cannot be written \(Is a directory\)"):
        write_report([run.id], tmp_path / "folder", replace=True)
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_data_left_out_of_one_of_two_runs_are_reported() -> None:
    chosen = trained(members=2, epochs=2, validation=0.1, best_on="validation", best_epoch=1, seed=1)
    text = render_report([trained(members=2, epochs=1), chosen])
    assert "predictions after the last epoch and the one chosen" in text
    assert "and the predictions of other epochs (<code>--all-epochs</code>)." in text


def test_no_run_and_too_many_are_refused_in_a_sentence() -> None:
    with pytest.raises(PredictionsError, match="1 to 50 runs, not 0"):
        render_report([])


def test_a_run_that_is_gone_when_its_file_is_asked_for_gives_a_page_that_says_so() -> None:
    made = report_download.render_report_bytes(["digits-1123-000000"]).decode()
    assert "There is no run" in made
    assert "default-src 'none'" in made.replace("&#x27;", "'")
