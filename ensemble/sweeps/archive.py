"""Where a sweep's trials are written down: an Optuna study, in whatever storage it has.

Whoever asks for a trial, or says what one came to, does so within `Archive.alone`: one process at
a time, so that no trial is asked for twice and none told of twice. Optuna's own heartbeat works
with its own loop alone, and its journal has none: see `claims` for ours.
"""

import contextlib
import functools
import os
import sqlite3
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from ensemble.errors import RunError
from ensemble.jobs.folders import changing
from ensemble.storage.lock import try_lock
from ensemble.sweeps import space
from ensemble.sweeps.journal import open_journal
from ensemble.sweeps.settings import OBJECTIVES, VARIABLE, SweepConfig

LOCK, DATABASE, JOURNAL = "trials.lock", "study.db", "journal.log"
PATIENCE_SECONDS, POLL_SECONDS = 120.0, 0.02
BUSY_SECONDS = 60  # that SQLite waits for another process's write
RUNNING, WAITING = TrialState.RUNNING, TrialState.WAITING

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Archive:
    """The trials of one sweep.

    Args:
      sweep_id: the study's name.
      folder: of the sweep.
      config: its settings.
    """

    def __init__(self, sweep_id: str, folder: Path, config: SweepConfig) -> None:
        self._id, self._folder, self.config = sweep_id, folder, config
        with _said_plainly(sweep_id, config.storage):
            self.storage = _storage(folder, config.storage, os.environ.get(VARIABLE, ""))
            self.study = self._loaded()

    @classmethod
    def create(cls, sweep_id: str, folder: Path, config: SweepConfig) -> None:
        """Begin a sweep's study; a grid's trials wait in it from the beginning.

        Raises:
          RunError: the storage cannot be reached.
        """
        with _said_plainly(sweep_id, config.storage):
            storage = _storage(folder, config.storage, os.environ.get(VARIABLE, ""))
            study = optuna.create_study(
                study_name=config.study or sweep_id, storage=storage,
                directions=[
                    "minimize" if OBJECTIVES[one].minimize else "maximize" for one in config.goals
                ],
            )  # fmt: skip
            study.set_metric_names(list(config.goals))
            for params in space.grid(config.axes) if config.sampler == "grid" else ():
                study.enqueue_trial(dict(params))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """No other process asks for a trial, or tells of one, within this.

        Raises:
          RunError: another keeps the right to itself for two minutes, or nothing can be locked.
        """
        end = time.monotonic() + PATIENCE_SECONDS
        with changing(self._folder, f"The trials of “{self._id}” cannot be locked"):
            while (held := try_lock(self._folder / LOCK)) is None:
                if time.monotonic() > end:
                    raise RunError(
                        f"Another worker of the sweep “{self._id}” has kept its trials to itself "
                        "for two minutes: end that process, then resume the sweep."
                    )
                time.sleep(POLL_SECONDS)
        with held, _said_plainly(self._id, self.config.storage):
            yield

    def trials(self) -> list[FrozenTrial]:
        """All trials, in the order of their numbers."""
        with _said_plainly(self._id, self.config.storage):
            return self.study.get_trials(deepcopy=False)

    def frozen(self, trial: FrozenTrial | optuna.trial.Trial) -> FrozenTrial:
        """The trial as it is written down now."""
        return self.storage.get_trial(trial._trial_id)

    def ask(self, number: int) -> optuna.trial.Trial:
        """A new trial, or the next of a grid; to be called within `alone`.

        Args:
          number: that a new one will have: its draws follow from this and the sweep's seed, in
            whichever process it is asked for.
        """
        self.study.sampler = self._sampler(number)
        return self.drawn(self.study.ask())

    def opened(self, trial: FrozenTrial) -> optuna.trial.Trial:
        """A trial that another process asked for, to go on with."""
        return optuna.trial.Trial(self.study, trial._trial_id)

    def drawn(self, trial: optuna.trial.Trial) -> optuna.trial.Trial:
        """The same trial, with a value on every axis."""
        for name, axis in self.config.axes.items():
            _suggest(trial, name, axis)
        return trial

    def note(self, trial: FrozenTrial | optuna.trial.Trial, **notes: Any) -> None:
        """Write attributes of a trial, JSON each."""
        for name, value in notes.items():
            self.storage.set_trial_user_attr(trial._trial_id, name, value)

    def tell(self, number: int, state: TrialState, values: tuple[float, ...] | None = None) -> None:
        """Say how a trial ended; one that has ended stays as it is."""
        self.study.tell(number, list(values) if values else None, state, skip_if_finished=True)

    def _loaded(self) -> optuna.Study:
        try:
            return optuna.load_study(
                study_name=self.config.study or self._id, storage=self.storage,
                sampler=self._sampler(0), pruner=_pruner(self.config),
            )  # fmt: skip
        except KeyError as error:
            raise RunError(_lost(self._id, self.config.storage)) from error

    def _sampler(self, number: int) -> optuna.samplers.BaseSampler:
        drawn = np.random.SeedSequence((self.config.sampler_seed, number)).generate_state(1)
        seed = int(drawn[0])
        if self.config.sampler == "tpe":
            # Trials that others are at count as poor for now: so that two do not try the same.
            return optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        return optuna.samplers.RandomSampler(seed=seed)


def distribution(axis: space.Axis) -> BaseDistribution:
    """What Optuna draws from on this axis."""
    if isinstance(axis, space.Listed):
        return CategoricalDistribution(axis.values)
    if axis.whole:
        return IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return FloatDistribution(axis.low, axis.high, log=axis.log)


def _suggest(trial: optuna.trial.Trial, name: str, axis: space.Axis) -> None:
    if isinstance(axis, space.Listed):
        trial.suggest_categorical(name, axis.values)
    elif axis.whole:
        trial.suggest_int(name, int(axis.low), int(axis.high), log=axis.log)
    else:
        trial.suggest_float(name, axis.low, axis.high, log=axis.log)


def _pruner(config: SweepConfig) -> optuna.pruners.BasePruner:
    if config.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=1)
    if config.pruner == "hyperband":
        axis = config.axes.get("epochs")
        last = config.base.epochs
        if isinstance(axis, space.Range):
            last = int(axis.high)
        elif axis is not None:
            last = max(int(one) for one in axis.values)
        return optuna.pruners.HyperbandPruner(min_resource=1, max_resource=last)
    return optuna.pruners.NopPruner()


@functools.lru_cache(maxsize=16)
def _storage(folder: Path, word: str, address: str) -> optuna.storages.BaseStorage:
    if word == "journal":
        return open_journal(folder / JOURNAL)
    if word == "sqlite":
        return _sqlite(folder / DATABASE)
    return RDBStorage(address, engine_kwargs={"pool_pre_ping": True})


def _sqlite(path: Path) -> RDBStorage:
    storage = RDBStorage(
        f"sqlite:///{path}", engine_kwargs={"connect_args": {"timeout": BUSY_SECONDS}}
    )
    # Readers, such as a page, do not then keep a worker from writing. The file remembers it.
    with storage.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    return storage


@contextlib.contextmanager
def _said_plainly(sweep_id: str, word: str) -> Iterator[None]:
    """What a storage refuses is said in a sentence, without the address: it has a password."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, ImportError) as error:
        # Its class itself, and none derived from it, is what SQLite says of a damaged file.
        if word == "sqlite" and type(getattr(error, "orig", None)) is sqlite3.DatabaseError:
            raise RunError(
                f"What is written down of the trials of “{sweep_id}” cannot be read: {DATABASE} in "
                "its folder is damaged. Put a copy back, or launch another sweep: the runs stay."
            ) from error
        if word != "database":
            raise
        raise RunError(
            f"The database that {VARIABLE} names cannot be used ({type(error).__name__}): see that "
            "it is reached from here, and that the address, user and password are right."
        ) from None


def _lost(sweep_id: str, word: str) -> str:
    if word == "database":
        return (
            f"The trials of “{sweep_id}” are not in the database that {VARIABLE} names: set it to "
            "the address that the sweep was begun with."
        )
    return f"The trials of “{sweep_id}” are not in its folder any more: launch another sweep."
