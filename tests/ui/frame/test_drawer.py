"""When the drawer of a phone closes: with another page and with a launch, not with a setting."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.runs.store import RUN_STORE
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.ui.shared import loaders, settings

APP = Path(__file__).parents[3] / "app.py"


def place(at: AppTest) -> str:
    """What the browser is told: at another one it closes the drawer."""
    assert not at.exception
    (found,) = (one.proto.body for one in at.get("html") if "drawer(" in one.proto.body)
    return str(found)


def test_the_drawer_is_told_of_a_page_and_of_a_launch_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    loaders.forget_runs()
    at = AppTest.from_file(str(APP), default_timeout=240)
    runs = place(at.switch_page("pages/runs.py").run())
    train = place(at.switch_page("pages/train.py").run())
    assert train != runs
    at.session_state[settings.format_setting_key("members")] = 2
    assert place(at.run()) == train, "all can be set in one go"
    next(one for one in at.button if one.key == "launch").click().run()
    launched = place(at)
    assert launched not in (train, runs)
    assert place(at.run()) == launched, "it may be opened again"


def test_it_is_told_of_a_sweep_that_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(SWEEP_STORE, "start_worker", lambda sweep: None)
    at = AppTest.from_file(str(APP), default_timeout=240)
    before = place(at.switch_page("pages/tune.py").run())
    next(one for one in at.button if one.key == "tune_launch").click().run()
    assert len(SWEEP_STORE.list_jobs()) == 1
    assert place(at) != before
