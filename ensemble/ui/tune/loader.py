"""Sweeps and their trials as the page reads them: once a second at most, for every tab.

What comes back is shared: treat it as read-only.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ensemble import sweeps
from ensemble.figures.comparison.importances import NoiseShares, compute_setting_importances, estimate_noise_shares
from ensemble.sweeps import Sweep, Trial
from ensemble.sweeps.best_trials import BestTrialEvidence, judge_best_trial
from ensemble.ui.shared import loaders

Result = TypeVar("Result")
_CacheKey = tuple[Any, ...]


def load_sweep_trials(sweep: Sweep) -> list[Trial]:
    """Its trials; while it is active at most a second old.

    Raises:
      RunError: where they are written down cannot be reached.
    """
    beat = int(time.time()) if sweep.active else 0
    return _load_cached_trials(str(sweep.path), _get_sweep_version(sweep), beat, sweep)


def _get_sweep_version(sweep: Sweep) -> _CacheKey:
    return tuple((path.name, loaders.get_file_version(path)) for path in sorted(sweep.path.iterdir()))


@st.cache_resource(max_entries=8, show_spinner=False)
def _load_cached_trials(folder: str, cache_key: _CacheKey, beat: int, _sweep: Sweep) -> list[Trial]:
    return sweeps.read_trials(_sweep)


def build_trials_key(every: Sequence[Trial]) -> _CacheKey:
    return tuple((trial.number, trial.state, trial.values, trial.run_ids) for trial in every)


def load_setting_importances(sweep: Sweep, every: Sequence[Trial], goal: str) -> dict[str, float]:
    """`compute_setting_importances` of an objective, once for each number of complete trials."""
    complete = [trial for trial in every if trial.state == "complete"]
    by = (sweep.id, goal, *build_trials_key(complete))
    return compute_once("weights", by, lambda: compute_setting_importances(sweep.config, complete, goal))


def load_noise_shares(sweep: Sweep, every: Sequence[Trial], goal: str) -> NoiseShares | None:
    """`estimate_noise_shares` of an objective, once for each number of complete trials."""
    complete = [trial for trial in every if trial.state == "complete"]
    by = (sweep.id, goal, *build_trials_key(complete))
    return compute_once("noise", by, lambda: estimate_noise_shares(sweep.config, complete, goal))


def load_best_trial_evidence(sweep: Sweep, every: Sequence[Trial]) -> BestTrialEvidence | None:
    """`judge_best_trial`, once for each number of complete trials."""
    by = (sweep.id, *build_trials_key([trial for trial in every if trial.state == "complete"]))
    return compute_once("best", by, lambda: judge_best_trial(sweep, every))


def compute_once(what: str, by: _CacheKey, make: Callable[[], Result]) -> Result:
    """What `make` makes, made once for all that it follows from."""
    result: Result = _compute_cached(what, by, make)
    return result


@st.cache_resource(max_entries=24, show_spinner=False)
def _compute_cached(what: str, by: _CacheKey, _make: Callable[[], Any]) -> Any:
    return _make()
