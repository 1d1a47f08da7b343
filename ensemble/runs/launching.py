"""From a click to a worker: processes of their own that outlive whoever started them."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.machine.jax_settings import given_environment
from ensemble.runs.spare import Spare
from ensemble.runs.status import RESUMABLE, write_status
from ensemble.runs.store import Run, create, find, folder_of
from ensemble.storage.folders import runs_folder

STOP_FILE = "stop"

# Kept so that a worker that ends is reaped, at the next launch or look.
_children: list["subprocess.Popen[bytes]"] = []
_spare = Spare()


def launch(config: EnsembleConfig) -> Run:
    """Make a run and start its worker, which waits its turn."""
    run = create(config)
    _start_worker(run)
    return run


def resume(run_id: str) -> Run:
    """Start a worker again on a stopped or failed run, at its last checkpoint."""
    run = requeue(run_id)
    _start_worker(run)
    return run


def requeue(run_id: str) -> Run:
    """Put a run that can go on back into state `queued`.

    Raises:
      RunError: it is active, finished, or would diverge again.
    """
    run = find(run_id)
    if run.state not in RESUMABLE:
        raise RunError(f"The run “{run_id}” cannot be resumed: {_why_not(run.state)}")
    (run.path / STOP_FILE).unlink(missing_ok=True)
    now = time.time()
    status = replace(run.status, state="queued", queued=now, updated=now, pid=None, message="")
    write_status(run.path, replace(status, seconds_left=None))
    return find(run_id)


def request_stop(run_id: str) -> None:
    """Ask a run's worker to stop; it does within about a second of training.

    Raises:
      RunError: the run is not active.
    """
    run = find(run_id)
    if not run.active:
        raise RunError(f"The run “{run_id}” is {run.state}: there is nothing to stop.")
    (run.path / STOP_FILE).touch()


def stop_requested(run_id: str) -> bool:
    """Whether somebody asked this run to stop."""
    return (folder_of(run_id) / STOP_FILE).exists()


def worker_environment() -> dict[str, str]:
    """The environment for a worker: as it was given to this process, folders made absolute."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **given_environment(),
        "ENSEMBLE_RUNS": str(runs_folder()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "PYTHONUNBUFFERED": "1",
    }


def keep_spare(likely: EnsembleConfig | None = None) -> None:
    """See to it that a process waits for the next run, so that it starts at once.

    Args:
      likely: settings that it may have; give them only where training will be on a CPU.
    """
    _spare.keep_ready(worker_environment(), likely)


def start_process(log: Path, *words: str) -> None:
    """`python -m ensemble` with these words: it outlives this process and writes to `log`."""
    with log.open("ab") as file:
        child = subprocess.Popen(
            [sys.executable, "-m", "ensemble", *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=worker_environment(),
            start_new_session=True,
        )
    _keep(child)


def _start_worker(run: Run) -> None:
    if child := _spare.give(run, worker_environment()):
        _keep(child)
    else:
        start_process(run.path / "log.txt", "work", run.id)


def _keep(child: "subprocess.Popen[bytes]") -> None:
    _children[:] = [one for one in _children if one.poll() is None and one is not child]
    _children.append(child)


def _why_not(state: str) -> str:
    if state == "finished":
        return "it has finished. Launch a new one for more epochs."
    if state == "diverged":
        return "the same numbers would diverge again. Launch a new one with a lower learning rate."
    return f"it is {state} already."
