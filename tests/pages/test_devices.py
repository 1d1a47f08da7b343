"""Devices: before a speed is measured, and after."""

import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.queue import list_queued_jobs
from ensemble.machine.bench_result import BenchResult, write_bench_result
from ensemble.ui.devices import bench_results, machine_info
from ensemble.ui.shared import loaders
from tests.machine.test_bench_result import BENCH
from tests.workers import at_work_here

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def data_of_one_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    loaders.forget_runs()


@pytest.fixture
def page() -> Open:
    def opened(screen: str = "devices") -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=240)
        at.switch_page(f"pages/{screen}.py").run()
        assert not at.exception
        return at

    return opened


def button(at: AppTest, name: str) -> Any:
    return next((one for one in at.button if one.key == name), None)


def said(at: AppTest) -> str:
    """All that stands on the screen."""
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.warning, *at.error))


def measured(**changes: Any) -> BenchResult:
    result = replace(BENCH, **{"host": socket.gethostname(), "created": time.time(), **changes})
    write_bench_result(result)
    return result


def test_the_first_visit_names_the_command_that_measures(page: Open) -> None:
    at = page()
    assert "Run `ensemble bench`" in said(at)
    assert "Nothing is running or queued" in said(at)
    assert at.metric[0].value.isdigit(), "processor cores"
    at.session_state["members_per_device"] = True
    at.run()
    at.select_slider("devices_members").set_value(8).run()
    assert "8 members on " in said(at)


def test_what_was_measured_last_on_this_machine_is_shown(page: Open) -> None:
    result = measured()
    measured(host="another machine", created=result.created + 60, rates={"float32": 9.0, "bfloat16": 9.0})
    at = page()
    assert "2,000 img·member/s in float32 and 4,000 img·member/s in bfloat16 (4 members on 2 devices" in said(at)
    assert [one.value for one in at.metric if one.label == "bfloat16"] == ["2.0× float32"]
    assert bench_results.find_latest_bench() == result
    measured(created=result.created + 120, rates={"float32": 3000.0, "bfloat16": 3000.0})
    assert "3,000 img·member/s in float32" in said(at.run())


def test_train_tells_what_bfloat16_is_worth_and_how_long_it_takes(page: Open) -> None:
    measured(devices=max(1, int(os.environ.get("JAX_NUM_CPU_DEVICES", "1"))))
    at = page("train")
    at.session_state["more"] = True
    at.run()
    assert "bfloat16 is 2.0 times as fast as float32 here." in said(at)
    at.selectbox("set_precision").select("bfloat16").run()
    assert "time estimated from “ensemble bench”" in said(at)


def test_a_race_that_an_earlier_version_left_holds_nobody_up(page: Open, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "machine" / "job"
    folder.mkdir(parents=True)
    job = {"updated": time.time(), "settings": {"rounds": 3}, "progress": 0.5, "race": "", **at_work_here(folder)}
    for state in ("queued", "finished", "of a later version", "racing"):
        (folder / "status.json").write_text(json.dumps({**job, "state": state, "queued": 1.0}))
        assert list_queued_jobs() == [], state
    assert "Nothing is running or queued" in said(page())
    page("train")


def test_up_to_eight_devices_are_listed() -> None:
    assert machine_info.list_members_by_device(8, 8).count("device") == 8
    assert machine_info.list_members_by_device(9, 9) == ""


def test_of_many_that_wait_eight_are_shown(page: Open) -> None:
    for _ in range(8):
        runs.create_run(EnsembleConfig())
    at = page()
    assert " more." not in said(at)
    runs.create_run(EnsembleConfig())
    loaders.forget_runs()
    assert "And 1 more." in said(at.run())
