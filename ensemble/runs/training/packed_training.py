"""Several runs trained side by side in one program, by this process: the worker of each of them.

They differ in numbers of their members alone (learning rate, momentum, weight decay). Data and seed
are the same, so member 1 of one begins as member 1 of the next and sees the same batches. Each has
its ordinary folder, lock, heartbeat and checkpoints, and ends by itself: one that diverges or is
stopped is trained no more while the others go on. What a run comes to is what it comes to alone: to
the same bits where two of its members or more are on each device both times and both are moved by
one rule (weight decay of 0 beside others is compiled in), else to float tolerance. One that was cut
off is resumed alone, by an ordinary worker from its own checkpoint; the same holds there.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ensemble.config import EnsembleConfig, member_values
from ensemble.errors import EnsembleError, RunError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, record_unexpected_error, run_to_outcome
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import prepare_jax
from ensemble.machine.memory_errors import is_memory_error
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.store import Run, find_run, require_training_config


def train_packed_runs(
    run_ids: Sequence[str],
    reports: Sequence[ReportStatus],
    stops: Sequence[Callable[[], bool]],
    ended: Callable[[Run], None] = lambda run: None,
) -> list[Run | None]:
    """Bring queued runs to their ends in this process, which has its turn on this machine.

    Whatever goes wrong is written into the runs' status; a bug is raised as well, after that.

    Args:
      run_ids: runs in state `queued` without checkpoints that can share a program; see
        `can_share_program`.
      reports: of each, called with each new status.
      stops: of each, asked whether to stop it.
      ended: told of each run as it ends, while others may go on.

    Returns:
      The runs as they ended; None for one that another process was at, or that was deleted.
    """
    with ExitStack() as every:
        parts = list(_claim_packed_runs(every, run_ids, reports, stops))
        _check_packable([packed_run.run for packed_run in parts])
        try:
            if parts:
                _train_in_one_program(parts, ended)
        except (EnsembleError, OSError, MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not is_memory_error(error):
                raise
            for part in parts:
                part.end_run(partial(_raise_error, error), ended)
    held = {packed_run.run.id for packed_run in parts}
    return [find_run(run_id) if run_id in held else None for run_id in run_ids]


def can_share_program(configs: Sequence[EnsembleConfig]) -> bool:
    """Whether runs of these settings may be trained in one program, as far as they say.

    They are trained in one process, and are equal but for what may differ by member.
    """
    whole = all(config.groups == 1 for config in configs)
    return whole and len({_strip_member_settings(config) for config in configs}) <= 1


class _PackedRun:
    """One of the runs, whose worker this process is until it has ended.

    Args:
      run: in state `queued`.
      report: called with each new status.
      stop: asked whether to stop it.

    Raises:
      RunError: another process is working on it, or it was deleted.
    """

    def __init__(self, run: Run, report: ReportStatus, stop: Callable[[], bool]) -> None:
        self.run, self.report, self.stop = run, report, stop
        self.hold = ExitStack()
        self.status = self.hold.enter_context(worker.hold_job(run))
        # Within the hold: what was not expected is written down before that ends.
        self.hold.enter_context(record_unexpected_error(run, self.status))
        self._ended = False

    def mark_started(self) -> None:
        """Say that its work begins."""
        self.status.update(state="starting", message="", started=time.time())
        self.report(self.status.status)

    def end_run(self, come_to: Callable[[], Outcome], ended: Callable[[Run], None]) -> None:
        """Write down how it ended, unless that has been, and let go of it."""
        if not self._ended:
            self._ended = True
            worker.write_job_end(self.status, run_to_outcome(self.run, come_to), self.report)
            self.hold.close()
            ended(find_run(self.run.id))


def _claim_packed_runs(
    every: ExitStack, run_ids: Sequence[str], reports: Sequence[ReportStatus], stops: Sequence[Callable[[], bool]]
) -> Iterator[_PackedRun]:
    """Those that nobody else is at, each let go of when `every` ends, however it does."""
    for run_id, report, stop in zip(run_ids, reports, stops, strict=True):
        try:
            part = _PackedRun(find_run(run_id), report, stop)
        except RunError:
            continue
        every.push(part.hold)
        yield part


def _check_packable(runs: Sequence[Run]) -> None:
    if not can_share_program([require_training_config(run) for run in runs]):
        raise ValueError("These runs differ in more than their members' numeric settings.")
    if begun := [run.id for run in runs if list_checkpoint_ticks(run.path)]:
        raise ValueError(f"{begun[0]} has a checkpoint: it continues alone.")


def _train_in_one_program(parts: list[_PackedRun], ended: Callable[[Run], None]) -> None:
    prepare_jax()
    from ensemble.runs.training.run_recorder import TrainingTask
    from ensemble.runs.training.session import TrainingSession
    from ensemble.runs.training.teacher_targets import prepare_teacher_targets

    for part in parts:
        part.mark_started()
        prepare_teacher_targets(part.run)
    tasks = [
        TrainingTask(packed_run.run, packed_run.status, packed_run.stop, packed_run.report) for packed_run in parts
    ]
    with TrainingSession(tasks) as session:
        for end in session.train_runs():
            parts[end.place].end_run(partial(_return_outcome, end.outcome), ended)


def _strip_member_settings(config: EnsembleConfig) -> EnsembleConfig:
    defaults = {name: getattr(EnsembleConfig, name) for name in member_values.VARIABLE_SETTINGS}
    return replace(config, vary="", **defaults)


def _return_outcome(outcome: Outcome) -> Outcome:
    return outcome


def _raise_error(error: Exception) -> Outcome:
    raise error
