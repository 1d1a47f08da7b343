"""A regression's worker: started, watched and stopped like training, by files."""

import time
from dataclasses import replace

from ensemble.errors import RunError
from ensemble.jobs import worker
from ensemble.jobs.folders import changing
from ensemble.jobs.job import forget_stop, request_stop
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.jobs.worker import Report
from ensemble.machine.jax_settings import cpu_cores
from ensemble.regression.cpu_devices import prepare_for_collectives
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import SolveStatus
from ensemble.regression.store import Solve, create_solve, find_solve

MOST_CPU_DEVICES = 8


def launch_solve(config: LbfgsConfig, placement: Placement | None = None) -> Solve:
    """Make a regression and start its worker, which waits its turn; here, or where it is placed."""
    solve = create_solve(config, placement)
    start_worker(solve)
    return solve


def follow_solve(solve_id: str) -> Solve:
    """Put a regression on a cluster, whose worker here was killed, back into state `queued`.

    The next worker finds its task again, or what that came to.

    Raises:
      RunError: it is none on a cluster, has ended, or is followed.
    """
    solve = find_solve(solve_id)
    cannot = f"The run “{solve_id}” cannot be followed: "
    busy = f"{cannot}it is followed already."
    if not solve.placed:
        raise RunError(f"{cannot}it is on no cluster. Launch it again to have it whole.")
    if not solve.died:
        raise RunError(busy if solve.active else f"{cannot}it has ended, {solve.state}.")
    with changing(solve.path), without_worker(solve.path, busy):
        if (solve := find_solve(solve_id)).awaited:
            raise RunError(busy)
        forget_stop(solve.path)
        now = time.time()
        again = replace(solve.status, state="queued", pid=None, queued=now, updated=now)
        write_status(solve.path, again)
    return find_solve(solve_id)


def stop_solve(solve_id: str) -> bool:
    """Ask its worker to stop, which it does after the iteration; whether there was one to ask."""
    return request_stop(find_solve(solve_id))


def work_solve(solve_id: str, report: Report = lambda status: None) -> Solve:
    """Bring a queued regression to its end in this process; see `jobs.worker.do`.

    Args:
      solve_id: a regression in state `queued`.
      report: called with each new status.
    """
    solve = find_solve(solve_id)
    worker.do(
        solve, lambda status, stop: _solve(solve, status, stop, report), report,
        devices=solve.config.devices,
    )  # fmt: skip
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
