"""From a click to a run: launched, resumed, asked to stop."""

import time
from dataclasses import replace

from ensemble.access import Action, check, limits
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs import job
from ensemble.jobs.folders import changing
from ensemble.jobs.launch import keep_child, start_worker, worker_environment
from ensemble.jobs.placement import KUBERNETES, Placement, placed_on
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import write_status
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.runs.status import RESUMABLE
from ensemble.runs.store import Run, create, find
from ensemble.storage.reading import opened_to_append

_warm_worker = WarmWorker()


def launch(config: EnsembleConfig, placement: Placement | None = None) -> Run:
    """Make a run and start its worker, which waits its turn.

    Args:
      config: the run's settings.
      placement: where it is to be trained; by default on this machine.
    """
    run = create(config, placement)
    _start_worker(run)
    return run


def resume(run_id: str) -> Run:
    """Start a worker again on a stopped or failed run, at its last checkpoint."""
    run = requeue(run_id)
    _start_worker(run)
    return run


def requeue(run_id: str, on: str = "") -> Run:
    """Put a run that can go on back into state `queued`.

    Args:
      run_id: which.
      on: the place that asks, as the run's placement names it.

    Raises:
      RunError: it is active, finished, or would diverge again; or cannot be written; or goes on
        where pods are made for it, and nowhere else.
    """
    run = find(run_id)
    cannot = f"The run “{run_id}” cannot be resumed: "
    if on != KUBERNETES and placed_on(run.path) == KUBERNETES:
        raise RunError(
            f"The run “{run_id}” is trained on Kubernetes, and not from here: delete its Job, and "
            "apply the manifest again. It then goes on where it was."
        )
    if run.origin:
        raise RunError(
            f"{cannot}it came in a report, which holds no checkpoints. Launch a new one with its "
            "settings."
        )
    if run.state not in RESUMABLE:
        raise RunError(cannot + _why_not(run.state))
    busy = f"{cannot}a worker is at it still. Stop it first."
    resuming = changing(run.path, action=Action.RESUME)
    with limits.launching(), resuming, without_worker(run.path, busy):
        run = find(run_id)  # Two may ask for the same at once.
        if run.awaited or run.status.state in ("finished", "diverged"):
            raise RunError(cannot + _why_not(run.status.state))
        job.forget_stop(run.path)
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
    if not job.request_stop(run):
        raise RunError(f"The run “{run_id}” is {run.state}: there is nothing to stop.")


def keep_warm_worker(likely: EnsembleConfig | None = None) -> None:
    """See to it that a process waits for the next run, so that it starts at once.

    Args:
      likely: settings that it may have; give them only where training will be on a CPU.
    """
    _warm_worker.keep_ready(worker_environment(), likely)


def _start_worker(run: Run) -> None:
    check(Action.LAUNCH)
    # The warm worker could tell nobody that its log cannot be written.
    with changing(run.path, action=None):
        opened_to_append(run.path / "log.txt").close()
    if child := _warm_worker.give(run, worker_environment()):
        keep_child(child)
    else:
        start_worker(run)


def _why_not(state: str) -> str:
    if state == "finished":
        return "it has finished. Launch a new one for more epochs."
    if state == "imported":
        return "it was trained elsewhere. Train it on there, and import what it predicts then."
    if state == "diverged":
        return "the same numbers would diverge again. Launch a new one with a lower learning rate."
    return f"it is {state} already."
