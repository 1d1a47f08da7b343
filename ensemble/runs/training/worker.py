"""A run's worker: waits its turn, trains, and writes down how it ended."""

import contextlib
import time

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import Report
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status
from ensemble.runs.store import Run, find, trained_here


def work(run_id: str, report: Report = lambda status: None, stop: StopRequest | None = None) -> Run:
    """Bring a queued run to its end in this process; see `jobs.worker.do`.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well.
    """
    run = find(run_id)
    train = _coordinate if run.in_groups else _train
    worker.do(
        run, lambda status, stop: train(run, status, stop, report), report, stop,
        trained_here(run).devices,
    )  # fmt: skip
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
    from ensemble.runs.groups.places import tasks_for

    return Coordinator(run, status, stop, report, tasks_for(run)).follow()


def _train(run: Run, status: StatusWriter[Status], stop: StopRequest, report: Report) -> Outcome:
    status.update(started=time.time())
    prepare_jax()
    from ensemble.runs.training.session import Session

    with Session(run, status, stop, report) as session:
        return session.train()
