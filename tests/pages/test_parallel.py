"""Parallel: a regression that a real worker's code has solved, and every state on its way."""

import base64
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression
from ensemble.jobs.job import is_stop_requested
from ensemble.regression import Regression
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.parallel.settings import format_regression_key
from ensemble.ui.shared import loaders
from ensemble.wording.run_names import format_run_name

APP = Path(__file__).parents[2] / "app.py"
# A fixed step and one step remembered: what compiles in a quarter of the time.
CONFIG = LbfgsConfig(dataset="digits", iterations=3, stepsize=0.5, history=1, devices=2, l2=0.01, sweep=False)
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def solved_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one regression, solved in this process by what the worker does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("solved")))
        solve = regression.run_regression_worker(regression.create_regression(CONFIG).id)
    assert solve.state == "finished", solve.message
    return solve.path


@pytest.fixture
def solved(solved_once: Path, runs_of_one_test: Path) -> Callable[..., Regression]:
    """Makes regressions among the test's runs: copies of that one, with a status changed."""

    def made(number: int = 0, **status: Any) -> Regression:
        folder = runs_of_one_test / f"{solved_once.name}{f'-{number}' if number else ''}"
        shutil.copytree(solved_once, folder)
        (folder / "worker.lock").unlink(missing_ok=True)
        solve = regression.find_regression(folder.name)
        changed = replace(solve.status, **status)
        (folder / "status.json").write_text(json.dumps(asdict(changed)))
        return regression.find_regression(folder.name)

    return made


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()
    forget_jobs()


@pytest.fixture
def page() -> Open:
    """Opens the screen, with a regression in the address where one is given."""

    def opened(solve: Regression | str = "", screen: str = "parallel") -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=240)
        if solve:
            at.query_params["solve"] = solve if isinstance(solve, str) else solve.id
        at.switch_page(f"pages/{screen}.py").run()
        assert not at.exception
        return at

    return opened


def button(at: AppTest, name: str) -> Any:
    return next(one for one in at.button if one.key == name)


def said(at: AppTest) -> str:
    """All that stands on the screen."""
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.info, *at.warning))


def address(at: AppTest) -> str:
    found = at.query_params["solve"]
    return found if isinstance(found, str) else found[0]


def curves(at: AppTest, picture: str) -> dict[str, np.ndarray]:
    """A picture's curves by their names; Plotly packs numbers that come from NumPy."""
    chart = next(one for one in at.get("plotly_chart") if picture in one.proto.id)
    found = {}
    for trace in json.loads(chart.proto.spec)["data"]:
        y = trace["y"]
        packed = isinstance(y, dict)
        numbers = np.frombuffer(base64.b64decode(y["bdata"]), y["dtype"]) if packed else y
        found[trace["name"]] = np.asarray(numbers)
    return found


def waiting(**more: Any) -> dict[str, Any]:
    """A status of a worker that is about to be there."""
    return {"pid": None, "host": "", "updated": time.time(), **more}


def test_the_first_visit_says_what_will_be_here_and_what_does_not_fit_into_memory_cannot_be_launched(
    page: Open,
) -> None:
    at = page()
    assert at.subheader[0].value.endswith("faster on several devices than on one?")
    assert "5,000 × 784, 30 iterations" in button(at, "solve_quick").label
    assert button(at, "solve_launch").label.startswith("Solve 50,000 × 784 with and without pmap")
    at.number_input(format_regression_key("features")).set_value(10_000)
    at.number_input(format_regression_key("samples")).set_value(1_000_000).run()
    fits = psutil.virtual_memory().available > 100e9
    assert button(at, "solve_launch").disabled != fits
    assert ("100.0 GB of memory" in said(at)) != fits


def test_a_finished_one_is_answered_first_and_its_pictures_are_what_was_measured(page: Open, solved: Any) -> None:
    solve = solved()
    at = page()
    assert address(at) == solve.id, "the newest is shown and put into the address"
    traces = regression.read_regression_traces(solve.path)
    bought = traces.speedup
    assert [metric.value for metric in at.metric][:5] == [
        f"{bought.pace:.2f}×",
        f"{bought.whole:.2f}×",
        f"{bought.median:.2f}×",
        f"{bought.mean:.2f}×",
        f"{100 * bought.efficiency:.0f} %",
    ]
    errors, seconds = curves(at, "solve_errors"), curves(at, "solve_times")
    assert list(errors) == ["without pmap, 1 device", "with pmap, 2 devices"]
    for name, trace in zip(errors, (traces.without, traces.with_pmap), strict=True):
        np.testing.assert_allclose(errors[name], trace.error)
        np.testing.assert_allclose(seconds[name], 1000 * trace.seconds)
    assert "on 2 devices an iteration takes" in said(at).lower()
    assert "The two curves lie on top of each other" in said(at)
    assert "Both devices hold the same weights, to the bit." in said(at)
    assert "These devices are virtual" in said(at)
    assert "Not measured" in said(at), "the sweep"
    lines = (solve.path / "history.jsonl").read_text()
    swept = lines.replace('"without"', '"sweep-1"') + lines.replace('"with"', '"sweep-2"')
    (solve.path / "history.jsonl").write_text(lines + swept)
    measured = curves(page(solve), "solve_scaling")["measured"]
    expected = [ratio for _, ratio in regression.read_regression_traces(solve.path).scaling]
    np.testing.assert_allclose(measured, expected)
    assert len(measured) == 2


def test_one_on_its_way_says_how_far_it_is_and_can_be_stopped(page: Open, solved: Any) -> None:
    solve = solved(
        **waiting(state="solving", message="Solving on 2 devices.", iteration=4, iterations=6, seconds_left=65.0)
    )
    at = page(solve)
    text = at.get("progress")[0].proto.text
    assert text == "Solving on 2 devices · iteration 4 of 6 · 1 min 5 s left"
    assert button(at, "solve_delete").disabled
    button(at, "solve_stop").click().run()
    assert is_stop_requested(solve)
    assert button(at, "solve_stopping").disabled
    last = solved(2, **waiting(state="queued", queued=time.time() + 1))
    at = page(last)
    assert f"after {format_run_name(solve)}: jobs take turns" in at.get("progress")[0].proto.text


def test_one_that_ended_early_says_why_and_can_be_launched_again(page: Open, solved: Any) -> None:
    for number, (status, why) in enumerate(
        (
            ({"state": "stopped", "message": "Stopped by hand."}, "Stopped by hand."),
            ({"state": "solving", "pid": 2**22 + 1, "host": "", "updated": 1.0}, "was killed"),
        )
    ):
        at = page(solved(number, **status))
        assert why in next(iter((*at.error, *at.info))).value
        assert not button(at, "solve_again").disabled
        assert curves(at, "solve_errors"), "what was measured is kept"


def test_it_is_deleted_when_asked_twice(page: Open, solved: Any) -> None:
    other, solve = solved(1, created=1.0), solved()
    at = page(solve)
    button(at, "solve_delete").click().run()
    button(at, "solve_keep").click().run()
    assert solve.path.exists()
    button(at, "solve_delete").click().run()
    button(at, "solve_delete_sure").click().run()
    assert not solve.path.exists()
    assert address(at) == other.id


def test_a_bad_link_is_one_sentence_and_a_way_on_to_one_from_which_another_can_be_picked(
    page: Open, solved: Any
) -> None:
    one, other = solved(1), solved(2)
    at = page("../../etc/passwd")
    assert len(at.warning) == 1
    at.query_params["solve"] = "lbfgs-0101-000000"
    at.run()
    assert len(at.warning) == 1
    button(at, "solve_way_on").click().run()
    newest = address(at)
    assert newest in (one.id, other.id)
    assert not at.warning
    (earlier,) = {one.id, other.id} - {newest}
    at.selectbox(f"solve_picker_{newest}").select(earlier).run()
    assert address(at) == earlier


def test_what_is_set_stays_and_a_regressions_settings_can_be_used_again(page: Open, solved: Any) -> None:
    at = page(solved())
    at.number_input(format_regression_key("samples")).set_value(700).run()
    at.switch_page("pages/runs.py").run()
    at.switch_page("pages/parallel.py").run()
    assert button(at, "solve_launch").label.startswith("Solve 700 × 784")
    button(at, "solve_reuse").click().run()
    assert button(at, "solve_launch").label == "Solve 1,297 × 784 with and without pmap on 2 devices"
    assert "as one of this size took before" in said(at)
    assert format_regression_key("samples") not in [one.key for one in at.number_input], "there is nothing to draw"
    assert "Also: L2 0.01, 1 remembered, no sweep over devices." in said(at)
