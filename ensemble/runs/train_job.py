"""A run's worker: waits its turn, trains, and writes down how it ended."""

import time
from collections.abc import Callable

from ensemble.jobs.folders import folder_of
from ensemble.jobs.launch import STOP_FILE
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import Place, hold
from ensemble.jobs.worker import bugs_written_down, in_turn, outcome_of
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status, StatusWriter
from ensemble.runs.store import Run, find

Report = Callable[[Status], None]


def work(run_id: str, report: Report = lambda status: None, stop: StopRequest | None = None) -> Run:
    """Bring a queued run to its end in this process.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well; see `stop_request`.

    Whatever goes wrong is written into the run's status; a bug is raised as well, after
    that, so that its traceback lands in the log.
    """
    run, stop = find(run_id), stop or stop_request(run_id)

    def in_turn_train() -> Outcome:
        return in_turn(
            Place.to_train(run), status, stop, report,
            lambda: _train(run, status, stop, report),
        )  # fmt: skip

    with stop, hold(run.path, f"The run “{run.id}”"), StatusWriter(run.path) as status:
        with bugs_written_down(status, "the training", "what was trained so far is kept"):
            outcome = outcome_of(in_turn_train, "resume")
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return find(run_id)


def stop_request(run_id: str) -> StopRequest:
    """What asks this run to stop."""
    return StopRequest(folder_of(run_id) / STOP_FILE)


def _train(run: Run, status: StatusWriter, stop: StopRequest, report: Report) -> Outcome:
    status.update(started=time.time())
    prepare_jax()
    from ensemble.runs.session import Session

    with Session(run, status, stop, report) as session:
        return session.train()
