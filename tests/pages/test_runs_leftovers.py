"""Runs: what killed imports and deletes left is told of, and a button removes it."""

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.jobs import leftovers
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.test_runs import APP


def test_what_a_killed_import_left_is_told_of_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    loaders.forget_runs()
    run = trained()
    left = runs_folder() / "imported-1126-101010"
    left.mkdir()
    (left / "labels.npz").write_bytes(bytes(3_000_000))
    monkeypatch.setattr(leftovers, "QUIET_SECONDS", -1.0)
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert any("3.0 MB are left of imports" in one.value for one in at.warning)
    at.button(key="runs_leftovers").click().run()
    assert not at.exception
    assert not left.exists()
    assert run.path.is_dir()
    assert not any("are left of" in one.value for one in at.warning)
