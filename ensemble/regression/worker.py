"""A regression's worker: watched and stopped like training, by files."""

import time

from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import Report
from ensemble.machine.jax_settings import cpu_cores
from ensemble.regression.cpu_devices import prepare_for_collectives
from ensemble.regression.status import SolveStatus
from ensemble.regression.store import Solve, find_solve

MOST_CPU_DEVICES = 8


def work_solve(solve_id: str, report: Report = lambda status: None) -> Solve:
    """Bring a queued regression to its end in this process; see `jobs.worker.do`.

    Args:
      solve_id: a regression in state `queued`.
      report: called with each new status.
    """
    solve = find_solve(solve_id)
    worker.do(
        solve,
        lambda status, stop: _solve(solve, status, stop, report),
        report,
        devices=solve.config.devices,
    )
    return find_solve(solve_id)


def _solve(
    solve: Solve, status: StatusWriter[SolveStatus], stop: StopRequest, report: Report
) -> Outcome:
    status.update(started=time.time())
    # A scheduler may have begun it before, on a node that it took away.
    (solve.path / "history.jsonl").unlink(missing_ok=True)
    most = max(solve.config.devices or cpu_cores(), MOST_CPU_DEVICES)
    own_pool = prepare_for_collectives(most)
    from ensemble.regression.job import Job

    return Job(solve, status, stop, report, own_pool).work()
