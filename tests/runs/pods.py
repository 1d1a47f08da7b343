"""A run of pods, and processes that pass for them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable

from ensemble.cli.kubernetes import format_config_options
from ensemble.config import EnsembleConfig
from tests.workers import PATIENCE_SECONDS

RUN, ON = "digits-try", "kubernetes"
CONFIG = EnsembleConfig(
    members=4, groups=2, network="logistic", epochs=20, batch_size=1, learning_rate=0.001, devices=1
)


def pod(index: int, submission: str = "first") -> "subprocess.Popen[str]":
    named = {"JOB_COMPLETION_INDEX": str(index), "ENSEMBLE_SUBMISSION": submission}
    words = [sys.executable, "-m", "ensemble", "work-pod", RUN, *format_config_options(CONFIG)]
    return subprocess.Popen(
        words, env={**os.environ, **named}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def ended(*pods: "subprocess.Popen[str]") -> list[int]:
    said = [one.communicate(timeout=PATIENCE_SECONDS)[0] for one in pods]
    assert "Traceback" not in "".join(said), said
    return [one.returncode for one in pods]


def soon(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
