"""Sweeps whose trials learn in no time, in this process."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.jobs.status import read_start_ticks
from ensemble.sweeps import claims, training
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps.light import light_config, train_lightly

Search = Callable[..., sweeps.Sweep]


@pytest.fixture(autouse=True)
def light_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only training itself is replaced: by a function of the settings. A journal is quickest.

    So each trial is trained by itself. No test pulls the plug: nothing waits for the disk.
    """
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(runs, "execute_run", train_lightly)
    monkeypatch.setattr(training, "count_packed_lanes", lambda config: config.members)


@pytest.fixture
def search() -> Search:
    """Makes a sweep with these settings and does its trials in this process."""

    def searched(**changes: Any) -> sweeps.Sweep:
        return work_on_sweep(sweeps.create_sweep(light_config(**changes)).id)

    return searched


@pytest.fixture
def a_dead_owner(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Trials are claimed in the name of a process that has ended; until what it returns is called.

    It would have taken its locks with it, as a worker's `finally` does here.
    """
    ended = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    real = claims.build_owner_record
    dead = real() | {"pid": ended.pid, "ticks": read_start_ticks(ended.pid)}
    ended.communicate()
    monkeypatch.setattr(claims, "build_owner_record", lambda: dead)
    return lambda: monkeypatch.setattr(claims, "build_owner_record", real)
