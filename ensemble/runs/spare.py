"""A worker kept ready: it has imported everything before there is a run for it.

Starting Python and importing JAX takes longer than the first training steps. The server
keeps one such process, which becomes the worker of the next run; it ends when the server
does, when nobody needs it for a while, or when what it was made for no longer holds. Without
one, launching works as well, only slower.

On a CPU it also compiles the training step for the settings that the next run will likely
have. Elsewhere JAX's backend is not started before there is a run: that would take an
accelerator's memory.
"""

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from ensemble import data
from ensemble.config import EnsembleConfig
from ensemble.runs.environment import prepare_jax
from ensemble.runs.store import Run, find

SWITCH = "ENSEMBLE_SPARE"
PATIENCE_SECONDS = 20 * 60.0
SECONDS_TO_DRAW = 1.5  # the page that is being opened goes first
PACKAGE = Path(__file__).resolve().parents[1]

Child = subprocess.Popen[bytes]
Circumstances = tuple[dict[str, str], str, int]


class Spare:
    """The one process that waits, if there is one. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._made_for: Circumstances | None = None
        self._dismissed: list[Child] = []

    def keep_ready(
        self, environment: Mapping[str, str], likely: EnsembleConfig | None = None
    ) -> None:
        """See to it that a process waits.

        Args:
          environment: a worker's.
          likely: what the next run may be, to compile for: on a CPU only. One that waits
            already is left as it is.
        """
        if environment.get(SWITCH) == "0":
            return
        with self._lock:
            now = circumstances(environment)
            if self._usable(now):
                return
            self._dismiss()
            self._child, self._made_for = start(environment, likely), now

    def give(self, run: Run, environment: Mapping[str, str]) -> Child | None:
        """Make the process that waits the worker of `run`; None where there is none."""
        with self._lock:
            child = self._child
            if child is None or child.stdin is None or not self._usable(circumstances(environment)):
                return None
            self._child = None
            try:
                child.stdin.write(run.id.encode() + b"\n")
                child.stdin.close()
            except OSError:  # It ended at this very moment.
                return None
            return child

    def dismiss(self) -> None:
        """Let the process that waits go."""
        with self._lock:
            self._dismiss()

    def _usable(self, now: Circumstances) -> bool:
        return self._child is not None and self._child.poll() is None and self._made_for == now

    def _dismiss(self) -> None:
        self._dismissed = [child for child in self._dismissed if child.poll() is None]
        if self._child and self._child.stdin:
            self._child.stdin.close()  # It ends when nobody can write to it any more.
            self._dismissed.append(self._child)
        self._child = None


def start(environment: Mapping[str, str], likely: EnsembleConfig | None) -> Child:
    """A process that runs `wait_for_run`."""
    words = [json.dumps(likely.as_dict())] if likely else []
    return subprocess.Popen(
        [sys.executable, "-m", "ensemble", "spare", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        start_new_session=True,
    )


def circumstances(environment: Mapping[str, str]) -> Circumstances:
    """What a process is made for: its environment, its folder, and the program as it is now."""
    newest = max(path.stat().st_mtime_ns for path in PACKAGE.rglob("*.py"))
    return dict(environment), os.getcwd(), newest


def wait_for_run(likely: EnsembleConfig | None = None) -> Run | None:
    """In the process that waits: the run it is given, or None to end.

    From then on its output goes to the run's log.

    Args:
      likely: what the run may be, to compile for meanwhile.
    """
    given = ready_to_read(SECONDS_TO_DRAW)
    prepare_jax()
    import ensemble.runs.session  # noqa: F401 (this is what takes the time)

    compiling = threading.Thread(target=compile_for, args=(None if given else likely,))
    compiling.start()
    given = given or ready_to_read(PATIENCE_SECONDS)
    line = sys.stdin.readline().strip() if given else ""
    run = find(line) if line else None
    # Also where the run has other settings: two programs with a collective in them, side by
    # side on several CPU devices, can wait for each other for ever.
    compiling.join()
    if run:
        with (run.path / "log.txt").open("ab") as log:
            os.dup2(log.fileno(), sys.stdout.fileno())
            os.dup2(log.fileno(), sys.stderr.fileno())
    return run


def ready_to_read(seconds: float) -> bool:
    """Whether somebody writes within this time, or is gone."""
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def compile_for(likely: EnsembleConfig | None) -> None:
    """Do a first step as a run with these settings does; this process then keeps the programs."""
    if likely:
        from ensemble.engine import Trainer

        trainer = Trainer(likely, data.load(likely.dataset))
        trainer.train(trainer.start(), 1, 0, 1)
