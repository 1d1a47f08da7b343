"""Runs: what cannot be read is said, not left out, and nobody else hears of it."""

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression
from ensemble.regression import LbfgsConfig
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.test_runs import APP


def test_a_run_that_cannot_be_read_is_named_beside_the_others() -> None:
    loaders.forget_runs()
    trained()
    torn = trained()
    (torn.path / "status.json").write_text('{"state": "fin')
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert any("1 run cannot be read" in one.value for one in at.warning)
    assert [f"“{torn.id}”" in one.value for one in at.text] == [True]


def test_one_that_cannot_be_read_is_named_where_there_is_no_other() -> None:
    loaders.forget_runs()
    torn = trained(done=0)
    (torn.path / "config.json").write_text("{" * 100_000)
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert any("1 run cannot be read" in one.value for one in at.warning)
    assert [f"“{torn.id}”" in one.value for one in at.text] == [True]


def test_a_regression_that_cannot_be_read_is_named_beside_the_runs() -> None:
    loaders.forget_runs()
    forget_jobs()
    trained(done=0)
    torn = regression.create_regression(LbfgsConfig())
    (torn.path / "status.json").write_text('{"devices": []}')
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert [f"“{torn.id}”" in one.value for one in at.text] == [True]


@pytest.mark.parametrize("odd", ['{"created": null}', '{"pid": -1, "state": "training"}'])
def test_the_screen_of_a_sound_run_shows_nothing_of_an_odd_one(odd: str) -> None:
    loaders.forget_runs()
    sound, torn = trained(done=0, name="sound"), trained(done=0)
    (torn.path / "status.json").write_text(odd)
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.query_params["run"] = sound.id
    at.switch_page("pages/train.py").run()
    assert [*at.exception, *at.error, *at.warning] == []
    assert at.subheader[0].value == "sound"
    at.query_params["run"] = torn.id
    at.run()
    assert [*at.exception, *at.error] == []
    assert [f"The run “{torn.id}” cannot be read" in one.value for one in at.warning] == [True]
