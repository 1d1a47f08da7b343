"""A stretch of training by this process, and by the others of its program where it has some."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ensemble import hosts
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status
from ensemble.runs.store import Run

if TYPE_CHECKING:
    from ensemble.runs.training.session import TrainingSession


def train_run(
    run: Run,
    status: StatusWriter[Any],
    stop: Callable[[], bool],
    report: Callable[[Status], None],
    synchronous: bool = False,
) -> Outcome:
    """Train a run, or a group of one, from its last checkpoint; see `session.TrainingSession`.

    Args:
      run: the run, or a group of one.
      status: the hold on its status.json.
      stop: asked between compiled calls.
      report: called with each new status.
      synchronous: whether what is recorded is written before training goes on; always so where
        several processes are one program.
    """
    prepare_jax()
    from ensemble.runs.training.run_recorder import TrainingTask
    from ensemble.runs.training.session import TrainingSession
    from ensemble.runs.training.teacher_targets import prepare_teacher_targets

    if not prepare_teacher_targets(run, stop):
        return STOPPED_OUTCOME
    if (company := hosts.get_process_group()) is None:
        alone = TrainingTask(run, status, stop, report, in_background=not synchronous)
        with TrainingSession([alone]) as session:
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
