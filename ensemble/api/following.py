"""Waiting for a run's worker, which may be interrupted: then the run stops and can go on later."""

import contextlib
import time
from collections.abc import Callable

from ensemble import runs
from ensemble.errors import RunError
from ensemble.wording.runs.training import standing

POLL_SECONDS = 0.2

Progress = Callable[[runs.Status], object]


def follow(run_id: str, progress: Progress | bool = True) -> None:
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
    tell = line_by_line() if progress is True else progress or (lambda status: None)
    try:
        watch(run_id, tell)
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # It had ended before it was asked.
            runs.request_stop(run_id)
        watch(run_id, line_by_line() if progress is True else lambda status: None)
    run = runs.find(run_id)
    if run.state == "failed":
        raise RunError(f"The run “{run_id}” failed. {run.message}")


def watch(run_id: str, tell: Progress) -> None:
    """Call `tell` with each new status of a run until it is no longer active."""
    said = None
    while True:
        run = runs.find(run_id)
        if run.status != said:
            tell(said := run.status)
        if not run.active:
            return
        time.sleep(POLL_SECONDS)


def line_by_line() -> Progress:
    """Prints how a run stands where its state, its message or its epoch is another."""
    said: list[object] = []

    def tell(status: runs.Status) -> None:
        seen = [status.state, status.message, status.epoch]
        if seen != said:
            said[:] = seen
            print(" · ".join(filter(None, (standing(status), status.message))), flush=True)

    return tell
