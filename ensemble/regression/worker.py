"""A regression's worker: watched and stopped like training, by files."""

import time

from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.regression.cpu_devices import prepare_solver_devices
from ensemble.regression.regression_job import Regression, RegressionStatus, find_regression

MAX_CPU_DEVICES = 8


def run_regression_worker(solve_id: str, report: ReportStatus = lambda status: None) -> Regression:
    """Bring a queued regression to its end in this process; see `jobs.worker.execute_job`.

    Args:
      solve_id: a regression in state `queued`.
      report: called with each new status.
    """
    solve = find_regression(solve_id)
    worker.execute_job(
        solve, lambda status, stop: _run_regression(solve, status, stop, report), report, devices=solve.config.devices
    )
    return find_regression(solve_id)


def _run_regression(
    solve: Regression, status: StatusWriter[RegressionStatus], stop: StopRequest, report: ReportStatus
) -> Outcome:
    status.update(started=time.time())
    # A scheduler may have begun it before, on a node that it took away.
    (solve.path / "history.jsonl").unlink(missing_ok=True)
    most = max(solve.config.devices or count_cpu_cores(), MAX_CPU_DEVICES)
    own_pool = prepare_solver_devices(most)
    from ensemble.regression.regression_runner import RegressionRunner

    return RegressionRunner(solve, status, stop, report, own_pool).run()
