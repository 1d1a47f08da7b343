"""The warm worker: given runs one after the other, let go, and switched off."""

import dataclasses
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from ensemble import architectures, runs
from ensemble.config import EnsembleConfig
from ensemble.engine.optimizer import build_update_rule
from ensemble.jobs import warm_worker_main
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.warm_worker import (
    WarmWorker,
    collect_start_conditions,
    is_warm_worker_enabled,
    select_compiled_settings,
)
from tests.workers import wait_for_end

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

WANTED = {"ENSEMBLE_WARM_WORKER": "1"}


@pytest.fixture
def config(config: EnsembleConfig) -> EnsembleConfig:
    """With the smallest network there is: what it learns is not what is tested."""
    return dataclasses.replace(config, network="logistic")


@pytest.fixture
def warm_worker() -> Iterator[WarmWorker]:
    made = WarmWorker()
    yield made
    made.dismiss()
    end = time.monotonic() + 240
    while any(child.poll() is None for child in made._dismissed) and time.monotonic() < end:
        time.sleep(0.05)


def waiting(warm_worker: WarmWorker) -> psutil.Process:
    """The process that waits, which has to be there."""
    assert warm_worker._child is not None
    return psutil.Process(warm_worker._child.pid)


@pytest.mark.long
def test_it_becomes_the_worker_of_one_run_after_the_other_and_writes_their_logs(
    warm_worker: WarmWorker, config: EnsembleConfig
) -> None:
    environment = build_worker_environment() | WANTED
    config = dataclasses.replace(config, epochs=1)
    warm_worker.keep_ready(environment, likely=config)
    process = waiting(warm_worker)
    made = [runs.create_run(dataclasses.replace(config, seed=seed)) for seed in (1, 2)]
    for run in made:
        assert warm_worker.assign_run(made[0], environment | {"CUDA_VISIBLE_DEVICES": "3"}) is None
        child = warm_worker.assign_run(run, environment)
        assert child is not None
        assert child.pid == process.pid
        ended = wait_for_end(run)
        assert (ended.state, ended.status.pid) == ("finished", child.pid), (run.path / "log.txt").read_text()
        assert (run.path / "log.txt").exists()
    # The second run's numbers are its own: nothing of the first is left in the process.
    first, second = (runs.read_run_predictions(run.id, 1) for run in made)
    assert not np.array_equal(first, second)
    # What waits takes it as everyone does; what has just ended its run does not wait any more.
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(30) in (-signal.SIGTERM, 0)
    assert warm_worker.assign_run(made[0], environment) is None


@pytest.mark.long
def test_a_run_is_not_given_to_one_that_is_at_work(warm_worker: WarmWorker, config: EnsembleConfig) -> None:
    environment = build_worker_environment() | WANTED
    warm_worker.keep_ready(environment)
    long = runs.create_run(dataclasses.replace(config, epochs=1000))
    assert warm_worker.assign_run(long, environment) is not None
    other = runs.create_run(config)
    assert warm_worker.assign_run(other, environment) is None
    process = waiting(warm_worker)
    warm_worker.keep_ready(environment, likely=config)
    assert waiting(warm_worker).pid == process.pid
    # The server ends: the run goes on, and its worker ends with it.
    warm_worker.dismiss()
    while runs.find_run(long.id).state in ("queued", "starting"):
        time.sleep(0.05)
    runs.request_run_stop(long.id)
    assert wait_for_end(long).state == "stopped"
    assert warm_worker._dismissed[0].wait(30) == 0


def test_a_process_that_waits_is_told_anew_only_of_what_is_compiled(config: EnsembleConfig) -> None:
    def made_for(**changes: object) -> EnsembleConfig:
        asked = dataclasses.replace(config, members=2, **changes)
        found = select_compiled_settings(asked)
        assert build_update_rule(found) == build_update_rule(asked)
        return found

    plain, decayed = made_for(), made_for(weight_decay=0.01)
    assert plain != decayed
    assert made_for(vary="learning_rate=0.01..1:log", momentum=0.5) == plain
    assert made_for(weight_decay=0.3) == made_for(vary="weight_decay=0,0.1") == decayed
    assert made_for(label_smoothing=0.2) == made_for(label_smoothing=0.4) != plain
    assert made_for(adversarial=0.01) == made_for(adversarial=0.2) != plain
    assert made_for(optimizer="adamw") not in (plain, decayed)


def test_one_is_enough_and_it_goes_when_the_server_does(warm_worker: WarmWorker) -> None:
    environment = build_worker_environment() | WANTED
    warm_worker.keep_ready(environment)
    process = waiting(warm_worker)
    warm_worker.keep_ready(environment)
    assert waiting(warm_worker).pid == process.pid
    warm_worker.dismiss()  # Closes the pipe, as the system does when the server is killed.
    assert warm_worker._dismissed[0].wait(60) == 0


# The first test above holds it too, before each of its runs.
@pytest.mark.variant
def test_one_made_for_something_else_is_not_given_the_run(warm_worker: WarmWorker, tmp_path: Path) -> None:
    warm_worker.keep_ready(build_worker_environment() | WANTED)
    run = runs.create_run(EnsembleConfig())
    elsewhere = build_worker_environment() | WANTED | {"CUDA_VISIBLE_DEVICES": "3"}
    assert warm_worker.assign_run(run, elsewhere) is None


@pytest.mark.parametrize(
    ("said", "kept_ready"),
    [
        ({"ENSEMBLE_WARM_WORKER": "0"}, False),
        ({"ENSEMBLE_SPARE": "0"}, False),  # its name in earlier versions
        ({"ENSEMBLE_WARM_WORKER": "1", "ENSEMBLE_SPARE": "0"}, True),
        ({"ENSEMBLE_WARM_WORKER": "0", "ENSEMBLE_SPARE": "1"}, False),
        ({}, True),
    ],
)
def test_none_where_a_person_does_not_want_it(warm_worker: WarmWorker, said: dict[str, str], kept_ready: bool) -> None:
    environment = build_worker_environment()
    environment.pop("ENSEMBLE_WARM_WORKER")
    assert is_warm_worker_enabled(environment | said) == kept_ready
    if not kept_ready:
        warm_worker.keep_ready(environment | said)
        assert warm_worker._child is None


def test_a_changed_program_is_another_circumstance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").touch()
    monkeypatch.setattr("ensemble.jobs.warm_worker.PACKAGE_FOLDER", tmp_path)
    before = collect_start_conditions({})
    later = time.time_ns() + 10**9
    os.utime(tmp_path / "one.py", ns=(later, later))
    assert collect_start_conditions({}) != before


def test_it_hears_its_child_with_more_handles_open_than_select_knows() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("this system allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1200, hard))
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        child = subprocess.Popen(["echo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        made = WarmWorker()
        made._child, made._at_work = child, True
        assert made._is_idle(10.0)
        made.dismiss()
        child.wait()
    finally:
        for handle in taken:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_it_does_not_stay_after_a_run_whose_code_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not warm_worker_main.has_imported_own_network(runs.create_run(EnsembleConfig()).path)
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, "leaves:Leaves")
    assert warm_worker_main.has_imported_own_network(runs.create_run(EnsembleConfig(network="leaves:Leaves")).path)
    assert warm_worker_main.has_imported_own_network(tmp_path), "what cannot be read may have been one"
