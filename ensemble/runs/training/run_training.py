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
    from ensemble.runs.training.session import TrainingSession


def train_run(
    run: Run, status: StatusWriter[Any], stop: Callable[[], bool], report: Callable[[Status], None]
) -> Outcome:
    """Train a run, or a group of one, from its last checkpoint; see `session.TrainingSession`."""
    prepare_jax()
    from ensemble.runs.training.run_recorder import TrainingTask
    from ensemble.runs.training.session import TrainingSession

    if (company := hosts.get_process_group()) is None:
        with TrainingSession([TrainingTask(run, status, stop, report)]) as session:
            return _train_single_run(session)
    from ensemble.runs.training.distributed import LeaderTrainer, announce_run

    announce_run(company, run, status)
    task = TrainingTask(run, status, lambda: stop() or company.stop_requested, report)
    with TrainingSession([task], LeaderTrainer) as session:
        return _train_single_run(session)


def _train_single_run(session: "TrainingSession") -> Outcome:
    """How the only run of a session ended."""
    (end,) = session.train_runs()
    return end.outcome
