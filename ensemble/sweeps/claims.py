"""Who does which trial: claimed one at a time, taken up again where a worker was killed.

A trial has an owner, the process that does it, written down with it. Where that process is gone
the trial is another worker's to go on with: its run from its last checkpoint, or what that came
to where it had ended already. So it holds for every storage, with no time to wait and no clock;
but another host is left a minute to say what a run that has just finished came to.

A trial that is trained several times has a run for each training. The next is made once the one
before has finished: the latest is under way.

A trial whose run failed stays open: it is passed over until the sweep is queued again, and then is
tried again. Only where the sweep finishes all the same is it told to Optuna that it failed.
"""

import os
import socket
import time
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from ensemble import runs
from ensemble.access import owners
from ensemble.config import AnyTrainingConfig, RegressionConfig
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import LOCK_FILE, TRIAL_FILE
from ensemble.jobs.remote.takeover import compute_silence
from ensemble.jobs.status import SILENCE_SECONDS, is_process_alive, read_start_ticks
from ensemble.runs.numeric.numeric_launch import create_run_with_table, fit_config_to_folder
from ensemble.storage.atomic_files import write_json
from ensemble.storage.file_lock import is_locked
from ensemble.sweeps.objectives import read_objective_values
from ensemble.sweeps.store import Sweep
from ensemble.sweeps.study import (
    FAILED_SINCE_NOTE,
    MACHINE_FAULT_NOTE,
    RUNNING,
    WAITING,
    SweepStudy,
    has_trial_failed,
    list_trial_run_ids,
)

# A trial whose worker was killed so often is given up: it may be what kills them.
MAX_TRIAL_ATTEMPTS = 3


@dataclass(frozen=True)
class TrialClaim:
    """A trial that is this process's to do.

    Attributes:
      trial: as it was written down when it was claimed.
      run_id: its latest run, in state `queued`.
      fresh: whether it was asked for just now, so that nothing of it has been trained.
    """

    trial: FrozenTrial
    run_id: str
    fresh: bool = False


@dataclass(frozen=True)
class NoTrial:
    """There is no trial to do now.

    Attributes:
      all_ended: whether all have ended; else others are at the last ones.
    """

    all_ended: bool


def claim_trial(sweep: Sweep, archive: SweepStudy) -> TrialClaim | NoTrial:
    """The next trial for this process: one that was cut off, else a new one.

    Raises:
      RunError: a run's folder cannot be written, or the storage not be reached.
    """
    queued = sweep.status.queued
    with archive.lock_trials():
        for trial in archive.read_trials():
            left = trial.state == RUNNING and not has_trial_failed(trial, queued)
            left = left and not _has_readable_worker(trial)
            if left and (run_id := _take_over_trial(sweep, archive, trial)):
                return _write_claim(archive, trial, run_id)
        trials = archive.read_trials()
        begun = sum(listed_trial.state != WAITING for listed_trial in trials)
        while begun < sweep.config.trial_count:
            if claim := _claim_new_trial(sweep, archive):
                return claim
            begun, trials = begun + 1, archive.read_trials()
        return NoTrial(count_ended_trials(trials, queued) >= sweep.config.trial_count)


def count_ended_trials(trials: list[FrozenTrial], queued: float) -> int:
    """How many trials there is nothing to do for, until the sweep is queued again."""
    return sum(trial.state.is_finished() or has_trial_failed(trial, queued) for trial in trials)


def claim_more_trials(sweep: Sweep, archive: SweepStudy, most: int) -> list[TrialClaim]:
    """As many new trials for this process beside one that it has claimed, fewer at the end.

    They are asked for before any is told of: to a sampler that learns they are under way, as the
    trials of other workers are.

    Raises:
      RunError: as `claim_trial`.
    """
    trial_claims: list[TrialClaim] = []
    with archive.lock_trials():
        for _ in range(most):
            trials = archive.read_trials()
            if sum(trial.state != WAITING for trial in trials) >= sweep.config.trial_count:
                break
            if new := _claim_new_trial(sweep, archive):
                trial_claims.append(new)
    return trial_claims


def claim_next_repeat(sweep: Sweep, archive: SweepStudy, claimed: TrialClaim) -> TrialClaim | None:
    """The next training of a trial of this process, whose run has finished.

    None if another process took the trial over meanwhile, or no run can be made.

    Raises:
      RunError: as `claim_trial`.
    """
    with archive.lock_trials():
        trial = archive.read_trial(claimed.trial)
        is_own = trial.user_attrs.get("owner") == build_owner_record()
        latest = list_trial_run_ids(trial.user_attrs)[-1:]
        if trial.state != RUNNING or not is_own or latest != (claimed.run_id,):
            return None
        run_id = _create_trial_run(sweep, archive, trial)
        return TrialClaim(archive.read_trial(trial), run_id) if run_id else None


def needs_more_repeats(archive: SweepStudy, trial: FrozenTrial, run: runs.Run) -> bool:
    """Whether a trial is to be trained again: its latest run has finished, but it is not the last."""
    trained = len(list_trial_run_ids(trial.user_attrs))
    return run.state == "finished" and trained < archive.config.repeats


def release_trial(archive: SweepStudy, claimed: TrialClaim) -> None:
    archive.set_trial_attributes(claimed.trial, owner=None)


def record_trial_result(sweep: Sweep, archive: SweepStudy, trial: FrozenTrial, run: runs.Run, pruned: str = "") -> None:
    """Say what a trial came to whose run has ended; to be called within `SweepStudy.lock_trials`.

    Of several trainings that is the mean; where one did not finish, that is what the trial came to.
    A run that diverged counts as one that was pruned: Optuna's samplers know nothing of trials
    that failed, but hold one that was pruned for worse than any that was not. One whose run failed
    is tried again once the sweep is resumed.

    Args:
      sweep: whose.
      archive: the sweep's.
      trial: which.
      run: its latest, as it ended.
      pruned: why it was ended early; "" if it was not.
    """
    run_ids = list_trial_run_ids(archive.read_trial(trial).user_attrs)
    try:
        trained = [*map(runs.find_run, run_ids[:-1]), run]
    except UnknownRunError:
        _fail_trial(archive, trial, "Its run was deleted.")
        return
    except RunError as error:
        _set_trial_aside(sweep, archive, trial, str(error))
        return
    if run.state == "finished" and (values := _read_mean_values(trained, archive.config.objective_names)):
        archive.finish_trial(trial.number, TrialState.COMPLETE, values)
    elif pruned:
        archive.set_trial_attributes(trial, message=pruned)
        archive.finish_trial(trial.number, TrialState.PRUNED)
    elif run.state in ("diverged", "finished"):
        message = run.message or "The value of an objective is not a number."
        archive.set_trial_attributes(trial, failed=True, message=message)
        archive.finish_trial(trial.number, TrialState.PRUNED)
    elif run.state == "failed":
        lost = run.has_died or run.status.machine_fault
        _set_trial_aside(sweep, archive, trial, run.message or "Its run failed.", lost)
    else:
        _fail_trial(archive, trial, run.message or f"Its run is {run.state}.")


def fail_trials_for_good(sweep: Sweep, archive: SweepStudy) -> None:
    with archive.lock_trials():
        for trial in archive.read_trials():
            if has_trial_failed(trial, sweep.status.queued):
                archive.finish_trial(trial.number, TrialState.FAIL)


def build_owner_record() -> dict[str, Any]:
    pid = os.getpid()
    return {"host": socket.gethostname(), "pid": pid, "ticks": read_start_ticks(pid)}


def has_trial_worker(trial: FrozenTrial, run: runs.Run | None) -> bool:
    """Whether a process is at a trial that has not ended.

    Args:
      trial: as it is written down.
      run: its latest run; None if it has none yet.
    """
    owner = trial.user_attrs.get("owner")
    if not isinstance(owner, dict):
        # It was left, or whoever asked for it was killed by then: but for one who resumed its
        # run by hand nobody is at it.
        return run is not None and run.active and run.status.pid is not None
    if owner.get("host") != socket.gethostname():
        return run is not None and (run.active or _has_just_finished(run))
    # The owner may also be a process of another container of this name.
    held = run is not None and bool(is_locked(run.path / LOCK_FILE))
    return held or is_process_alive(int(owner["pid"]), owner.get("ticks"))


def _has_just_finished(run: runs.Run) -> bool:
    return run.state == "finished" and abs(time.time() - run.status.updated) < SILENCE_SECONDS


def _is_heard_of(trial: FrozenTrial, run: runs.Run | None) -> bool:
    """Whether another host's run was written just now, by the disk's clock: theirs may differ."""
    owner = trial.user_attrs.get("owner")
    if run is None or not isinstance(owner, dict) or owner.get("host") == socket.gethostname():
        return False
    if run.status.state not in (*run.kind.active_states, "finished"):
        return False
    return compute_silence(run) < SILENCE_SECONDS


def read_trial_run(trial: FrozenTrial) -> runs.Run | None:
    """The latest run of a trial; None if it has none, or that was deleted."""
    run_ids = list_trial_run_ids(trial.user_attrs)
    try:
        return runs.find_run(run_ids[-1]) if run_ids else None
    except UnknownRunError:
        return None


def _claim_new_trial(sweep: Sweep, archive: SweepStudy) -> TrialClaim | None:
    """A new trial, claimed; None if its settings do not fit together."""
    trial = archive.read_trial(archive.ask_trial())
    run_id = _create_trial_run(sweep, archive, trial)
    return _write_claim(archive, trial, run_id, fresh=True) if run_id else None


def _has_readable_worker(trial: FrozenTrial) -> bool:
    try:
        run = read_trial_run(trial)
        return has_trial_worker(trial, run) or _is_heard_of(trial, run)
    except RunError:
        # Its folder cannot be read: whoever is at it still sees to that, else it ends here.
        return has_trial_worker(trial, None)


def _take_over_trial(sweep: Sweep, archive: SweepStudy, trial: FrozenTrial) -> str:
    """The run of a trial that nobody is at, ready to go on; "" if it has ended by that."""
    if "run" not in trial.user_attrs:
        # Whoever asked for it was killed before its run was known: it may be there nevertheless.
        archive.suggest_params(archive.open_trial(trial))
        trial = archive.read_trial(trial)
        return _adopt_trial_run(sweep, archive, trial) or _create_trial_run(sweep, archive, trial)
    try:
        run = read_trial_run(trial)
    except RunError as error:
        return _set_trial_aside(sweep, archive, trial, str(error))
    if run is None:
        return _fail_trial(archive, trial, "Its run was deleted.")
    repeat_missing = needs_more_repeats(archive, trial, run)
    failed_before = trial.user_attrs.get(FAILED_SINCE_NOTE) is not None
    # A full disk may have kept its worker from saying that it failed.
    tries_again = failed_before or (run.state == "failed" and run.status.updated < sweep.status.queued)
    ended_states = ("finished", "diverged") if tries_again else ("finished", "diverged", "failed")
    if not (run.has_died or repeat_missing) and run.state in ended_states:
        record_trial_result(sweep, archive, trial, run)
        return ""
    # Between two trainings no run says that it was stopped: a trial that was left has no owner.
    left = trial.user_attrs.get("owner") is None if repeat_missing else run.state == "stopped"
    attempts = 1 if failed_before else int(trial.user_attrs.get("attempts", 1)) + (not left)
    if attempts > MAX_TRIAL_ATTEMPTS:
        message = f"Its worker was killed {MAX_TRIAL_ATTEMPTS} times: see the log of its run."
        return _set_trial_aside(sweep, archive, trial, message)
    archive.set_trial_attributes(trial, attempts=attempts, **{FAILED_SINCE_NOTE: None})
    if repeat_missing:
        return _adopt_trial_run(sweep, archive, trial) or _create_trial_run(sweep, archive, trial)
    if run.status.state != "queued":
        try:
            runs.requeue_run(run.id)
        except RunError as error:
            return _set_trial_aside(sweep, archive, trial, str(error))
    return run.id


def _create_trial_run(sweep: Sweep, archive: SweepStudy, trial: FrozenTrial) -> str:
    """The trial's next run, its tag the sweep's id; "" if its settings do not fit together."""
    try:
        config = _build_next_config(sweep, trial)
    except ConfigError as error:
        return _fail_trial(archive, trial, str(error))
    if isinstance(config, RegressionConfig):
        run = create_run_with_table(config, sweep.path, tags=(sweep.id,))
    else:
        run = runs.create_run(config, tags=(sweep.id,))
    return _link_trial_run(sweep, archive, trial, run)


def _adopt_trial_run(sweep: Sweep, archive: SweepStudy, trial: FrozenTrial) -> str:
    recorded_ids = {
        run_id for listed_trial in archive.read_trials() for run_id in list_trial_run_ids(listed_trial.user_attrs)
    }
    try:
        config = _build_next_config(sweep, trial)
    except ConfigError:
        return ""
    for run in runs.list_runs():
        made_for_it = sweep.id in run.tags and run.config == config and run.status.pid is None
        if made_for_it and run.id not in recorded_ids:
            return _link_trial_run(sweep, archive, trial, run)
    return ""


def _build_next_config(sweep: Sweep, trial: FrozenTrial) -> AnyTrainingConfig:
    repeat = len(list_trial_run_ids(trial.user_attrs))
    config = sweep.config.build_trial_config(trial.params, repeat)
    return fit_config_to_folder(config, sweep.path) if isinstance(config, RegressionConfig) else config


def _link_trial_run(sweep: Sweep, archive: SweepStudy, trial: FrozenTrial, run: runs.Run) -> str:
    with change_job_files(run.path):
        owners.copy_owner(sweep.path, run.path)
        write_json(run.path / TRIAL_FILE, {"sweep": sweep.id, "number": trial.number})
    if earlier := list_trial_run_ids(trial.user_attrs):
        archive.set_trial_attributes(trial, repeats=[*earlier[1:], run.id])
    else:
        archive.set_trial_attributes(trial, run=run.id)
    return run.id


def _read_mean_values(trained: list[runs.Run], goals: tuple[str, ...]) -> tuple[float, ...] | None:
    """The means of finished runs' values, one an objective; None if one is not a number."""
    each = [read_objective_values(run, goals) for run in trained]
    known = [values for values in each if values is not None]
    return tuple(map(fmean, zip(*known, strict=True))) if len(known) == len(each) else None


def _write_claim(archive: SweepStudy, trial: FrozenTrial, run_id: str, fresh: bool = False) -> TrialClaim:
    archive.set_trial_attributes(trial, owner=build_owner_record())
    return TrialClaim(archive.read_trial(trial), run_id, fresh)


def _set_trial_aside(
    sweep: Sweep, archive: SweepStudy, trial: FrozenTrial, message: str, machine_fault: bool = True
) -> str:
    """Pass over a trial that failed until the sweep is resumed; it has no run to go on with: "".

    Args:
      sweep: whose.
      archive: the sweep's.
      trial: which.
      message: why it failed.
      machine_fault: as of a `JobStatus`.
    """
    notes = {MACHINE_FAULT_NOTE: machine_fault, FAILED_SINCE_NOTE: sweep.status.queued}
    archive.set_trial_attributes(trial, message=message, owner=None, **notes)
    return ""


def _fail_trial(archive: SweepStudy, trial: FrozenTrial, message: str) -> str:
    """Say that a trial failed, and why; it has no run to go on with: ""."""
    archive.set_trial_attributes(trial, message=message)
    archive.finish_trial(trial.number, TrialState.FAIL)
    return ""
