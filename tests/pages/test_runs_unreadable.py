"""Runs: what cannot be read is said, not left out, and nobody else hears of it."""

from streamlit.testing.v1 import AppTest

from ensemble import regression
from ensemble.regression import LbfgsConfig
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.test_runs import APP


def test_an_unreadable_file_is_named_next_to_others() -> None:
    loaders.forget_runs()
    forget_jobs()
    torn = trained(done=0)
    (torn.path / "config.json").write_text("{" * 100_000)
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert any("1 run cannot be read" in one.value for one in at.warning)
    assert [f"“{torn.id}”" in one.value for one in at.text] == [True]
    (torn.path / "config.json").write_text((trained().path / "config.json").read_text())
    (torn.path / "status.json").write_text('{"state": "fin')
    solve = regression.create_regression(LbfgsConfig())
    (solve.path / "status.json").write_text('{"devices": []}')
    loaders.forget_runs()
    forget_jobs()
    at.run()
    assert not at.exception
    assert any("2 runs cannot be read" in one.value for one in at.warning)
    named = " ".join(one.value for one in at.text)
    assert f"“{torn.id}”" in named
    assert f"“{solve.id}”" in named


def test_the_screen_of_a_sound_run_shows_nothing_of_an_odd_one() -> None:
    loaders.forget_runs()
    sound, torn = trained(done=0, name="sound"), trained(done=0)
    (torn.path / "status.json").write_text('{"created": null}')
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.query_params["run"] = sound.id
    at.switch_page("pages/train.py").run()
    assert [*at.exception, *at.error, *at.warning] == []
    assert at.subheader[0].value == "sound"
    at.query_params["run"] = torn.id
    for odd in ('{"created": null}', '{"pid": -1, "state": "training"}'):
        (torn.path / "status.json").write_text(odd)
        at.run()
        assert [*at.exception, *at.error] == []
        assert [f"The run “{torn.id}” cannot be read" in one.value for one in at.warning] == [True]
