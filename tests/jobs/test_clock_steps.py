"""A clock that is set while somebody works: who is at work is asked of locks, not of clocks."""

import dataclasses
import os
import subprocess
import time
from pathlib import Path

import pytest
from psutil import _pslinux

from ensemble import regression, runs, shift
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.queue import list_queued_jobs
from ensemble.jobs.status import JobStatus, is_process_alive, is_worker_alive, read_start_ticks, write_status
from ensemble.regression import LbfgsConfig
from ensemble.shift.results import stress_folder
from ensemble.shift.stress_job import StressStatus
from ensemble.storage import file_lock
from tests.workers import held_by_a_worker, wait_for_end, wait_until

HOUR = 3600.0
# What the clock is set to, and the time that the machine seems to have started with it.
STEPS = (5.0, -5.0, HOUR, -HOUR, 365 * 24 * HOUR, -365 * 24 * HOUR)


def set_clock(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is so many seconds ahead, for this process as a reader."""
    now, booted = time.time, _pslinux.boot_time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)
    monkeypatch.setattr(_pslinux, "boot_time", lambda: booted() + seconds)


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left", "two_devices_a_worker")
def test_a_run_in_training_is_seen_so_and_kept_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EnsembleConfig(network="mlp", members=2, devices=1, epochs=1000, batch_size=128)
    run = runs.launch_run(config)
    wait_until(run, lambda run: run.state == "training")
    for seconds in STEPS:
        with monkeypatch.context() as patched:
            set_clock(seconds, patched)
            seen = runs.find_run(run.id)
            assert (seen.state, seen.active, seen.has_died) == ("training", True, False), seconds
            assert [job.id for job in list_queued_jobs()] == [run.id]
            with pytest.raises(RunError, match="it is already training"):
                runs.requeue_run(run.id)
            with pytest.raises(RunError, match="still active: stop it, then delete it"):
                runs.delete_run(run.id)
    runs.request_run_stop(run.id)
    assert wait_for_end(run).state == "stopped"
    runs.delete_run(run.id)


def test_nothing_is_changed_under_a_worker_whatever_its_status_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that say that all has ended, or nothing: the lock is what counts."""
    monkeypatch.setattr(file_lock, "GRACE_SECONDS", 0.05)
    run, solve = runs.create_run(EnsembleConfig()), regression.create_regression(LbfgsConfig())
    (run.path / "checkpoints" / "1").mkdir(parents=True)
    write_status(run.path, dataclasses.replace(run.status, state="stopped"))
    write_status(solve.path, dataclasses.replace(solve.status, state="failed"))
    with held_by_a_worker(run.path):
        with pytest.raises(RunError, match="cannot be resumed: it is still running"):
            runs.requeue_run(run.id)
        with pytest.raises(RunError, match="stop it, then delete it"):
            runs.delete_run(run.id)
        (run.path / "status.json").write_text("{")
        with pytest.raises(RunError, match="stop it, then delete it"):
            runs.delete_run(run.id)
        write_status(run.path, dataclasses.replace(run.status, state="stopped"))
    for delete in (runs.delete_run, regression.delete_regression):
        with held_by_a_worker(solve.path), pytest.raises(RunError, match="stop it, then delete it"):
            delete(solve.id)
    stress = stress_folder(run.path)
    stress.mkdir()
    write_status(stress, StressStatus(state="failed"))
    with held_by_a_worker(stress):
        with pytest.raises(RunError, match="measured already"):
            shift.queue_stress(run.id)
        with pytest.raises(RunError, match="measured under shift: stop that on Inspect"):
            runs.delete_run(run.id)
    assert shift.queue_stress(run.id).state == "queued"
    with pytest.raises(RunError, match="measured already"):
        shift.queue_stress(run.id)
    write_status(stress, StressStatus(state="stopped"))
    assert runs.requeue_run(run.id).state == "queued"
    with pytest.raises(RunError, match="it is already queued"):
        runs.requeue_run(run.id)
    write_status(run.path, dataclasses.replace(run.status, state="stopped"))
    runs.delete_run(run.id)
    regression.delete_regression(solve.id)
    assert not run.path.exists()
    assert not solve.path.exists()


def test_where_no_lock_tells_the_process_table_does_by_ticks_since_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    with subprocess.Popen(["sleep", "60"]) as child:
        ticks = read_start_ticks(child.pid)
        seconds = _pslinux.Process(child.pid).create_time(monotonic=True)
        child.terminate()
        assert ticks == round(seconds * os.sysconf("SC_CLK_TCK"))
    with subprocess.Popen(["sleep", "60"]) as child:
        ticks = read_start_ticks(child.pid)
        mine = {"state": "training", "pid": child.pid, "host": "here", "pid_ticks": ticks}
        monkeypatch.setattr("socket.gethostname", lambda: "here")
        status = dataclasses.replace(run.status, **mine, pid_created=1.0)
        for seconds in (0.0, *STEPS):
            with monkeypatch.context() as patched:
                set_clock(seconds, patched)
                assert is_worker_alive(status, None)
                # Another process has the number now.
                assert not is_worker_alive(dataclasses.replace(status, pid_ticks=ticks + 1), None)
                assert not is_worker_alive(status, False), "its lock is free: it has ended"
        child.terminate()


def test_without_a_proc_folder_the_kernels_own_record_tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ensemble.jobs.status.PROCESS_FOLDER", tmp_path / "proc")
    with subprocess.Popen(["sleep", "60"]) as child:
        ticks = read_start_ticks(child.pid)
        assert ticks is not None
        assert ticks == read_start_ticks(child.pid)
        assert is_process_alive(child.pid, ticks)
        assert not is_process_alive(child.pid, ticks - 100), "another had the number a second ago"
        child.terminate()
    assert read_start_ticks(child.pid) is None
    assert not is_process_alive(child.pid, ticks)


@pytest.mark.parametrize(("ahead", "alive"), [(50.0, True), (61.0, False), (HOUR, False)])
def test_a_heartbeat_from_the_future_is_silence(ahead: float, alive: bool) -> None:
    far = JobStatus("training", pid=1, host="elsewhere")
    for updated in (time.time() + ahead, time.time() - ahead):
        assert is_worker_alive(dataclasses.replace(far, updated=updated), None) == alive
        assert is_worker_alive(dataclasses.replace(far, updated=updated), held=True)
    nobody_yet = JobStatus("queued", updated=time.time() + ahead)
    assert not is_worker_alive(nobody_yet, None)
