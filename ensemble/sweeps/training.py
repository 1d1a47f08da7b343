"""Trials: their runs trained here, alone or several at once; their epochs told to the pruner."""

import dataclasses
import math
import traceback
from collections.abc import Callable
from itertools import takewhile

from ensemble import runs
from ensemble.config import EnsembleConfig, member_values
from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.queue import exclude_worker
from ensemble.jobs.remote.takeover import LEASE_FILE, TaskLease
from ensemble.jobs.status import write_status
from ensemble.machine.packed_lanes import count_packed_lanes
from ensemble.runs.history import iterate_history_from_end
from ensemble.runs.training import packed_training
from ensemble.storage.plain_files import open_plain_append
from ensemble.sweeps.claims import (
    TrialClaim,
    claim_more_trials,
    claim_next_repeat,
    needs_more_repeats,
    record_trial_result,
    release_trial,
)
from ensemble.sweeps.objectives import read_epoch_value
from ensemble.sweeps.patient_storage import print_storage_failure
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.store import Sweep, find_sweep
from ensemble.sweeps.study import WAITING, SweepStudy, list_trial_run_ids

# Trials at once, where the next are chosen, or ended early, by what others came to.
_MAX_ADAPTIVE_PACK_SIZE = 4


class _TrialStopRequest(StopRequest):
    """Whether to stop a trial's run: as any run is, or with the sweep, or by the pruner.

    Args:
      run: the trial's.
      outer: whether the sweep is to stop.

    Attributes:
      sweep_stop: as given.
      prune_reason: why the pruner ends it; "" if it does not.
    """

    def __init__(self, run: runs.Run, outer: Callable[[], bool]) -> None:
        super().__init__(run.path / STOP_FILE)
        self.sweep_stop = outer
        self.prune_reason = ""

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return bool(self.prune_reason) or self.sweep_stop() or super().__call__()


class _TrialWatcher:
    """Tells the pruner of every epoch of a trial, and has its run stop where that says so.

    Of a trial that is trained several times the first training alone is told of: another's epochs
    would stand in its place.

    Args:
      archive: the sweep's.
      claimed: the trial.
      stop: of its run.
    """

    def __init__(self, archive: SweepStudy, claimed: TrialClaim, stop: _TrialStopRequest) -> None:
        self._trial, self._patience = archive.open_trial(claimed.trial), archive.patience
        self._told = set(claimed.trial.intermediate_values)
        self._run_id, self._stop = claimed.run_id, stop
        folder = runs.find_run(claimed.run_id).path
        self._lease = TaskLease(folder / LEASE_FILE, f"The trial’s run “{claimed.run_id}”")
        self._goals = archive.config.objective_names
        self._is_first = claimed.run_id in list_trial_run_ids(claimed.trial.user_attrs)[:1]
        self._prunes = archive.config.pruner != "none"

    def observe_status(self, status: runs.Status) -> None:
        """Note a new status of the run."""
        self._lease.exit_if_taken_over()
        is_reported = status.epoch in self._told or not status.epoch
        if is_reported or not self._is_first or len(self._goals) > 1 or self._goals == ("seconds",):
            return
        try:
            with self._patience.suspend():
                self._report_epochs(status.epoch)
        except Exception as error:
            # A storage that does not answer for a moment is no reason to end the training: what
            # was not told is told after the next epoch.
            print_storage_failure(f"An epoch of “{self._run_id}” is told to the trials later", error)

    def _report_epochs(self, epoch: int) -> None:
        run = runs.find_run(self._run_id)
        epochs = (line for line in iterate_history_from_end(run.id) if line["kind"] == "epoch")
        unreported = list(takewhile(lambda line: line["epoch"] not in self._told, epochs))
        for line in reversed(unreported):
            value = read_epoch_value(run, line, self._goals[0])
            if math.isfinite(value):
                self._trial.report(value, line["epoch"])
            self._told.add(line["epoch"])
        last = epoch >= run.config.epochs
        if self._prunes and not last and self._trial.should_prune():
            self._stop.prune_reason = (
                f"Pruned after epoch {epoch} of {run.config.epochs}: other trials of the sweep "
                "were better at that epoch."
            )


def train_claimed_trials(sweep: Sweep, archive: SweepStudy, claimed: TrialClaim, outer: StopRequest) -> list[runs.Run]:
    """Bring a claimed trial to its end, with more beside it in one program where that is faster.

    This is where that is decided, for each new trial, by what the sweep (`compute_pack_size`) and
    the machine (`machine.packed_lanes`) are; nobody is asked. One that was cut off goes on alone.

    Returns:
      The runs that ended, of those that no other process was at.
    """
    more: list[TrialClaim] = []
    if claimed.fresh:
        config = find_sweep(sweep.id).config
        begun = sum(trial.state != WAITING for trial in archive.read_trials()) - 1
        more = claim_more_trials(sweep, archive, _count_packed_trials(config, begun) - 1)
    if more:
        return _train_packed_trials(sweep, archive, [claimed, *more], outer)
    run = _train_trial(sweep, archive, claimed, outer)
    return [run] if run else []


def _count_packed_trials(config: SweepConfig, begun: int) -> int:
    """How many trials this process takes at once; those on tables are trained one by one."""
    base = config.base
    return compute_pack_size(config, begun, count_packed_lanes(base)) if isinstance(base, EnsembleConfig) else 1


def compute_pack_size(config: SweepConfig, begun: int, lanes: int) -> int:
    """How many trials a worker takes at once: 1 where they are not packed.

    Few where a sampler or a pruner learns from trials that have ended: those of a pack know nothing
    of each other. Other workers are left their share.

    Args:
      config: the sweep's.
      begun: how many trials of it have begun.
      lanes: how many members may be trained in one program, faster than one trial after another.
    """
    members = config.base.members
    if not _can_pack_trials(config) or lanes < 2 * members:
        return 1
    most = lanes // members
    if config.sampler == "tpe" or config.pruner != "none":
        most = min(most, _MAX_ADAPTIVE_PACK_SIZE)
    left = max(1, config.trial_count - begun)
    # Packs of one size: each size is compiled.
    share = math.ceil(left / config.workers)
    return math.ceil(share / math.ceil(share / most))


def _can_pack_trials(config: SweepConfig) -> bool:
    """Whether trials differ in nothing but numbers of their members, and seconds are no matter.

    Trials that are trained several times are not packed.
    """
    alike = set(config.search_axes) <= set(member_values.VARIABLE_SETTINGS)
    single = config.base.groups == config.repeats == 1
    return alike and single and "seconds" not in config.objective_names


def _train_trial(sweep: Sweep, archive: SweepStudy, claimed: TrialClaim, outer: StopRequest) -> runs.Run | None:
    """Bring a claimed trial to its end, training after training, and say what it came to.

    Args:
      sweep: whose.
      archive: the sweep's.
      claimed: the trial; it is released where the sweep is to stop before it has ended.
      outer: whether the sweep is to stop; is told of a signal that came meanwhile.

    Returns:
      Its latest run as it ended; None if another process was at it.
    """
    next_claim: TrialClaim | None = claimed
    while next_claim:
        claimed = next_claim
        if (ended := _train_claimed_run(archive, claimed, outer)) is None:
            return None
        run, stop = ended
        if not needs_more_repeats(archive, claimed.trial, run):
            return _record_ended_trial(sweep, archive, claimed, run, stop)
        if outer():
            release_trial(archive, claimed)
            return run
        next_claim = claim_next_repeat(sweep, archive, claimed)
    return None


def _train_claimed_run(
    archive: SweepStudy, claimed: TrialClaim, outer: StopRequest
) -> tuple[runs.Run, _TrialStopRequest] | None:
    """The run of a claim as it ended, and what asked it to stop; None if another was at it."""
    stop = _TrialStopRequest(runs.find_run(claimed.run_id), outer)
    watch = _TrialWatcher(archive, claimed, stop)
    try:
        run = runs.execute_run(claimed.run_id, watch.observe_status, stop, turn=False, synchronous=True)
    except RunError:
        return None  # Another process has it, or it was deleted: the next claim sees which.
    except Exception:
        # One trial's bug or lack of memory is no end of the others; its status says it.
        _log_exception(claimed.run_id)
        run = runs.find_run(claimed.run_id)
    outer.signalled = outer.signalled or stop.signalled
    return run, stop


def _train_packed_trials(
    sweep: Sweep, archive: SweepStudy, claimed: list[TrialClaim], outer: StopRequest
) -> list[runs.Run]:
    """Bring claimed trials to their ends side by side in one program; each is told of as it ends.

    Those that failed are tried again, each alone: what all of them need may have been too much. Not
    those that a full disk ended, or the like: they wait until the sweep is resumed.

    Args:
      sweep: whose.
      archive: the sweep's.
      claimed: new trials, whose runs differ in numbers of their members alone.
      outer: as of `_train_trial`.

    Returns:
      The runs as they ended, of those that no other process was at.
    """
    every = {trial_claim.run_id: trial_claim for trial_claim in claimed}
    stops = {run_id: _TrialStopRequest(runs.find_run(run_id), outer) for run_id in every}
    watches = [_TrialWatcher(archive, trial_claim, stops[trial_claim.run_id]) for trial_claim in claimed]
    ended_runs: dict[str, runs.Run] = {}

    def record_ended_run(run: runs.Run) -> None:
        if run.state == "failed":
            return
        try:
            ended_runs[run.id] = _record_ended_trial(sweep, archive, every[run.id], run, stops[run.id])
        except Exception as error:
            # A storage that does not answer now is asked again once all have ended.
            print_storage_failure(f"The result of “{run.id}” is told to the trials later", error)

    try:
        packed_training.train_packed_runs(
            list(every), [watch.observe_status for watch in watches], list(stops.values()), record_ended_run
        )
    except Exception:
        for run_id in every:
            _log_exception(run_id)
    for run_id, claim in every.items():
        if run_id not in ended_runs and (run := _finish_unrecorded_trial(sweep, archive, claim, stops[run_id], outer)):
            ended_runs[run_id] = run
    return list(ended_runs.values())


def _finish_unrecorded_trial(
    sweep: Sweep, archive: SweepStudy, claimed: TrialClaim, stop: _TrialStopRequest, outer: StopRequest
) -> runs.Run | None:
    """What a trial came to that was not told of; None if another process is working on it."""
    try:
        run = runs.find_run(claimed.run_id)
        if run.state == "failed" and not run.status.machine_fault:
            runs.requeue_run(run.id)
            return _train_trial(sweep, archive, claimed, outer)
    except RunError:
        return None
    return None if run.active else _record_ended_trial(sweep, archive, claimed, run, stop)


def _record_ended_trial(
    sweep: Sweep, archive: SweepStudy, claimed: TrialClaim, run: runs.Run, stop: _TrialStopRequest
) -> runs.Run:
    """Say what a trial came to whose run has ended; one that the sweep's stop ended is left."""
    if run.state == "stopped" and not stop.prune_reason and stop.sweep_stop():
        release_trial(archive, claimed)
        return run
    if run.state == "stopped" and stop.prune_reason:
        _write_stop_message(run, stop.prune_reason)
    by_hand = "Its run was stopped manually." if run.state == "stopped" else ""
    with archive.lock_trials():
        reason = stop.prune_reason or by_hand
        record_trial_result(find_sweep(sweep.id), archive, claimed.trial, run, reason)
    return run


def _write_stop_message(run: runs.Run, message: str) -> None:
    with change_job_files(run.path), exclude_worker(run.path, f"“{run.id}” has a worker."):
        now = runs.find_run(run.id).status
        if now.state == "stopped":
            write_status(run.path, dataclasses.replace(now, message=message))


def _log_exception(run_id: str) -> None:
    traceback.print_exc()
    with open_plain_append(runs.find_run(run_id).path / "log.txt") as file:
        file.write(traceback.format_exc().encode(errors="backslashreplace"))
