"""Numbers: a table is uploaded and learnt from, a run is watched, stopped, resumed and deleted."""

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.jobs.job import is_stop_requested
from ensemble.jobs.status import write_status
from ensemble.runs import read_history
from ensemble.runs.numeric.numeric_predictions import read_numeric_targets
from ensemble.runs.store import RUN_STORE, Run, find_regression_run, list_runs
from ensemble.runs.training.worker import execute_run
from ensemble.tables.prepared_table import read_table_description
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.numbers.training.numeric_live import build_numeric_panels
from ensemble.ui.shared.settings import TABLE_FORM, format_setting_key
from tests.pages.predictions_screen import value
from tests.runs.numeric.conftest import create_run

APP = Path(__file__).parents[2] / "app.py"
TABLE = "size,city,price\n" + "\n".join(f"{n % 17}.5,{'ab'[n % 2]},{3 * (n % 17) + n % 5}" for n in range(80))


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    forget_jobs()


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run that was trained in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("numbers")))
        run = execute_run(create_run(epochs=2, validation=0.1).id)
    assert run.state == "finished", run.message
    return run.path


@pytest.fixture
def trained(trained_once: Path, runs_of_one_test: Path) -> Callable[..., Run]:
    """Makes runs among the test's own: copies of that one, with a status changed."""

    def make(**status: Any) -> Run:
        folder = runs_of_one_test / trained_once.name
        shutil.copytree(trained_once, folder)
        (folder / "worker.lock").unlink(missing_ok=True)
        run = find_regression_run(folder.name)
        write_status(folder, replace(run.status, **status))
        return find_regression_run(folder.name)

    return make


def open_page(run: str = "") -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=240)
    if run:
        at.query_params["run"] = run
    at.switch_page("pages/numbers.py").run()
    assert not at.exception
    return at


def button(at: AppTest, key: str) -> Any:
    return next(one for one in at.button if one.key == key)


def said(at: AppTest) -> str:
    words: Any = (*at.markdown, *at.caption, *at.info, *at.warning, *at.error, *at.subheader)
    return " ".join(str(one.value) for one in words)


def test_a_table_is_uploaded_understood_and_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[Run]()
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    at = open_page()
    assert button(at, "numbers_launch").disabled
    assert "Upload a table first" in said(at)
    for content, words in (
        (b"PK\x03\x04" + bytes(30), "save the sheet as CSV"),
        (b"a,b\nx,y\nu,v\n", "no column of numbers"),
    ):
        at.file_uploader(key="numbers_file").set_value(("t.csv", content, "text/csv")).run()
        assert not at.exception
        assert words in said(at)
        assert button(at, "numbers_launch").disabled
    at.file_uploader(key="numbers_file").set_value(("houses.csv", TABLE.encode(), "text/csv")).run()
    assert not at.exception
    assert at.selectbox[0].options == ["size", "price"]
    assert at.selectbox[0].value == "price", "the last column of numbers"
    assert "city (2 values)" in said(at)
    at.session_state[format_setting_key("members", TABLE_FORM)] = 3
    at.run()
    at.session_state[format_setting_key("batch_size", TABLE_FORM)] = 128
    at.run()
    assert "Batch size 128 exceeds the 58 training rows: all of them are one batch." in said(at)
    assert not button(at, "numbers_launch").disabled
    at.session_state[format_setting_key("batch_size", TABLE_FORM)] = 40
    at.run()
    assert "Batch size" not in said(at)
    at.session_state[format_setting_key("folds", TABLE_FORM)] = 3
    at.run()
    assert "Batch size 40 exceeds the 38 training rows that a member learns from" in said(at)
    at.session_state[format_setting_key("folds", TABLE_FORM)] = 0
    at.session_state[format_setting_key("batch_size", TABLE_FORM)] = 16
    at.run()
    launch = button(at, "numbers_launch")
    assert launch.label == "Train 3 members on 58 rows"
    launch.click().run()
    assert not at.exception
    (run,) = started
    assert value(at, "run") == run.id
    assert (run.settings and run.settings.batch_size, run.target_name) == (16, "price")
    assert read_table_description(run.path).source == "houses.csv"


def test_several_seeds_learn_from_one_split_in_one_press(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[Run]()
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    at = open_page()
    at.file_uploader(key="numbers_file").set_value(("houses.csv", TABLE.encode(), "text/csv")).run()
    at.session_state["launch_seeds"] = 3
    at.run()
    launch = button(at, "numbers_launch")
    assert launch.label.endswith("× 3 seeds")
    launch.click().run()
    assert not at.exception
    assert [run.settings.seed for run in started if run.settings] == [0, 1, 2]
    assert len({read_numeric_targets(run).values.tobytes() for run in started}) == 1
    assert value(at, "run") == started[0].id


def test_the_first_visit_has_a_table_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[Run]()
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    button(open_page(), "numbers_quick").click().run()
    (run,) = started
    assert run.target_name == "progression"


def test_a_run_shows_its_answer_curves_and_members(trained: Any) -> None:
    run = trained()
    at = open_page("../../etc/passwd")
    assert len(at.warning) == 1
    button(at, "numeric_way_on").click().run()
    assert value(at, "run") == run.id
    assert not at.warning
    at = open_page()
    assert value(at, "run") == run.id, "the newest is shown and put into the address"
    assert "RMSE is" in said(at)
    rows = [line for line in read_history(run.id) if line["kind"] == "epoch"]
    loss, error = (place[0] for place in build_numeric_panels(rows, "EUR"))
    assert error["axis"] == "EUR"
    whole = next(line for line in error["lines"] if (line["who"], line["split"]) == ("ensemble", "test"))
    assert whole["y"] == [float(f"{row['ensemble_test_rmse']:.5g}") for row in rows]
    assert {line["split"] for line in loss["lines"]} == {"train", "validation", "test"}
    table = at.dataframe[-1].value
    assert table["member"].tolist() == ["ensemble", "member 1", "member 2", "member 3"]


def test_one_on_its_way_can_be_stopped_and_one_that_ended_resumed_and_deleted(
    trained: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    import psutil

    me = psutil.Process(os.getpid())
    run = trained(state="training", epoch=1, pid=me.pid, host="elsewhere", updated=time.time(), step=5)
    at = open_page(run.id)
    assert button(at, "numeric_delete").disabled
    button(at, "stop").click().run()
    assert is_stop_requested(run)
    write_status(run.path, replace(run.status, state="stopped", host="", pid=None))
    started = list[Run]()
    monkeypatch.setattr(RUN_STORE, "start_worker", started.append)
    forget_jobs()
    at = open_page(run.id)
    button(at, "resume").click().run()
    assert [one.id for one in started] == [run.id]
    assert not is_stop_requested(run)
    write_status(run.path, replace(find_regression_run(run.id).status, state="stopped"))
    forget_jobs()
    at = open_page(run.id)
    button(at, "numeric_delete").click().run()
    button(at, "numeric_delete_sure").click().run()
    assert list_runs() == []


def test_a_table_with_two_readings_is_asked_about_and_read_as_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(f"{n % 9 + 1},{100 + n};{n % 9 + 1},{100 + n}" for n in range(40))
    at = open_page()
    at.file_uploader(key="numbers_file").set_value(("houses.csv", f"size;price\n{rows}".encode(), "")).run()
    (question,) = [one.value for one in at.warning]
    assert "“1,100” is 1100 with a decimal point and 1.100 with a decimal comma." in question
    assert "--decimal" not in question
    assert "Choose the decimal sign of the table." in said(at)
    (sign,) = [one for one in at.segmented_control if one.label == "Decimal sign"]
    assert sign.options == ["Point", "Comma"]
    sign.set_value("comma").run()
    assert not at.warning
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    at.button(key="numbers_launch").click().run()
    (run,) = list_runs()
    table = read_table_description(run.path)
    assert (table.chosen_decimal, table.ranges["size"]) == ("comma", [pytest.approx(1.1, 0.1), pytest.approx(9.1, 0.1)])
