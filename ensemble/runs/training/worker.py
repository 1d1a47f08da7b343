"""A run's worker: waits in the queue, trains, and writes down how it ended."""

import contextlib
import os
import time
from functools import partial

import numpy as np

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.runs.status import Status
from ensemble.runs.store import Run, find_run, require_run_settings
from ensemble.runs.training.run_training import train_run


def execute_run(
    run_id: str,
    report: ReportStatus = lambda status: None,
    stop: StopRequest | None = None,
    turn: bool = True,
    synchronous: bool = False,
) -> Run:
    """Bring a queued run to its end in this process; see `jobs.worker.execute_job`.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well.
      turn: whether it takes turns with others on this machine; not where the caller has a turn.
      synchronous: whether what is recorded is written, and reported, before training goes on: for
        whoever stops it by what is reported. Else a thread writes it, and training waits for no
        slow disk.
    """
    run = find_run(run_id)
    begin = _coordinate_groups if run.in_groups else partial(_start_run_training, synchronous=synchronous)
    worker.execute_job(
        run,
        lambda status, stop: begin(run, status, stop, report),
        report,
        stop,
        require_run_settings(run).devices,
        turn=turn,
    )
    return find_run(run_id)


def compile_likely_run(settings: dict[str, object]) -> None:
    """Make ready what a run with these settings compiles; this process then keeps the programs."""
    from ensemble.engine import Trainer

    likely = EnsembleConfig.from_disk(settings)
    # What is amiss with the settings or the dataset is said to the run that comes to have them.
    with contextlib.suppress(EnsembleError):
        likely_dataset = datasets.load_dataset(likely.dataset)
        shape = len(likely_dataset.train_images), len(likely_dataset.class_names)
        targets = np.full(shape, 1 / shape[1], np.float32) if likely.has_soft_targets else None
        Trainer(likely, likely_dataset, targets=targets).start()


def _coordinate_groups(run: Run, status: StatusWriter[Status], stop: StopRequest, report: ReportStatus) -> Outcome:
    from ensemble.jobs.remote.worker_variables import PARENT_VARIABLE
    from ensemble.runs.groups.coordinator import GroupCoordinator
    from ensemble.runs.groups.external_tasks import ArrayCoordinator, ExternalTasks, TaskCoordinator
    from ensemble.runs.groups.task_placement import create_group_tasks

    tasks = create_group_tasks(run)
    if isinstance(tasks, ExternalTasks):
        follows: type[GroupCoordinator] = ArrayCoordinator
    else:
        follows = TaskCoordinator if os.environ.get(PARENT_VARIABLE) else GroupCoordinator
    return follows(run, status, stop, report, tasks).follow_groups()


def _start_run_training(
    run: Run, status: StatusWriter[Status], stop: StopRequest, report: ReportStatus, synchronous: bool = False
) -> Outcome:
    status.update(started=time.time())
    return train_run(run, status, stop, report, synchronous)
