"""Waiting for a run's worker, which may be interrupted: then the run stops and can go on later."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from ensemble import runs
from ensemble.errors import RunError
from ensemble.wording.runs.training import describe_training_progress

POLL_INTERVAL_S = 0.2

Progress = Callable[[runs.Status], object]


def wait_for_run(run_id: str, progress: Progress | bool = True) -> None:
    """Wait until a run is no longer active.

    An interrupt (Ctrl-C, or Interrupt of a notebook) asks the run to stop, and waits until it has
    kept its checkpoint; a second one is not waited for. Whatever else ends the waiting, the run
    goes on: it has a process of its own.

    Args:
      run_id: a run that has been launched.
      progress: called with each new status; True prints a line an epoch, False nothing.

    Raises:
      RunError: the run failed; the message says why and what to do.
    """
    tell = build_status_printer() if progress is True else progress or (lambda status: None)
    try:
        _poll_run_status(run_id, tell)
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # It had ended before it was asked.
            runs.request_run_stop(run_id)
        _poll_run_status(run_id, build_status_printer() if progress is True else lambda status: None)
    run = runs.find_run(run_id)
    if run.state == "failed":
        raise RunError(f"The run “{run_id}” failed. {run.message}")


def _poll_run_status(run_id: str, tell: Progress) -> None:
    """Call `tell` with each new status of a run until it is no longer active."""
    poll_job_status(lambda: runs.find_run(run_id), tell)


def poll_job_status(find_job: Callable[[], Any], tell: Callable[[Any], object]) -> None:
    """Call `tell` with each new status of a job until it is no longer active."""
    last_status = None
    while True:
        job = find_job()
        if job.status != last_status:
            tell(last_status := job.status)
        if not job.active:
            return
        time.sleep(POLL_INTERVAL_S)


def build_status_printer() -> Progress:
    """Prints how a run stands where its state, its message or its epoch is another."""
    last_parts: list[object] = []

    def print_status(status: runs.Status) -> None:
        parts = [status.state, status.message, status.epoch]
        if parts != last_parts:
            last_parts[:] = parts
            print(" · ".join(filter(None, (describe_training_progress(status), status.message))), flush=True)

    return print_status
