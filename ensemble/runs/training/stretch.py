"""A stretch of training by this process, and by the others of its program where it has some."""

from collections.abc import Callable
from typing import Any

from ensemble import hosts
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status
from ensemble.runs.store import Run


def train(
    run: Run, status: StatusWriter[Any], stop: Callable[[], bool], report: Callable[[Status], None]
) -> Outcome:
    """Train a run, or a group of one, from its last checkpoint; see `session.Session`."""
    prepare_jax()
    from ensemble.runs.training.session import Session

    if (company := hosts.current()) is None:
        with Session(run, status, stop, report) as session:
            return session.train()
    from ensemble.runs.training.distributed import LedTrainer, lead

    lead(company, run, status)
    with Session(
        run, status, lambda: stop() or company.asked_to_stop, report, LedTrainer
    ) as session:
        return session.train()
