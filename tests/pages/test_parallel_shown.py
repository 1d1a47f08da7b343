"""Parallel: which regression a tab shows, and what earlier ones tell of a new one."""

import json
import os
import socket
from dataclasses import asdict, replace
from typing import Any

import pytest

from ensemble import regression
from ensemble.jobs.placement import Placement, write_placement
from ensemble.regression import Regression
from ensemble.regression.pmap_choice import load_pmap_choice
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.ui.devices.probe import DeviceInventory
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.parallel import launch
from ensemble.wording.runs import regression as regression_words
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened, value

CONFIG = LbfgsConfig(iterations=30)


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    forget_jobs()


def ended(state: str = "finished", config: LbfgsConfig = CONFIG, **status: Any) -> Regression:
    """A regression that took 100 s here, unless told otherwise."""
    solve = regression.create_regression(config)
    known = {"host": socket.gethostname(), "started": 1000.0, "updated": 1100.0, **status}
    changed = replace(solve.status, state=state, **known)
    (solve.path / "status.json").write_text(json.dumps(asdict(changed)))
    forget_jobs()
    return regression.find_regression(solve.id)


def test_without_one_in_its_address_the_regression_shown_last_is_shown() -> None:
    older, newer = ended(created=1000.0), ended(created=2000.0)
    assert value(opened(page="parallel"), "solve") == newer.id
    at = opened(page="parallel", solve=older.id)
    at.query_params.clear()
    at.switch_page("pages/parallel.py").run()
    assert value(at, "solve") == older.id


def test_one_of_the_same_size_on_this_machine_tells_how_long_another_takes() -> None:
    ended()
    said = "About 1 min 40 s, as one of this size took before."
    assert launch.describe_solve_time(CONFIG) == said
    half = replace(CONFIG, iterations=15)
    assert launch.describe_solve_time(half) == said.replace("1 min 40 s", "50 s")


@pytest.mark.parametrize(
    "other",
    [
        {"host": "another machine"},
        {"state": "stopped"},
        {"config": replace(CONFIG, sweep=not CONFIG.sweep)},
        {"config": replace(CONFIG, samples=CONFIG.samples + 1)},
        {"config": replace(CONFIG, pmap="with")},
        {"started": None},
    ],
    ids=["elsewhere", "stopped", "with another sweep", "of another size", "with one device", "never begun"],
)
def test_one_that_is_not_alike_tells_nothing(other: dict[str, Any]) -> None:
    ended(**other)
    assert launch.describe_solve_time(CONFIG) == ""


def test_one_that_was_a_task_of_a_cluster_tells_nothing_of_this_machine() -> None:
    write_placement(ended().path, Placement("slurm", {}))
    forget_jobs()
    assert launch.describe_solve_time(CONFIG) == ""


def test_all_devices_of_a_cpu_are_no_more_than_its_cores() -> None:
    split = int(os.environ["JAX_NUM_CPU_DEVICES"])
    assert launch.count_default_devices(DeviceInventory("cpu", ("cpu",), 2)) == min(2, split)
    assert launch.count_default_devices(DeviceInventory("cpu", ("cpu",), 99)) == split
    assert launch.count_default_devices(DeviceInventory("gpu", ("a", "b", "c"), 2)) == 3


def test_the_list_of_runs_leads_to_regressions_and_does_not_show_them() -> None:
    ended()
    run = trained()
    at = opened(page="runs")
    assert at.dataframe[0].value["id"].tolist() == [run.id]
    link = at.get("page_link")[-1].proto
    assert (link.page, link.label) == ("parallel", "1 regression: open Parallel")


def test_what_was_left_to_the_program_is_answered_with_what_was_tried() -> None:
    small = {"samples": 200, "features": 8, "classes": 3, "iterations": 4, "sweep": False}
    # A fixed step and one step remembered: what compiles in a quarter of the time.
    config = LbfgsConfig(**small, devices=2, stepsize=0.5, history=1, pmap="faster")
    solve = regression.run_regression_worker(regression.create_regression(config).id)
    choice = load_pmap_choice(solve.path)
    forget_jobs()
    at = opened(page="parallel", solve=solve.id)
    captions = [one.value for one in at.main.caption]
    assert regression_words.describe_pmap_choice(choice) in captions
    assert any("what is faster here" in one.help for one in at.main.caption), "the settings"
    way = "With pmap, on 2 devices" if choice.pmap else "Without pmap, on one device"
    assert any(one.value.startswith(f"#### {way}, an iteration takes ") for one in at.main.markdown)
    assert at.metric[0].label == f"Compiling, {'with' if choice.pmap else 'without'}"
    assert len(at.dataframe[0].value) == 1
    next(one for one in at.button if one.key == "solve_reuse").click().run()
    (launching,) = (one.label for one in at.button if one.key == "solve_launch")
    assert launching.endswith("the faster way, with or without pmap on 2 devices")
