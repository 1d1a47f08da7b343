"""A regression's worker: started, watched and stopped like training, by files."""

import time
from collections.abc import Callable

from ensemble.errors import RunError
from ensemble.jobs.launch import STOP_FILE, start_process
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import Place, hold
from ensemble.jobs.status import Writer
from ensemble.jobs.worker import bugs_written_down, in_turn, outcome_of
from ensemble.machine.jax_settings import cpu_cores
from ensemble.regression.cpu_devices import prepare_for_collectives
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import SolveStatus
from ensemble.regression.store import Solve, create_solve, find_solve

Report = Callable[[SolveStatus], None]
MOST_CPU_DEVICES = 8


def launch_solve(config: LbfgsConfig) -> Solve:
    """Make a regression and start its worker, which waits its turn."""
    solve = create_solve(config)
    start_process(solve.path / "log.txt", "work-lbfgs", solve.id)
    return solve


def stop_solve(solve_id: str) -> None:
    """Ask its worker to stop; it does after the iteration.

    Raises:
      RunError: it is not active.
    """
    solve = find_solve(solve_id)
    if not solve.active:
        raise RunError(f"The run “{solve_id}” is {solve.state}: there is nothing to stop.")
    (solve.path / STOP_FILE).touch()


def work_solve(solve_id: str, report: Report = lambda status: None) -> Solve:
    """Bring a queued regression to its end in this process.

    Args:
      solve_id: a regression in state `queued`.
      report: called with each new status.
    """
    solve = find_solve(solve_id)
    stop = StopRequest(solve.path / STOP_FILE)
    hand = hold(solve.path, f"The run “{solve.id}”")
    with stop, hand, Writer(solve.path, solve.status) as status:
        with bugs_written_down(status, "the regression", "what was measured so far is kept"):
            outcome = outcome_of(
                lambda: in_turn(
                    Place.to_solve(solve), status, stop, report,
                    lambda: _solve(solve, status, stop, report),
                ),
                "launch it again",
            )  # fmt: skip
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return find_solve(solve_id)


def _solve(solve: Solve, status: Writer[SolveStatus], stop: StopRequest, report: Report) -> Outcome:
    status.update(started=time.time())
    most = max(solve.config.devices or cpu_cores(), MOST_CPU_DEVICES)
    own_pool = prepare_for_collectives(most)
    from ensemble.regression.job import Job

    return Job(solve, status, stop, report, own_pool).work()
