"""Who is alive."""

import errno
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import job
from ensemble.jobs.status import StatusWriter, is_process_alive, write_status
from ensemble.runs.status import read_run_status
from tests.workers import held_by_a_worker


def training(**changes: object) -> runs.Run:
    """A run in training, as its worker has written it; by default that is this process."""
    run = runs.create_run(EnsembleConfig())
    mine = {"state": "training", "pid": os.getpid(), "host": os.uname().nodename}
    write_status(run.path, replace(run.status, **{**mine, **changes}))
    return runs.find_run(run.id)


def test_a_worker_is_alive_while_it_holds_its_lock_and_whatever_it_has_written():
    run = training(pid=2**22 + 1, updated=0.0)
    assert not run.active
    with held_by_a_worker(run.path):
        assert run.active, "and so it is for the process that is the worker itself"
        assert run.state == "training"
    assert run.has_died, "the number of a process says nothing where the lock does"
    assert training().active, "but where there is no lock"


@pytest.mark.parametrize("state", ["finished", "stopped", "diverged", "failed"])
def test_an_ended_run_has_no_worker_and_is_not_asked_for_one(state, monkeypatch):
    monkeypatch.setattr(job, "is_locked", lambda path: pytest.fail("asked"))
    run = training(state=state)
    assert (run.active, run.has_died, run.state) == (False, False, state)


def test_one_that_has_ended_since_it_was_read_has_not_died():
    """Its worker says how it ended, then lets go: a page may have read it just before."""
    run = training()
    with held_by_a_worker(run.path):
        seen = runs.find_run(run.id)
        write_status(run.path, replace(run.status, state="finished"))
    assert (seen.has_died, seen.state, seen.message) == (False, "training", "")
    assert runs.find_run(run.id).state == "finished"


def test_a_killed_worker_is_dead_even_before_it_is_reaped():
    code = (
        "import pathlib, sys, time; from ensemble.storage.file_lock import try_lock\n"
        "held = try_lock(pathlib.Path(sys.argv[1])); print(flush=True); time.sleep(60)"
    )
    run = training()
    lock = str(run.path / "worker.lock")
    child = subprocess.Popen([sys.executable, "-c", code, lock], stdout=subprocess.PIPE)
    child.stdout.readline()
    assert run.active
    child.kill()
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert run.has_died
    assert not is_process_alive(child.pid, None)
    child.communicate()
    assert run.has_died
    assert not is_process_alive(child.pid, None)


def test_on_another_host_the_heartbeat_decides_unless_the_lock_is_seen_from_here():
    now = time.time()
    assert training(host="elsewhere", pid=1, updated=now).active
    # Some beats may be late: a shared disk hands them on when it likes.
    assert training(host="elsewhere", pid=1, updated=now - 50).active
    silent = training(host="elsewhere", pid=1, updated=now - 61)
    assert silent.has_died
    with held_by_a_worker(silent.path):
        assert silent.active
    (silent.path / "worker.lock").touch()
    assert training(host="elsewhere", pid=1, updated=now).active


@pytest.mark.parametrize("pid", [2**22 + 1, 2**31 - 1])
def test_a_number_that_no_process_can_have_is_nobodys(pid):
    run = training()
    assert replace(run, status=replace(run.status, pid=pid)).has_died


def test_where_nothing_more_can_be_opened_a_worker_is_taken_to_live(monkeypatch):
    def too_many(*arguments: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    run = training()
    monkeypatch.setattr(psutil, "Process", too_many)
    monkeypatch.setattr(os, "open", too_many)
    assert run.active


def test_a_run_that_nobody_took_up_is_dead_after_a_while():
    run = runs.create_run(EnsembleConfig())
    assert run.state == "queued"
    write_status(run.path, replace(run.status, updated=time.time() - 20))
    assert runs.find_run(run.id).state == "queued", "a busy machine takes its time to start a process"
    write_status(run.path, replace(run.status, updated=time.time() - 31))
    dead = runs.find_run(run.id)
    assert dead.state == "failed"
    assert dead.has_died
    assert "resume" in dead.message


def test_the_writer_keeps_what_was_there_and_says_who_writes():
    run = runs.create_run(EnsembleConfig(epochs=5))
    with StatusWriter(run.status_file, run.status) as writer:
        writer.update(state="training", step=3)
        seen = read_run_status(run.path)
    assert (seen.state, seen.step, seen.epochs, seen.pid) == ("training", 3, 5, os.getpid())
    assert seen.created == run.status.created


def test_the_heart_beats_while_nothing_happens(monkeypatch):
    monkeypatch.setattr("ensemble.jobs.status.HEARTBEAT_SECONDS", 0.02)
    run = runs.create_run(EnsembleConfig())
    with StatusWriter(run.status_file, run.status):
        first = read_run_status(run.path).updated
        end = time.monotonic() + 240
        while read_run_status(run.path).updated == first:
            assert time.monotonic() < end, "no heartbeat"
            time.sleep(0.01)


def test_a_reader_never_sees_half_a_status():
    run = runs.create_run(EnsembleConfig())
    writer = (
        "import sys, pathlib; from ensemble.jobs.status import write_status\n"
        "from ensemble.runs.status import Status\n"
        "for n in range(500): write_status(pathlib.Path(sys.argv[1]), Status(step=n))"
    )
    with subprocess.Popen([sys.executable, "-c", writer, str(run.path)]) as child:
        steps = []
        while child.poll() is None:
            steps.append(read_run_status(run.path).step)
    assert child.returncode == 0
    assert steps == sorted(steps)
    assert read_run_status(run.path).step == 499


def test_how_it_ended_is_known_where_nothing_new_fits_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())

    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with StatusWriter(run.status_file, run.status) as status:
        monkeypatch.setattr("ensemble.jobs.status.write_json", full)
        status.update(state="failed", message="The disk is full.")
    assert (read_run_status(run.path).state, read_run_status(run.path).message) == ("failed", "The disk is full.")
