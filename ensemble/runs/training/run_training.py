"""Train a run, or one group of a run, in this process."""

from collections.abc import Callable
from typing import Any

from ensemble.config import CLASSIFICATION
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.status import Status
from ensemble.runs.store import Run


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
      synchronous: whether records are written before training continues.
    """
    prepare_jax()
    from ensemble.runs.training.run_recorder import TrainingTask
    from ensemble.runs.training.session import TrainingSession
    from ensemble.runs.training.teacher_targets import prepare_teacher_targets

    if run.task == CLASSIFICATION and not prepare_teacher_targets(run, stop):
        return STOPPED_OUTCOME
    task = TrainingTask(run, status, stop, report, in_background=not synchronous)
    with TrainingSession([task]) as session:
        (end,) = session.train_runs()
        return end.outcome
