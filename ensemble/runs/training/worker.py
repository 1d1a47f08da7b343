"""A run's worker: waits its turn, trains, and writes down how it ended."""

import contextlib
import time

from ensemble import datasets, hosts
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import Report
from ensemble.runs.status import Status
from ensemble.runs.store import Run, find, trained_here
from ensemble.runs.training.stretch import train


def work(
    run_id: str,
    report: Report = lambda status: None,
    stop: StopRequest | None = None,
    turn: bool = True,
) -> Run:
    """Bring a queued run to its end in this process; see `jobs.worker.do`.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well.
      turn: whether it takes turns with others on this machine; not where the caller has a turn.
    """
    if hosts.asked() and hosts.current() is None:
        with hosts.joined() as company:
            if company:
                # Its modules start JAX, which is told of the others by now.
                from ensemble.runs.training.distributed import take_part

                take_part(company, lambda: _work(run_id, report, stop, turn))
                return find(run_id)
    return _work(run_id, report, stop, turn)


def _work(run_id: str, report: Report, stop: StopRequest | None, turn: bool) -> Run:
    run = find(run_id)
    begin = _coordinate if run.in_groups and not hosts.current() else _train
    worker.do(
        run,
        lambda status, stop: begin(run, status, stop, report),
        report,
        stop,
        trained_here(run).devices,
        turn=turn and hosts.current() is None,
    )
    return find(run_id)


def compile_for(settings: dict[str, object]) -> None:
    """Make ready what a run with these settings compiles; this process then keeps the programs."""
    from ensemble.engine import Trainer

    likely = EnsembleConfig.from_disk(settings)
    # What is amiss with the settings or the dataset is said to the run that comes to have them.
    with contextlib.suppress(EnsembleError):
        Trainer(likely, datasets.load(likely.dataset)).start()


def _coordinate(
    run: Run, status: StatusWriter[Status], stop: StopRequest, report: Report
) -> Outcome:
    from ensemble.runs.groups.coordinator import Coordinator
    from ensemble.runs.groups.external import ExternalTasks, Follower
    from ensemble.runs.groups.places import tasks_for

    tasks = tasks_for(run)
    follows = Follower if isinstance(tasks, ExternalTasks) else Coordinator
    return follows(run, status, stop, report, tasks).follow()


def _train(run: Run, status: StatusWriter[Status], stop: StopRequest, report: Report) -> Outcome:
    status.update(started=time.time())
    return train(run, status, stop, report)
