"""Launch: what stands beside the button, and what a press, or two in a row, does."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import dataset_fetch
from ensemble.jobs.dataset_fetch import FetchStatus
from ensemble.jobs.queue import list_blocking_jobs, list_jobs_ahead, list_queued_jobs
from ensemble.jobs.status import write_status
from ensemble.regression.regression_job import REGRESSION_STORE, LbfgsConfig
from ensemble.runs.store import RUN_STORE
from ensemble.shift.results import stress_folder
from ensemble.shift.stress_job import StressStatus
from ensemble.storage.atomic_files import write_json
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.parallel import settings as parallel_settings
from ensemble.ui.shared import loaders, settings
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import format_run_name
from tests.pages.ensembles import trained
from tests.workers import at_work_here

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def nothing_of_an_earlier_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    loaders.forget_runs()
    forget_jobs()


@pytest.fixture
def page() -> Open:
    def opened(screen: str = "train") -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=240)
        at.switch_page(f"pages/{screen}.py").run()
        assert not at.exception
        return at

    return opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that presses are told apart by; only the test moves it."""
    held = SimpleNamespace(now=1000.0)
    held.monotonic = lambda: held.now
    monkeypatch.setattr(launching, "time", held)
    return held


@pytest.fixture
def nobody_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is launched waits for a worker that does not come: it is counted, not trained."""
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    monkeypatch.setattr(REGRESSION_STORE, "start_worker", lambda job: None)


def press(at: AppTest, key: str = "launch") -> None:
    next(one for one in at.button if one.key == key).click().run()
    assert not at.exception


def beside(at: AppTest) -> str:
    """What stands under the button in the sidebar."""
    return " ".join(one.value for one in at.sidebar.caption)


def at_work(state: str = "training", **status: Any) -> runs.Run:
    """A run that this process is at, as far as anybody can see."""
    return trained(done=1, state=state, working=True, **status)


@pytest.mark.usefixtures("nobody_trains")
def test_a_double_click_launches_one_run_unless_the_settings_changed(page: Open, clock: SimpleNamespace) -> None:
    at = page()
    press(at)
    (first,) = runs.list_runs()
    clock.now += 1.0
    press(at)
    assert [run.id for run in runs.list_runs()] == [first.id]
    clock.now += 2.5
    press(at)
    one, other = runs.list_runs()
    assert one.config == other.config
    at.session_state[settings.format_setting_key("members")] = 7
    at.run()
    press(at)
    assert sorted(run.config.members for run in runs.list_runs()) == [4, 4, 7], "launched at once"


@pytest.mark.usefixtures("nobody_trains")
def test_a_double_click_launches_one_regression(page: Open, clock: SimpleNamespace) -> None:
    at = page("parallel")
    at.number_input(parallel_settings.format_regression_key("samples")).set_value(700).run()
    press(at, "solve_launch")
    (first,) = regression.list_regressions()
    clock.now += 1.0
    press(at, "solve_launch")
    assert [solve.id for solve in regression.list_regressions()] == [first.id]
    clock.now += 2.5
    press(at, "solve_launch")
    assert len(regression.list_regressions()) == 2


def solving() -> Any:
    """A regression that waits."""
    return regression.create_regression(LbfgsConfig())


def measuring() -> Any:
    """The measuring of a run under shift, which this process is at."""
    run = trained(state="finished")
    stress_folder(run.path).mkdir()
    mine = at_work_here(stress_folder(run.path))
    write_status(stress_folder(run.path), StressStatus(state="measuring", **mine))
    return run


WORK: dict[str, tuple[list[Callable[[], Any]], str]] = {
    "nobody": ([], ""),
    "a run": ([at_work], ""),
    "a regression": ([solving], ""),
    "a measuring": ([measuring], ""),
    "two runs": ([at_work, at_work], " and 1 more"),
    "one of each": ([measuring, at_work, solving], " and 2 more"),
}


@pytest.mark.parametrize(("work", "more"), WORK.values(), ids=WORK)
def test_the_job_that_runs_first_is_named_for_every_kind(work: list[Callable[[], Any]], more: str) -> None:
    trained(state="finished")  # those that have ended are waited for by nobody
    trained(state="stopped", done=1)
    for begin in work:
        begin()
    said = jobs_words.describe_start_order(list_blocking_jobs())
    first = f"Starts after {format_run_name(list_queued_jobs()[0])}{more}." if work else ""
    assert said.startswith(first)
    assert bool(said) == bool(work)
    # The list of who works and waits, and the place of a run that is launched now, agree.
    assert len(list_jobs_ahead(runs.create_run(EnsembleConfig()))) == len(work)


@pytest.mark.parametrize("screen", ["train", "parallel"])
def test_launch_says_what_comes_first_unless_a_slot_is_free(
    page: Open, screen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work()
    monkeypatch.setenv("ENSEMBLE_SLOTS", "2")
    at = page(screen)
    assert "Starts after" not in beside(at)
    solving()
    at.run()
    assert f"Starts after {format_run_name(list_queued_jobs()[0])} and 1 more." in beside(at)


def test_two_datasets_are_fetched_at_once_and_each_can_be_stopped(
    page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    for name in ("mnist", "kmnist"):
        job = dataset_fetch.create_fetch_job(name)
        job.path.mkdir(parents=True)
        mine = {**at_work_here(job.path), "updated": time.time()}
        status = FetchStatus(state="running", fraction=0.25, message="Fetching x", **mine)
        write_json(job.status_file, asdict(status))
    at = page()
    at.selectbox(settings.format_setting_key("dataset")).set_value("kmnist").run()
    assert not at.exception
    said = [bar.proto.text for bar in at.get("progress")]
    assert said == ["Fetching x · you can continue meanwhile"] * 2
    at.button("fetch_kmnist_stop").click().run()
    assert at.button("fetch_kmnist_stopping").disabled
    assert not at.button("fetch_mnist_stop").disabled
