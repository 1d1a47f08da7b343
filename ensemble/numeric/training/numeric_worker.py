"""The worker of a run that predicts numbers: waits in the queue, trains, writes how it ended."""

import time

from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.numeric.numeric_status import NumericStatus
from ensemble.numeric.numeric_store import NumericRun, find_numeric_run
from ensemble.numeric.training.numeric_launch import require_numeric_config


def execute_numeric_run(
    run_id: str, report: ReportStatus = lambda status: None, stop: StopRequest | None = None
) -> NumericRun:
    """Bring a queued run to its end in this process; see `jobs.worker.execute_job`.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well.
    """
    run = find_numeric_run(run_id)
    worker.execute_job(
        run,
        lambda status, stop: _train_numeric_run(run, status, stop, report),
        report,
        stop,
        devices=require_numeric_config(run).devices,
    )
    return find_numeric_run(run_id)


def _train_numeric_run(
    run: NumericRun, status: StatusWriter[NumericStatus], stop: StopRequest, report: ReportStatus
) -> Outcome:
    status.update(started=time.time())
    # Its modules start JAX, which reads its settings then.
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble.numeric.training.numeric_session import NumericSession

    return NumericSession(run, status, stop, report).train_run()
