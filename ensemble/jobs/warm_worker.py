"""The warm worker: a process that has imported everything before there is a run for it.

Starting Python, importing JAX and compiling take longer than the first training steps. The server
keeps one process that has done so (its program is warm_worker_main.py), gives it one run after the
other, and ends it by closing the pipe to it. It also ends when the server does, after a while
without a run, and when the program or its environment has changed. Without one a launch works as
well, only slower.
"""

import json
import os
import selectors
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ensemble import architectures
from ensemble.config import EnsembleConfig
from ensemble.machine.python_command import build_python_command

SWITCH_VARIABLE = "ENSEMBLE_WARM_WORKER"
_OLD_SWITCH_VARIABLE = "ENSEMBLE_SPARE"  # its name in earlier versions
PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
# A run's last word comes a moment before its worker can take the next.
GRACE_SECONDS = 0.3
_ANY_TEACHER = "any-teacher"  # that there is one decides what is compiled, not which
# Settings that are data to the compiled programs: another value compiles nothing.
_DATA_SETTINGS = (
    "learning_rate",
    "momentum",
    "vary",
    "epochs",
    "seed",
    "schedule",
    "warmup_epochs",
    "patience",
    "distil_temperature",
    "distil_alpha",
)


class _ConfiguredRun(Protocol):
    """What a worker is told of a run."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def training_config(self) -> EnsembleConfig | None:
        """Its settings; None of one that no worker trains."""


_WorkerProcess = subprocess.Popen[bytes]
_StartConditions = tuple[dict[str, str], str, int]


class WarmWorker:
    """The one process that waits for a run, if there is one. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: _WorkerProcess | None = None
        self._made_for: _StartConditions | None = None
        self._told: EnsembleConfig | None = None
        self._at_work = False
        self._dismissed: list[_WorkerProcess] = []

    def keep_ready(self, environment: Mapping[str, str], likely: EnsembleConfig | None = None) -> None:
        """See to it that a process waits, unless a person has switched that off.

        Args:
          environment: a worker's.
          likely: settings that the next run may have, to compile for; the process does so on a
            CPU only, since elsewhere it would take an accelerator's memory.
        """
        if not is_warm_worker_enabled(environment):
            return
        if likely and architectures.is_custom_network(likely.network):
            likely = None  # It would compile code that its author may change the next moment.
        with self._lock:
            now = collect_start_conditions(environment)
            if not self._is_usable(now):
                self._close_process()
                self._child, self._made_for, self._told = start_warm_worker(environment), now, None
            compiled_settings = likely and select_compiled_settings(likely)
            if compiled_settings and compiled_settings != self._told and self._is_idle():
                self._send_message({"likely": compiled_settings.as_dict()})
                self._told = compiled_settings

    def assign_run(self, run: _ConfiguredRun, environment: Mapping[str, str]) -> _WorkerProcess | None:
        """Make the process that waits this run's worker and return it; None if none can be."""
        if run.training_config and architectures.is_custom_network(run.training_config.network):
            return None  # Modules once imported stay as they were: a fresh process reads them again.
        with self._lock:
            if not self._is_usable(collect_start_conditions(environment)) or not self._is_idle(GRACE_SECONDS):
                return None
            self._at_work = self._send_message({"run": run.id})
            self._told = select_compiled_settings(run.training_config) if run.training_config else None
            return self._child if self._at_work else None

    def dismiss(self) -> None:
        """End the process that waits; one that trains finishes its run first."""
        with self._lock:
            self._close_process()

    def _is_usable(self, now: _StartConditions) -> bool:
        return self._child is not None and self._child.poll() is None and self._made_for == now

    def _is_idle(self, seconds: float = 0.0) -> bool:
        """Whether it can take a run: it has had none, or has said that the last one is done."""
        if self._at_work and self._child and self._child.stdout:
            # `select.select` knows no handle above 1,023, which a server of many tabs may give.
            with selectors.DefaultSelector() as ear:
                ear.register(self._child.stdout, selectors.EVENT_READ)
                events = ear.select(seconds)
            self._at_work = not (events and os.read(self._child.stdout.fileno(), 1))
        return not self._at_work

    def _send_message(self, message: dict[str, Any]) -> bool:
        """Whether the message reached it: it may have ended at this very moment."""
        if self._child is None or self._child.stdin is None:
            return False
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
        except OSError:
            return False
        return True

    def _close_process(self) -> None:
        self._dismissed = [child for child in self._dismissed if child.poll() is None]
        if self._child:
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe:
                    pipe.close()  # It ends when nobody can write to it any more.
            self._dismissed.append(self._child)
        self._child, self._at_work = None, False


def is_warm_worker_enabled(environment: Mapping[str, str]) -> bool:
    """Whether to keep a warm worker: not where ENSEMBLE_WARM_WORKER is 0, or its old name is."""
    return environment.get(SWITCH_VARIABLE, environment.get(_OLD_SWITCH_VARIABLE)) != "0"


def start_warm_worker(environment: Mapping[str, str]) -> _WorkerProcess:
    """A new process that does `warm_worker_main.main`."""
    return subprocess.Popen(
        build_python_command(module="ensemble.jobs.warm_worker_main"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        start_new_session=True,
        bufsize=0,
    )


def collect_start_conditions(environment: Mapping[str, str]) -> _StartConditions:
    """What a process is started for: environment, folder, and the program's newest change."""
    newest = max(path.stat().st_mtime_ns for path in PACKAGE_FOLDER.rglob("*.py"))
    return dict(environment), os.getcwd(), newest


def select_compiled_settings(config: EnsembleConfig) -> EnsembleConfig:
    """The settings that decide what is compiled; all others at their defaults."""
    chosen = {name: value for name, value in config.as_dict().items() if name not in _DATA_SETTINGS}
    # Of these it is whether there are any: how much is data.
    chosen["weight_decay"] = float(any(config.member_values["weight_decay"]))
    chosen["label_smoothing"] = 0.1 if config.label_smoothing else 0.0
    chosen["adversarial"] = 0.01 if config.adversarial else 0.0
    chosen["teacher"] = _ANY_TEACHER if config.has_soft_targets else ""
    return EnsembleConfig.from_dict(chosen)
