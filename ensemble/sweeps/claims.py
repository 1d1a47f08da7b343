"""Who does which trial: claimed one at a time, taken up again where a worker was killed.

A trial has an owner, the process that does it, written down with it. Where that process is gone
the trial is another worker's to go on with: its run from its last checkpoint, or what that came
to where it had ended already. So it holds for every storage, with no time to wait and no clock.
"""

import os
import socket
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from ensemble import runs
from ensemble.access import owners
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.folders import changing
from ensemble.jobs.job import LOCK_FILE, TRIAL_FILE
from ensemble.jobs.status import process_lives, start_ticks
from ensemble.storage.atomic import write_json
from ensemble.storage.lock import is_held
from ensemble.sweeps.archive import RUNNING, WAITING, Archive
from ensemble.sweeps.objectives import values_of
from ensemble.sweeps.store import Sweep

# A trial whose worker was killed so often is given up: it may be what kills them.
MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Claim:
    """A trial that is this process's to do.

    Attributes:
      trial: as it was written down when it was claimed.
      run_id: its run, in state `queued`.
      fresh: whether it was asked for just now, so that nothing of it has been trained.
    """

    trial: FrozenTrial
    run_id: str
    fresh: bool = False


@dataclass(frozen=True)
class Nothing:
    """There is no trial to do now.

    Attributes:
      over: whether all have ended; else others are at the last ones.
      done: how many have ended.
    """

    over: bool
    done: int


def claim(sweep: Sweep, archive: Archive) -> Claim | Nothing:
    """The next trial for this process: one that was cut off, else a new one.

    Raises:
      RunError: a run's folder cannot be written, or the storage not be reached.
    """
    with archive.alone():
        for trial in archive.trials():
            left = trial.state == RUNNING and not _busy(trial)
            if left and (run_id := _taken_up(sweep, archive, trial)):
                return _claimed(archive, trial, run_id)
        trials = archive.trials()
        ended = sum(one.state.is_finished() for one in trials)
        begun = sum(one.state != WAITING for one in trials)
        while begun < sweep.config.wanted:
            if found := _asked_for(sweep, archive, len(trials)):
                return found
            begun, ended, trials = begun + 1, ended + 1, archive.trials()
        return Nothing(ended >= sweep.config.wanted, ended)


def claim_more(sweep: Sweep, archive: Archive, most: int) -> list[Claim]:
    """As many new trials for this process beside one that it has claimed, fewer at the end.

    They are asked for before any is told of: to a sampler that learns they are under way, as the
    trials of other workers are.

    Raises:
      RunError: as `claim`.
    """
    found: list[Claim] = []
    with archive.alone():
        for _ in range(most):
            trials = archive.trials()
            if sum(one.state != WAITING for one in trials) >= sweep.config.wanted:
                break
            if new := _asked_for(sweep, archive, len(trials)):
                found.append(new)
    return found


def release(archive: Archive, claimed: Claim) -> None:
    """Leave a trial that has not ended to whoever resumes the sweep."""
    archive.note(claimed.trial, owner=None)


def settle(archive: Archive, trial: FrozenTrial, run: runs.Run, pruned: str = "") -> None:
    """Say what a trial came to whose run has ended; to be called within `Archive.alone`.

    A run that diverged counts as one that was pruned: Optuna's samplers know nothing of trials
    that failed, but hold one that was pruned for worse than any that was not.

    Args:
      archive: the sweep's.
      trial: whose.
      run: as it ended.
      pruned: why it was ended early; "" where it was not.
    """
    if run.state == "finished" and (values := values_of(run, archive.config.goals)):
        archive.tell(trial.number, TrialState.COMPLETE, values)
    elif pruned:
        archive.note(trial, message=pruned)
        archive.tell(trial.number, TrialState.PRUNED)
    elif run.state in ("diverged", "finished"):
        said = run.message or "A value that it is judged by is no number."
        archive.note(trial, failed=True, message=said)
        archive.tell(trial.number, TrialState.PRUNED)
    else:
        _fail(archive, trial, run.message or f"Its run is {run.state}.")


def owner() -> dict[str, Any]:
    """This process, as the owner of a trial is written down."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "pid": pid, "ticks": start_ticks(pid)}


def is_worked_on(trial: FrozenTrial, run: runs.Run | None) -> bool:
    """Whether a process is at a trial that has not ended.

    Args:
      trial: as it is written down.
      run: its run; None where it has none yet.
    """
    said = trial.user_attrs.get("owner")
    if not isinstance(said, dict):
        # It was left, or whoever asked for it was killed by then: but for one who resumed its
        # run by hand nobody is at it.
        return run is not None and run.active and run.status.pid is not None
    if said.get("host") != socket.gethostname():
        return run is not None and run.active
    # The owner may also be a process of another container of this name.
    held = run is not None and bool(is_held(run.path / LOCK_FILE))
    return held or process_lives(int(said["pid"]), said.get("ticks"))


def run_of(trial: FrozenTrial) -> runs.Run | None:
    """The run of a trial; None where it has none, or that was deleted."""
    run_id = trial.user_attrs.get("run")
    try:
        return runs.find(str(run_id)) if run_id else None
    except UnknownRunError:
        return None


def _asked_for(sweep: Sweep, archive: Archive, number: int) -> Claim | None:
    """A new trial, claimed; None where its settings do not fit together."""
    trial = archive.frozen(archive.ask(number))
    run_id = _new_run(sweep, archive, trial)
    return _claimed(archive, trial, run_id, fresh=True) if run_id else None


def _busy(trial: FrozenTrial) -> bool:
    try:
        return is_worked_on(trial, run_of(trial))
    except RunError:
        # Its folder cannot be read: whoever is at it still sees to that, else it ends here.
        return is_worked_on(trial, None)


def _taken_up(sweep: Sweep, archive: Archive, trial: FrozenTrial) -> str:
    """The run of a trial that nobody is at, ready to go on; "" where it has ended by that."""
    if "run" not in trial.user_attrs:
        # Whoever asked for it was killed before its run was known: it may be there nevertheless.
        archive.drawn(archive.opened(trial))
        trial = archive.frozen(trial)
        return _adopted(sweep, archive, trial) or _new_run(sweep, archive, trial)
    try:
        run = run_of(trial)
    except RunError as error:
        return _fail(archive, trial, str(error))
    if run is None:
        return _fail(archive, trial, "Its run was deleted.")
    if not run.died and run.state in ("finished", "diverged", "failed"):
        settle(archive, trial, run)
        return ""
    attempts = int(trial.user_attrs.get("attempts", 1)) + (run.state != "stopped")
    if attempts > MOST_ATTEMPTS:
        said = f"Its worker was killed {MOST_ATTEMPTS} times: see the log of its run."
        return _fail(archive, trial, said)
    archive.note(trial, attempts=attempts)
    if run.status.state != "queued":
        try:
            runs.requeue(run.id)
        except RunError as error:
            return _fail(archive, trial, str(error))
    return run.id


def _new_run(sweep: Sweep, archive: Archive, trial: FrozenTrial) -> str:
    """A run for the trial, its tag the sweep's id; "" where its settings do not fit together."""
    try:
        config = sweep.config.of_trial(trial.params)
    except ConfigError as error:
        return _fail(archive, trial, str(error))
    return _linked(sweep, archive, trial, runs.create(config, tags=(sweep.id,)))


def _adopted(sweep: Sweep, archive: Archive, trial: FrozenTrial) -> str:
    """The run that was made for the trial, by a worker that was killed before it said so."""
    known = {one.user_attrs.get("run") for one in archive.trials()}
    try:
        config = sweep.config.of_trial(trial.params)
    except ConfigError:
        return ""
    for run in runs.list_runs():
        made_for_it = sweep.id in run.tags and run.config == config and run.status.pid is None
        if made_for_it and run.id not in known:
            return _linked(sweep, archive, trial, run)
    return ""


def _linked(sweep: Sweep, archive: Archive, trial: FrozenTrial, run: runs.Run) -> str:
    """The run's id, once it and its trial know of each other."""
    with changing(run.path):
        owners.hand_on(sweep.path, run.path)
        write_json(run.path / TRIAL_FILE, {"sweep": sweep.id, "number": trial.number})
    archive.note(trial, run=run.id)
    return run.id


def _claimed(archive: Archive, trial: FrozenTrial, run_id: str, fresh: bool = False) -> Claim:
    archive.note(trial, owner=owner())
    return Claim(archive.frozen(trial), run_id, fresh)


def _fail(archive: Archive, trial: FrozenTrial, message: str) -> str:
    """Say that a trial failed, and why; it has no run to go on with: ""."""
    archive.note(trial, message=message)
    archive.tell(trial.number, TrialState.FAIL)
    return ""
