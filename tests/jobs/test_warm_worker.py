"""A worker that is kept ready."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.launch import worker_environment
from ensemble.jobs.warm_worker import WarmWorker, circumstances
from tests.workers import wait_for_end

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

WANTED = {"ENSEMBLE_SPARE": "1"}


@pytest.fixture
def spare() -> Iterator[WarmWorker]:
    made = WarmWorker()
    yield made
    made.dismiss()
    end = time.monotonic() + 60
    while any(child.poll() is None for child in made._dismissed) and time.monotonic() < end:
        time.sleep(0.05)


def waiting(spare: WarmWorker) -> psutil.Process:
    """The process that waits, which has to be there."""
    assert spare._child is not None
    return psutil.Process(spare._child.pid)


def test_it_becomes_the_worker_of_one_run_after_the_other_and_writes_their_logs(
    spare: WarmWorker, config: EnsembleConfig
) -> None:
    environment = worker_environment() | WANTED
    config = dataclasses.replace(config, epochs=1)
    spare.keep_ready(environment, likely=config)
    process = waiting(spare)
    made = [runs.create(dataclasses.replace(config, seed=seed)) for seed in (1, 2)]
    for run in made:
        assert spare.give(made[0], environment | {"CUDA_VISIBLE_DEVICES": "3"}) is None
        child = spare.give(run, environment)
        assert child is not None
        assert child.pid == process.pid
        ended = wait_for_end(run)
        assert (ended.state, ended.status.pid) == ("finished", child.pid), (
            run.path / "log.txt"
        ).read_text()
        assert (run.path / "log.txt").exists()
    # The second run's numbers are its own: nothing of the first is left in the process.
    first, second = (runs.read_predictions(run.id, 1) for run in made)
    assert not np.array_equal(first, second)
    # What waits takes it as everyone does; what has just ended its run does not wait any more.
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(30) in (-signal.SIGTERM, 0)
    assert spare.give(made[0], environment) is None


def test_a_run_is_not_given_to_one_that_is_at_work(
    spare: WarmWorker, config: EnsembleConfig
) -> None:
    environment = worker_environment() | WANTED
    spare.keep_ready(environment)
    long = runs.create(dataclasses.replace(config, epochs=1000))
    assert spare.give(long, environment) is not None
    other = runs.create(config)
    assert spare.give(other, environment) is None
    process = waiting(spare)
    spare.keep_ready(environment, likely=config)
    assert waiting(spare).pid == process.pid
    # The server ends: the run goes on, and its worker ends with it.
    spare.dismiss()
    while runs.find(long.id).state in ("queued", "starting"):
        time.sleep(0.05)
    runs.request_stop(long.id)
    assert wait_for_end(long).state == "stopped"
    assert spare._dismissed[0].wait(30) == 0


def test_one_is_enough_and_it_goes_when_the_server_does(spare: WarmWorker) -> None:
    environment = worker_environment() | WANTED
    spare.keep_ready(environment)
    process = waiting(spare)
    spare.keep_ready(environment)
    assert waiting(spare).pid == process.pid
    spare.dismiss()  # Closes the pipe, as the system does when the server is killed.
    assert spare._dismissed[0].wait(60) == 0


def test_one_made_for_something_else_is_not_given_the_run(
    spare: WarmWorker, tmp_path: Path
) -> None:
    spare.keep_ready(worker_environment() | WANTED)
    run = runs.create(EnsembleConfig())
    elsewhere = worker_environment() | WANTED | {"CUDA_VISIBLE_DEVICES": "3"}
    assert spare.give(run, elsewhere) is None


def test_none_where_a_person_does_not_want_it(spare: WarmWorker) -> None:
    spare.keep_ready(worker_environment() | {"ENSEMBLE_SPARE": "0"})
    assert spare._child is None


def test_a_changed_program_is_another_circumstance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.py").touch()
    monkeypatch.setattr("ensemble.jobs.warm_worker.PACKAGE", tmp_path)
    before = circumstances({})
    later = time.time_ns() + 10**9
    os.utime(tmp_path / "one.py", ns=(later, later))
    assert circumstances({}) != before
