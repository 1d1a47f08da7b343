"""Where a sweep's trials are written down: an Optuna study, in whatever storage it has.

Whoever asks for a trial, or says what one came to, does so within `SweepStudy.lock_trials`: one
process at a time, so that no trial is asked for twice and none told of twice. Optuna's own
heartbeat works with its own loop alone, and its journal has none: see `claims` for ours.
"""

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files
from ensemble.storage.shared_lock import SharedLock
from ensemble.sweeps import search_space
from ensemble.sweeps.patient_storage import PATIENCE_S, Patience, make_storage_patient
from ensemble.sweeps.settings import OBJECTIVES, SweepConfig, read_storage_address
from ensemble.sweeps.storages import (
    describe_damaged_trials,
    describe_lost_trials,
    open_trial_storage,
    translate_read_errors,
    translate_storage_errors,
)

_TRIALS_LOCK_FILE = "trials.lock"
_LOCK_TIMEOUT_S, LOCK_POLL_INTERVAL_S = PATIENCE_S + 120.0, 0.02
RUNNING, WAITING = TrialState.RUNNING, TrialState.WAITING
# Of a trial that failed: when the sweep had been queued by then, and whether it was the machine.
FAILED_SINCE_NOTE, MACHINE_FAULT_NOTE = "failed_since", "machine_fault"

optuna.logging.set_verbosity(optuna.logging.ERROR)


class SweepStudy:
    """The trials of one sweep.

    Args:
      sweep_id: the study's name.
      folder: of the sweep.
      config: its settings.
      patience: how a storage that does not answer is waited for; by default it is not.
    """

    def __init__(self, sweep_id: str, folder: Path, config: SweepConfig, patience: Patience | None = None) -> None:
        self._id, self._folder, self.config = sweep_id, folder, config
        self.patience = patience or Patience(lambda sentence: None, lambda: True)
        self._lock: SharedLock | None = None
        with translate_read_errors(sweep_id, config.storage):
            address = read_storage_address()
            opened = self.patience.call(lambda: open_trial_storage(sweep_id, folder, config.storage, address))
            self.storage = make_storage_patient(optuna.storages.get_storage(opened), self.patience)
            self.study = self._load_study()

    @classmethod
    def create(cls, sweep_id: str, folder: Path, config: SweepConfig) -> None:
        """Begin a sweep's study; a grid's trials wait in it from the beginning.

        Raises:
          RunError: the storage cannot be reached.
        """
        with translate_storage_errors(sweep_id, config.storage):
            address = read_storage_address()
            storage = open_trial_storage(sweep_id, folder, config.storage, address, new=True)
            study = optuna.create_study(
                study_name=config.study or sweep_id,
                storage=storage,
                directions=[
                    "minimize" if OBJECTIVES[objective_name].minimize else "maximize"
                    for objective_name in config.objective_names
                ],
            )
            study.set_metric_names(list(config.objective_names))
            for params in search_space.build_grid(config.search_axes) if config.sampler == "grid" else ():
                study.enqueue_trial(dict(params))

    @contextlib.contextmanager
    def lock_trials(self) -> Iterator[None]:
        """No other process asks for a trial, or tells of one, within this.

        Raises:
          RunError: another keeps the right to itself longer than it would wait for its storage, or
            nothing can be locked.
        """
        end = time.monotonic() + _LOCK_TIMEOUT_S
        cannot = f"The trials of “{self._id}” cannot be locked"
        with change_job_files(self._folder, cannot, action=None):
            lock = SharedLock(self._folder / _TRIALS_LOCK_FILE)
            while not lock.try_acquire():
                if time.monotonic() > end:
                    raise RunError(
                        f"Another worker of the sweep “{self._id}” has locked "
                        f"its trials for {_LOCK_TIMEOUT_S / 60:.0f} minutes: end that process, then resume the sweep."
                    )
                time.sleep(LOCK_POLL_INTERVAL_S)
        self._lock = lock
        try:
            with self.patience.keep(lock.refresh), translate_storage_errors(self._id, self.config.storage):
                yield
        finally:
            self._lock = None
            lock.release()

    def read_trials(self) -> list[FrozenTrial]:
        """All trials, in the order of their numbers.

        Raises:
          RunError: they cannot be read, or one is as no sweep writes it.
        """
        with translate_read_errors(self._id, self.config.storage):
            trials = self.study.get_trials(deepcopy=False)
            if not all(is_valid_trial(trial, self.config) for trial in trials):
                raise RunError(describe_damaged_trials(self._id, self.config.storage))
        return trials

    def read_trial(self, trial: FrozenTrial | optuna.trial.Trial) -> FrozenTrial:
        """The trial as it is written down now."""
        return self.storage.get_trial(trial._trial_id)

    def ask_trial(self) -> optuna.trial.Trial:
        """A new trial, or the next of a grid; to be called within `lock_trials`.

        Its draws follow from its number and the sweep's seed, in whichever process it is asked for.
        """
        self._require_lock()
        return self.suggest_params(self.study.ask())

    def open_trial(self, trial: FrozenTrial) -> optuna.trial.Trial:
        """A trial that another process asked for, to go on with."""
        return optuna.trial.Trial(self.study, trial._trial_id)

    def suggest_params(self, trial: optuna.trial.Trial) -> optuna.trial.Trial:
        """The same trial, with a value on every axis.

        One whose process was killed before it had all of them gets those that it would have got.
        """
        sampler = self.study.sampler = self._build_sampler(trial.number)
        known = self.read_trial(trial)
        fixed = known.system_attrs.get("fixed_params", {})
        for name, axis in self.config.search_axes.items():
            distribution = build_distribution(axis)
            if name in known.params and not (name in fixed or distribution.single()):
                # So that the next value is the next one drawn.
                sampler.sample_independent(self.study, known, name, distribution)
            _suggest_param(trial, name, axis)
        return trial

    def set_trial_attributes(self, trial: FrozenTrial | optuna.trial.Trial, **notes: Any) -> None:
        """Write attributes of a trial, JSON each."""
        self._require_lock()
        for name, value in notes.items():
            self.storage.set_trial_user_attr(trial._trial_id, name, value)

    def finish_trial(self, number: int, state: TrialState, values: tuple[float, ...] | None = None) -> None:
        """Say how a trial ended; one that has ended stays as it is."""
        self._require_lock()
        self.study.tell(number, list(values) if values else None, state, skip_if_finished=True)

    def _require_lock(self) -> None:
        """See that a lock which is held is held still: another host takes it from who sleeps."""
        if self._lock and not self._lock.confirm():
            raise RunError(
                f"This worker of the sweep “{self._id}” was away for a minute, and another took "
                "its place: start it again if it is needed."
            )

    def _load_study(self) -> optuna.Study:
        try:
            return optuna.load_study(
                study_name=self.config.study or self._id,
                storage=self.storage,
                sampler=self._build_sampler(0),
                pruner=_build_pruner(self.config),
            )
        except KeyError as error:
            raise RunError(describe_lost_trials(self._id, self.config.storage)) from error

    def _build_sampler(self, number: int) -> optuna.samplers.BaseSampler:
        drawn = np.random.SeedSequence((self.config.sampler_seed, number)).generate_state(1)
        seed = int(drawn[0])
        if self.config.sampler == "tpe":
            # Trials that others are at count as poor for now: so that two do not try the same.
            return optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        return optuna.samplers.RandomSampler(seed=seed)


def list_trial_run_ids(notes: Mapping[str, Any]) -> tuple[str, ...]:
    return (notes["run"], *notes.get("repeats", ())) if notes.get("run") else ()


def has_trial_failed(trial: FrozenTrial, queued: float) -> bool:
    """Whether a trial failed since the sweep was last queued: once resumed, that tries it again."""
    return trial.state == RUNNING and trial.user_attrs.get(FAILED_SINCE_NOTE) == queued


def has_trial_finished(trial: FrozenTrial) -> bool:
    """Whether there is something to learn of a trial: it is complete, or others were better."""
    pruned = trial.state == TrialState.PRUNED and not trial.user_attrs.get("failed")
    return trial.state == TrialState.COMPLETE or pruned


def is_valid_trial(trial: FrozenTrial, config: SweepConfig) -> bool:
    """Whether a trial is as a sweep with these settings may have written it.

    What Optuna reads may be JSON of any kind: whoever writes into the file writes what he likes.
    """
    notes = trial.user_attrs
    owner = notes.get("owner")
    fixed = trial.system_attrs.get("fixed_params", {})
    for moment in (trial.datetime_start, trial.datetime_complete):
        _ = moment and moment.timestamp()  # Raises where no clock says so.
    values, complete = trial.values or [], trial.state == TrialState.COMPLETE
    return (
        type(trial.number) is int
        and isinstance(notes.get("run", ""), str)
        and _is_valid_repeats(notes.get("repeats", []))
        and type(notes.get("attempts", 1)) is int
        and isinstance(notes.get("message", ""), str)
        and type(notes.get(FAILED_SINCE_NOTE)) in (float, int, type(None))
        and type(notes.get(MACHINE_FAULT_NOTE, False)) is bool
        and (owner is None or _is_valid_owner(owner))
        and isinstance(fixed, dict)
        and all(_is_valid_param(name, param, config) for name, param in trial.params.items())
        and all(_is_valid_param(name, value, config) for name, value in fixed.items())
        and (not complete or len(values) == len(config.objective_names))
        and (not complete or all(map(math.isfinite, values)))
    )


def _is_valid_owner(owner: object) -> bool:
    return (
        isinstance(owner, dict)
        and isinstance(owner.get("host"), str)
        and type(owner.get("pid")) is int
        and type(owner.get("ticks")) in (int, type(None))
    )


def _is_valid_repeats(run_ids: object) -> bool:
    return isinstance(run_ids, list) and all(isinstance(run_id, str) for run_id in run_ids)


def _is_valid_param(name: str, value: object, config: SweepConfig) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return name in config.search_axes and isinstance(value, bool | int | float | str)


def build_distribution(axis: search_space.Axis) -> BaseDistribution:
    """What Optuna draws from on this axis."""
    if isinstance(axis, search_space.ValueList):
        return CategoricalDistribution(axis.values)
    if axis.whole:
        return IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return FloatDistribution(axis.low, axis.high, log=axis.log)


def _suggest_param(trial: optuna.trial.Trial, name: str, axis: search_space.Axis) -> None:
    if isinstance(axis, search_space.ValueList):
        trial.suggest_categorical(name, axis.values)
    elif axis.whole:
        trial.suggest_int(name, int(axis.low), int(axis.high), log=axis.log)
    else:
        trial.suggest_float(name, axis.low, axis.high, log=axis.log)


def _build_pruner(config: SweepConfig) -> optuna.pruners.BasePruner:
    if config.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=1)
    if config.pruner == "hyperband":
        axis = config.search_axes.get("epochs")
        last = config.base.epochs
        if isinstance(axis, search_space.ValueRange):
            last = int(axis.high)
        elif axis is not None:
            last = max(int(value) for value in axis.values)
        return optuna.pruners.HyperbandPruner(min_resource=1, max_resource=last)
    return optuna.pruners.NopPruner()
