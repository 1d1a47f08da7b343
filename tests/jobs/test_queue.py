"""The one queue: every kind of job in it, in the order they came, whatever one file says."""

import json
import socket
import time
from dataclasses import asdict, replace

import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.kinds import TRAINING
from ensemble.jobs.queue import (
    acquire_worker_lock,
    list_active_run_jobs,
    list_blocking_jobs,
    list_jobs_ahead,
    list_queued_jobs,
    prepare_requeue,
)
from ensemble.jobs.status import write_status
from ensemble.regression import LbfgsConfig
from ensemble.regression.regression_job import REGRESSION
from ensemble.shift import StressStatus
from ensemble.shift.results import stress_folder
from ensemble.shift.stress_job import STRESS
from tests.pages.grouped import in_groups
from tests.workers import at_work_here


@pytest.fixture(autouse=True)
def data_of_one_test(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))


def measured(run: runs.Run) -> None:
    """The run is being measured under shift, by this process."""
    stress_folder(run.path).mkdir()
    mine = {**at_work_here(stress_folder(run.path)), "queued": time.time()}
    write_status(stress_folder(run.path), StressStatus(state="measuring", progress=0.5, **mine))


def test_all_kinds_stand_in_one_line_in_the_order_they_came() -> None:
    first = regression.create_regression(LbfgsConfig(devices=2))
    assert [job.id for job in list_blocking_jobs()] == [first.id]
    second = runs.create_run(EnsembleConfig(devices=1))
    third = runs.create_run(EnsembleConfig())
    write_status(third.path, replace(third.status, state="finished"))
    measured(third)
    line = list_queued_jobs()
    assert [job.kind for job in line] == [REGRESSION, TRAINING, STRESS]
    assert [job.id for job in line] == [first.id, second.id, third.id]
    assert [job.devices for job in line] == [2, 1, 0]
    assert [job.share for job in line] == [0.0, 0.0, 0.5]
    assert line[0].name == first.name
    assert [job.id for job in list_jobs_ahead(line[2])] == [first.id, second.id]
    assert list_blocking_jobs() == line
    assert [job.kind for job in list_active_run_jobs(third.path)] == [STRESS]
    assert list_active_run_jobs(second.path)[0].kind is TRAINING


def test_a_job_that_waits_or_is_worked_on_elsewhere_is_not_begun_again() -> None:
    run, busy = runs.create_run(EnsembleConfig()), "It is worked on."
    for status in (
        run.status,
        replace(run.status, state="training", pid=7, host="elsewhere.example.org", updated=time.time()),
    ):
        write_status(run.path, status)
        with pytest.raises(RunError, match=busy), prepare_requeue(run.path, busy, lambda: runs.find_run(run.id)):
            pass
    write_status(run.path, replace(status, updated=0.0))
    with prepare_requeue(run.path, busy, lambda: runs.find_run(run.id)) as found:
        assert found.id == run.id


def test_groups_that_have_not_begun_are_nobody_at_work() -> None:
    told = {1: {"step": 40}}
    run = in_groups({1: "stopped", 2: "queued"}, state="stopped", told=told)
    assert list_active_run_jobs(run.path) == []
    run = in_groups({1: "stopped", 2: "training"}, state="stopped", told=told)
    assert [job.id for job in list_active_run_jobs(run.path)] == [f"{run.id}:2"]


def test_a_worker_that_comes_too_late_or_cannot_lock_its_folder_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    (run.path / "worker.lock").symlink_to(run.path / "config.json")
    with pytest.raises(RunError, match=r"It cannot begin \(.*: .*worker\.lock\): check what is there,"):
        acquire_worker_lock(run.path, "It")
    write_status(run.path, replace(run.status, state="stopped"))
    runs.delete_run(run.id)  # and that keeps nobody from deleting it
    with pytest.raises(RunError, match="It has been deleted: there is nothing to start"):
        acquire_worker_lock(run.path, "It")


def test_a_dead_worker_holds_nobody_up() -> None:
    dead = runs.create_run(EnsembleConfig())
    gone = {"state": "training", "pid": 2**22 + 1, "host": socket.gethostname()}
    write_status(dead.path, replace(dead.status, **gone))
    assert list_queued_jobs() == []
    assert list_jobs_ahead(runs.create_run(EnsembleConfig())) == []


@pytest.mark.parametrize(
    "odd", ["", "[]", '{"queued": null}', '{"updated": "now"}', '{"state": ["queued"]}', "{" * 5000]
)
def test_one_odd_status_upsets_nobody_else(odd: str) -> None:
    broken, sound = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())
    (broken.path / "status.json").write_text(odd)
    assert [job.id for job in list_queued_jobs()] == [sound.id]
    settings = json.loads((sound.path / "config.json").read_text())
    (broken.path / "config.json").write_text(json.dumps({**settings, "settings": None}))
    assert [job.id for job in list_queued_jobs()] == [sound.id]
    assert list_active_run_jobs(broken.path) == []
    assert asdict(sound.status)["state"] == "queued"
