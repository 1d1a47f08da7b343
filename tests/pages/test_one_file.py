"""Every run can be saved as one file where it is shown, and several where they are compared."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.ui.compare import run_picker
from ensemble.ui.frame import report_download
from ensemble.ui.shared import loaders
from tests.comparison.drawn import finished
from tests.pages.ensembles import trained

APP = Path(__file__).parents[2] / "app.py"


def test_the_button_is_on_the_screens_of_a_run() -> None:
    loaders.forget_runs()
    run = trained(epochs=1)
    at = AppTest.from_file(str(APP), default_timeout=240)
    for screen in ("inspect", "train", "runs", "compare"):
        at.query_params["runs" if screen == "compare" else "run"] = run.id
        at.switch_page(f"pages/{screen}.py").run()
        assert not at.exception
        labels = [one.proto.label for one in at.get("download_button")]
        assert labels.count(report_download.LABEL) == 1, screen


def test_the_file_of_compare_has_the_baseline_of_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = (finished({"learning_rate": rate}, draw=place) for place, rate in enumerate((0.1, 0.01)))
    asked: list[str | None] = [None, fast.id]
    monkeypatch.setattr(run_picker.address.BASELINE, "read", lambda: asked.pop(0))
    assert [run.id for run in run_picker.sort_baseline_first([fast, slow])] == [slow.id, fast.id]
    assert [run.id for run in run_picker.sort_baseline_first([fast, slow])] == [fast.id, slow.id]
