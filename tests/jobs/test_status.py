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
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.runs.status import Status, read_status


def me(**changes: object) -> Status:
    mine = Status(
        state="training",
        pid=os.getpid(),
        pid_created=psutil.Process().create_time(),
        host=os.uname().nodename,
        updated=time.time(),
    )
    return replace(mine, **changes)


def test_a_worker_that_runs_is_alive():
    assert me().alive


@pytest.mark.parametrize("state", ["finished", "stopped", "diverged", "failed"])
def test_an_ended_run_has_no_worker(state):
    assert not me(state=state).alive


def test_a_number_that_another_process_has_now_is_not_the_worker():
    assert not me(pid_created=psutil.Process().create_time() - 100).alive


def test_a_killed_worker_is_dead_even_before_it_is_reaped():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    status = me(pid=child.pid, pid_created=psutil.Process(child.pid).create_time())
    assert status.alive
    child.kill()
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not status.alive
    child.wait()
    assert not status.alive


def test_on_another_host_the_heartbeat_decides():
    assert me(host="elsewhere", pid=1).alive
    # Some beats may be late: a shared disk hands them on when it likes.
    assert me(host="elsewhere", pid=1, updated=time.time() - 50).alive
    assert not me(host="elsewhere", pid=1, updated=time.time() - 61).alive


def test_a_run_that_nobody_took_up_is_dead_after_a_while():
    run = runs.create(EnsembleConfig())
    assert run.state == "queued"
    write_status(run.path, replace(run.status, updated=time.time() - 20))
    assert runs.find(run.id).state == "queued", "a busy machine takes its time to start a process"
    write_status(run.path, replace(run.status, updated=time.time() - 31))
    dead = runs.find(run.id)
    assert dead.state == "failed"
    assert dead.died
    assert "resume" in dead.message


def test_the_writer_keeps_what_was_there_and_says_who_writes():
    run = runs.create(EnsembleConfig(epochs=5))
    with StatusWriter(run.status_file, run.status) as writer:
        writer.update(state="training", step=3)
        seen = read_status(run.path)
    assert (seen.state, seen.step, seen.epochs, seen.pid) == ("training", 3, 5, os.getpid())
    assert seen.created == run.status.created


def test_the_heart_beats_while_nothing_happens(monkeypatch):
    monkeypatch.setattr("ensemble.jobs.status.HEARTBEAT_SECONDS", 0.02)
    run = runs.create(EnsembleConfig())
    with StatusWriter(run.status_file, run.status):
        first = read_status(run.path).updated
        end = time.monotonic() + 10
        while read_status(run.path).updated == first:
            assert time.monotonic() < end, "no heartbeat in 10 seconds"
            time.sleep(0.01)


def test_a_reader_never_sees_half_a_status():
    run = runs.create(EnsembleConfig())
    writer = (
        "import sys, pathlib; from ensemble.jobs.status import write_status\n"
        "from ensemble.runs.status import Status\n"
        "for n in range(500): write_status(pathlib.Path(sys.argv[1]), Status(step=n))"
    )
    with subprocess.Popen([sys.executable, "-c", writer, str(run.path)]) as child:
        steps = []
        while child.poll() is None:
            steps.append(read_status(run.path).step)
    assert child.returncode == 0
    assert steps == sorted(steps)
    assert read_status(run.path).step == 499


def test_how_it_ended_is_known_where_nothing_new_fits_on_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = runs.create(EnsembleConfig())

    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with StatusWriter(run.status_file, run.status) as status:
        monkeypatch.setattr("ensemble.jobs.status.write_json", full)
        status.update(state="failed", message="The disk is full.")
    assert (read_status(run.path).state, read_status(run.path).message) == (
        "failed", "The disk is full.",
    )  # fmt: skip
