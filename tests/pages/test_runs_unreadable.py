"""Runs: what cannot be read is said, not left out."""

from streamlit.testing.v1 import AppTest

from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.test_runs import APP


def test_a_run_that_cannot_be_read_is_named_beside_the_others() -> None:
    loaders.forget_runs()
    trained()
    torn = trained()
    (torn.path / "status.json").write_text('{"state": "fin')
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert any("1 run cannot be read" in one.value for one in at.warning)
    assert [f"“{torn.id}”" in one.value for one in at.text] == [True]
