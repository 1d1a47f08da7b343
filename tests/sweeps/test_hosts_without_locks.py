"""Workers of several hosts on a disk that shows the locks of each to no other: no trial twice."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ensemble import runs, sweeps
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.takeover import LEASE_FILE
from ensemble.sweeps.settings import STORAGE_VARIABLE
from tests.sweeps.light import epochs_of, light_config

ROOT = Path(__file__).resolve().parents[2]
# A worker of the host HOST, whose system lets everybody have every lock.
ELSEWHERE = """
import fcntl, os, socket, sys
name = os.environ["HOST"]
socket.gethostname = lambda: name
fcntl.flock = lambda *words: None
from ensemble import runs
from ensemble.sweeps import training, worker
from tests.sweeps import light
light.PAUSE = float(sys.argv[2])
runs.execute_run = light.train_lightly
training.count_packed_lanes = lambda config: config.members
worker.work_on_sweep(sys.argv[1])
"""


def start_elsewhere(sweep: sweeps.Sweep, host: str, pause: float) -> "subprocess.Popen[bytes]":
    with (sweep.path / f"{host}.txt").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, sweep.id, str(pause)],
            env={**os.environ, "HOST": host, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


@pytest.mark.long
def test_three_hosts_train_each_trial_once() -> None:
    sweep = sweeps.create_sweep(light_config(trials=40))
    hosts = ["node1", "node2", "node3"]
    workers = [start_elsewhere(sweep, host, 0.0) for host in hosts]
    for worker, host in zip(workers, hosts, strict=True):
        assert worker.wait(120) == 0, (sweep.path / f"{host}.txt").read_text()
    sweep = sweeps.find_sweep(sweep.id)
    trials = sweeps.read_trials(sweep)
    assert (sweep.state, sweep.status.done) == ("finished", 40)
    assert [one.state for one in trials] == ["complete"] * 40
    assert [one.number for one in trials] == list(range(40))
    assert len({tuple(one.params.items()) for one in trials}) == 40
    assert sorted(one.run_id for one in trials) == sorted(run.id for run in runs.list_runs())
    for one in trials:
        assert epochs_of(runs.find_run(one.run_id).path) == [1, 2, 3]
    assert len({runs.find_run(one.run_id).status.host for one in trials}) > 1
    assert not list(sweep.path.glob("*.claim"))


def test_a_worker_whose_trial_another_took_over_ends_and_writes_no_more() -> None:
    sweep = sweeps.create_sweep(light_config(trials=1))
    worker = start_elsewhere(sweep, "node1", 0.8)
    try:
        end = time.monotonic() + 240
        while not (lease := next(sweep.path.parent.glob(f"digits-*/{LEASE_FILE}"), None)) or (
            not epochs_of(lease.parent)
        ):
            assert time.monotonic() < end, (sweep.path / "node1.txt").read_text()
            time.sleep(0.05)
        lease.write_text('{"token": "of another"}')
        assert worker.wait(60) == 0
    finally:
        worker.kill()
        worker.wait()
    assert "now has another task: this one ends" in (sweep.path / "node1.txt").read_text()
    assert epochs_of(lease.parent) != [1, 2, 3]


@pytest.mark.parametrize(("stated", "kept"), [("sqlite", "journal"), ("", "journal"), ("journal", "journal")])
def test_a_sweep_on_a_cluster_keeps_its_trials_in_a_journal_and_says_why(
    stated: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, stated)
    sweep = sweeps.create_sweep(light_config(), Placement("slurm"))
    assert sweep.config.storage == kept
    assert ("SQLite is not safe" in sweep.message) == (stated != "journal")
    assert sorted(file.name for file in sweep.path.glob("study.db*")) == []
    here = sweeps.create_sweep(light_config())
    assert (here.config.storage, here.message) == (stated or "sqlite", "")
