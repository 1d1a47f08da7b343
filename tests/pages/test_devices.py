"""Devices: before anything is measured, while it is, and with what was found."""

import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.job import is_stop_requested
from ensemble.race import Race, build_default_race, queue_race, read_race_job
from ensemble.race.race_runner import estimate_race_seconds
from ensemble.race.results import write_race
from ensemble.race.status import race_folder
from ensemble.ui.devices import machine_info, race_results
from ensemble.ui.shared import loaders
from ensemble.ui.train.launch import round_duration
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import format_run_name
from tests.race.test_race import RACE, TINY
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


def racing(**status: Any) -> None:
    """A race that a process is at: this one."""
    job = queue_race(TINY)
    mine = {"host": socket.gethostname()} if "pid" in status else at_work_here(job.path)
    known = {"state": "racing", **mine}
    changed = replace(job.status, **{**known, **status}, updated=time.time())
    (race_folder() / "status.json").write_text(json.dumps(asdict(changed)))


def measured() -> Race:
    race = replace(RACE, host=socket.gethostname(), created=time.time())
    write_race(race)
    return race


def test_the_first_visit_says_what_will_be_here_and_offers_to_measure(page: Open) -> None:
    at = page()
    assert "How fast does this machine train an ensemble?" in said(at)
    assert button(at, "race_measure").label.startswith("Measure this machine, about ")
    assert "Nothing is running or queued" in said(at)
    assert at.metric[0].value.isdigit(), "processor cores"
    at.session_state["members_per_device"] = True
    at.run()
    at.select_slider("devices_members").set_value(8).run()
    assert "8 members on " in said(at)


def test_what_was_measured_is_answered_drawn_and_used(page: Open) -> None:
    race = measured()
    write_race(replace(race, host="another machine", created=race.created + 60))
    at = page()
    assert "from M = 2 on (2.1 times as fast at M = 4)" in said(at)
    (chart,) = at.get("plotly_chart")
    spec = json.loads(chart.proto.spec)
    drawn = {trace["name"]: trace["y"] for trace in spec["data"]}
    assert drawn["this engine"] == list(race.rates["float32"].values())
    labels = [one["text"] for one in spec["layout"]["annotations"]]
    assert sorted(labels) == sorted(drawn)
    assert button(at, "race_measure").label.startswith("Measure again")
    assert race_results.find_latest_race() == race, "that of another machine is another's"


def test_one_on_its_way_says_how_far_it_is_and_can_be_stopped(page: Open) -> None:
    racing(message="Round 1 of 3, 2 members: the HOWTO's loop.", progress=0.4, seconds_left=65.0)
    waits = runs.create_run(EnsembleConfig())
    at = page()
    text = at.get("progress")[0].proto.text
    assert text == "Round 1 of 3, 2 members: the HOWTO's loop · 1 min 5 s left"
    assert button(at, "race_measure") is None
    assert "racing · 40 %" in said(at)
    assert "queued, 1 job before it" in said(at)
    assert escaping.escape_markdown(format_run_name(waits)) in [link.proto.label for link in at.get("page_link")]
    button(at, "race_stop").click().run()
    assert is_stop_requested(read_race_job())
    assert button(at, "race_stopping").disabled


def test_one_that_was_killed_says_so_and_can_be_started_again(page: Open) -> None:
    racing(pid=2**22 + 1)
    at = page()
    assert "was killed" in at.error[0].value
    assert button(at, "race_measure")


def test_train_tells_what_bfloat16_is_worth_and_how_long_it_takes(page: Open) -> None:
    race = measured()
    twice = {M: 2 * rate for M, rate in race.rates["float32"].items()}
    devices = max(1, int(os.environ.get("JAX_NUM_CPU_DEVICES", "1")))
    write_race(replace(race, created=race.created + 1, devices=devices, rates={**race.rates, "bfloat16": twice}))
    at = page("train")
    at.session_state["more"] = True
    at.run()
    assert "bfloat16 is 2.0 times as fast as float32 here." in said(at)
    at.selectbox("set_precision").select("bfloat16").run()
    assert "from the speed measured on Devices" in said(at)


def test_the_time_left_of_a_race_runs_on_between_its_words(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    racing(message="Round 1.", progress=0.4, seconds_left=65.0)
    job = read_race_job()
    assert job
    later = SimpleNamespace(time=lambda: job.status.updated + 20)
    monkeypatch.setattr(jobs_words, "time", later)
    assert page().get("progress")[0].proto.text == "Round 1 · 45 s left"


def test_one_that_was_stopped_says_so_and_can_be_started_again(page: Open) -> None:
    racing(state="stopped", message="Stopped by hand.")
    at = page()
    assert [one.value for one in at.info] == ["Stopped by hand."]
    assert button(at, "race_measure")


def test_the_last_race_tells_how_long_the_next_takes_where_they_are_alike(page: Open) -> None:
    usual = build_default_race()
    race = replace(measured(), seconds=4000.0)
    write_race(replace(race, created=race.created + 1))
    guessed = formats.format_duration(round_duration(sum(estimate_race_seconds(usual).values())))
    assert button(page(), "race_measure").label == f"Measure again, about {guessed}"
    write_race(replace(race, created=race.created + 2, settings=usual.as_dict()))
    assert button(page(), "race_measure").label == "Measure again, about 1 h 10 min"


def test_a_speed_that_was_reached_with_other_results_is_not_named() -> None:
    race = measured()
    assert machine_info.find_measured_throughput(2) == race.rates["float32"][2]
    write_race(replace(race, created=race.created + 1, differences={"float32": 0.5}))
    assert machine_info.find_measured_throughput(2) is None


def test_up_to_eight_devices_are_listed() -> None:
    assert machine_info.list_members_by_device(8, 8).count("device") == 8
    assert machine_info.list_members_by_device(9, 9) == ""


@pytest.mark.parametrize(("count", "more"), [(8, False), (9, True)])
def test_of_many_that_wait_eight_are_shown(page: Open, count: int, more: bool) -> None:
    for _ in range(count):
        runs.create_run(EnsembleConfig())
    assert ("And 1 more." in said(page())) == more
