"""A stretch of training by this process, and by the others of its program where it has some."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ensemble import hosts
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status
from ensemble.runs.store import Run

if TYPE_CHECKING:
    from ensemble.runs.training.session import Session


def train(
    run: Run, status: StatusWriter[Any], stop: Callable[[], bool], report: Callable[[Status], None]
) -> Outcome:
    """Train a run, or a group of one, from its last checkpoint; see `session.Session`."""
    prepare_jax()
    from ensemble.runs.training.record import Task
    from ensemble.runs.training.session import Session

    if (company := hosts.current()) is None:
        with Session([Task(run, status, stop, report)]) as session:
            return _only(session)
    from ensemble.runs.training.distributed import LedTrainer, lead

    lead(company, run, status)
    task = Task(run, status, lambda: stop() or company.asked_to_stop, report)
    with Session([task], LedTrainer) as session:
        return _only(session)


def _only(session: "Session") -> Outcome:
    """How the only run of a session ended."""
    (end,) = session.train()
    return end.outcome
