"""Parallel just after a launch: what was launched is shown, whatever the browser still asks for.

The browser may send the former address once more after the page has changed it; here the test
does, by writing it back.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression
from ensemble.jobs.slots import acquire_slots
from ensemble.regression import Regression
from ensemble.regression.regression_job import REGRESSION_STORE, LbfgsConfig
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import loaders

APP = Path(__file__).parents[2] / "app.py"
CONFIG = LbfgsConfig(samples=120, features=8, classes=3, iterations=3, sweep=False)


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()
    forget_jobs()


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is launched waits for a worker that does not come."""
    monkeypatch.setattr(REGRESSION_STORE, "start_worker", lambda job: None)


@pytest.fixture
def the_machine_is_taken() -> Iterator[None]:
    """Workers are real and wait their turn, which does not come."""
    turn = acquire_slots(1)
    assert turn
    with turn:
        yield


@pytest.fixture
def stopped() -> Regression:
    """A regression that was stopped before it began."""
    solve = regression.create_regression(CONFIG)
    status = replace(solve.status, state="stopped", message="Stopped while queued.")
    (solve.path / "status.json").write_text(json.dumps(asdict(status)))
    return regression.find_regression(solve.id)


def press(at: AppTest, name: str) -> None:
    next(one for one in at.button if one.key == name).click()
    at.run()
    assert not at.exception


def shown(at: AppTest) -> tuple[str, str]:
    """The id in the address, and the one behind the question mark at the top of the page."""
    found = at.query_params["solve"]
    address = found if isinstance(found, str) else found[0]
    (small,) = (one.help for one in at.main.caption if "lbfgs-" in one.help)
    return address, small.split(" · ")[-1]


def ask_for(at: AppTest, solve: Regression) -> None:
    at.query_params["solve"] = solve.id
    at.run()


def relaunched(stopped: Regression) -> tuple[AppTest, Regression]:
    """The page after “Solve the same again” was pressed, and the regression that it began."""
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.query_params["solve"] = stopped.id
    at.switch_page("pages/parallel.py").run()
    assert shown(at) == (stopped.id, stopped.id)
    press(at, "solve_again")
    (begun,) = [solve for solve in regression.list_regressions() if solve.id != stopped.id]
    return at, begun


@pytest.mark.usefixtures("no_worker")
def test_what_was_launched_is_shown_though_the_browser_asks_for_the_one_before_for_a_while(
    stopped: Regression, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, begun = relaunched(stopped)
    assert begun.active
    assert begun.config == CONFIG
    assert shown(at) == (begun.id, begun.id)
    ask_for(at, stopped)
    assert shown(at) == (begun.id, begun.id)
    later = time.monotonic() + job_picker.LAUNCHED_JOB_TIMEOUT_S
    monkeypatch.setattr(job_picker, "time", SimpleNamespace(monotonic=lambda: later))
    ask_for(at, stopped)
    assert shown(at) == (stopped.id, stopped.id), "the address is obeyed again"
    ask_for(at, begun)
    assert shown(at) == (begun.id, begun.id)


@pytest.mark.usefixtures("no_worker")
def test_who_picks_another_right_after_launching_gets_it(stopped: Regression) -> None:
    at, begun = relaunched(stopped)
    at.selectbox(f"solve_picker_{begun.id}").select(stopped.id).run()
    assert shown(at) == (stopped.id, stopped.id)


@pytest.mark.usefixtures("the_machine_is_taken")
def test_one_that_is_gone_again_is_not_insisted_on(stopped: Regression) -> None:
    at, begun = relaunched(stopped)
    regression.stop_regression(begun.id)
    deadline = time.monotonic() + 240
    while regression.find_regression(begun.id).active:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    regression.delete_regression(begun.id)
    ask_for(at, stopped)
    assert shown(at) == (stopped.id, stopped.id)
    assert not at.warning
