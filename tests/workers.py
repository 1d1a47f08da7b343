"""Runs on the real digits, with real workers."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.queue import acquire_worker_lock
from ensemble.runs import Run

# Long enough for a first compile on two busy cores.
PATIENCE_SECONDS = 240

# The workers that this process passes for, in a test.
_hands = ExitStack()


@contextmanager
def held_by_a_worker(folder: Path) -> Iterator[None]:
    """The job in `folder` has a worker within this, as far as its lock tells."""
    with acquire_worker_lock(folder, "It"):
        yield


def at_work_here(folder: Path) -> dict[str, Any]:
    """Take the worker's lock of the job in `folder` until the test ends, as its worker would.

    Returns:
      What a status says of this process, as its worker.
    """
    _hands.enter_context(acquire_worker_lock(folder, "It"))
    return {"pid": os.getpid(), "host": socket.gethostname()}


def list_held_locks() -> set[str]:
    """The files that this process has locked, by device and inode; none where the system does not tell."""
    try:
        lines = [line.split() for line in Path("/proc/locks").read_text("utf-8").splitlines()]
    except OSError:
        return set()
    return {line[5] for line in lines if line[1] == "FLOCK" and line[4] == str(os.getpid())}


@pytest.fixture(autouse=True)
def let_go_of_locks() -> Iterator[None]:
    """End the workers that this process has passed for; then the test has left none of its locks taken."""
    before = list_held_locks()
    yield
    _hands.close()
    end = time.monotonic() + 10  # for a thread of the test's
    while (left := list_held_locks() - before) and time.monotonic() < end:
        time.sleep(0.02)
    assert not left, [file.path for file in psutil.Process().open_files()]


def wait_until(run: Run, condition: Callable[[Run], bool]) -> Run:
    """The run as soon as the condition holds for it."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        now = runs.find_run(run.id)
        if condition(now):
            return now
        time.sleep(0.05)
    log = (run.path / "log.txt").read_text() if (run.path / "log.txt").exists() else "no log"
    raise AssertionError(f"{run.id} is {now.state} ({now.message}): {now.status}\n{log[-3000:]}")


def wait_for_end(run: Run) -> Run:
    return wait_until(run, lambda run: not run.active)


@pytest.fixture
def config() -> EnsembleConfig:
    """Two members, ten steps an epoch: about a second an epoch.

    Tests that train the HOWTO's network for real train two members with this batch size on two
    devices, those of the command line and in the browser too: whoever comes first compiles it for
    the others. What a worker does whatever it trains is tested on a smaller network.
    """
    return EnsembleConfig(members=2, epochs=3, batch_size=128, learning_rate=0.05)


@pytest.fixture
def no_worker_left() -> Iterator[None]:
    yield
    for run in runs.list_runs():
        if run.active and run.status.pid:
            runs.request_run_stop(run.id)
            wait_for_end(run)
