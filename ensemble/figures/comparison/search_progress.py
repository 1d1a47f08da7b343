"""How a search goes, as curves: each trial's value with the best so far, and the running epochs."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ensemble.sweeps import OBJECTIVES, SweepConfig, Trial

Points = tuple[list[float], list[float | None]]


class _SearchHistory(NamedTuple):
    """What came of the trials in the order of their numbers, from 1.

    Attributes:
      trials: the numbers of the complete ones, and their values.
      best: the same of the best so far, as steps that end at the last trial.
    """

    trials: Points
    best: Points


def trace_search_history(config: SweepConfig, trials: Sequence[Trial], goal: str) -> _SearchHistory:
    place, better = config.objective_names.index(goal), min if OBJECTIVES[goal].minimize else max
    complete = [trial for trial in trials if trial.state == "complete" and _is_finite_value(trial.values[place])]
    x = [float(trial.number + 1) for trial in complete]
    y: list[float | None] = [trial.values[place] for trial in complete]
    best: Points = ([], [])
    for at, value in zip(x, y, strict=True):
        before = best[1][-1] if best[1] else None
        if before is not None:
            _append_point(best, at, before)
        if value is not None and (before is None or better(value, before) != before):
            _append_point(best, at, value)
    last = float(max((trial.number + 1 for trial in trials), default=0))
    if best[1] and last > best[0][-1]:
        _append_point(best, last, best[1][-1])
    return _SearchHistory((x, y), best)


def _append_point(points: Points, x: float, y: float | None) -> None:
    points[0].append(x)
    points[1].append(y)


def _is_finite_value(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def separate_points(points: Points) -> Points:
    """The same points, each with a gap behind it: drawn one by one, without a line."""
    x, y = points
    return (
        [at for position in x for at in (position, position + 0.5)],
        [value for level in y for value in (level, None)],
    )


class _TrialEpochs(NamedTuple):
    """One trial's first objective by epoch.

    Attributes:
      number: of the trial, from 1.
      state: of it.
      points: the epochs, and the values after them.
    """

    number: int
    state: str
    points: Points


def list_trial_epochs(trials: Sequence[Trial], most: int) -> list[_TrialEpochs]:
    """The trials whose epochs are known: those at work, and the last others, `most` at the most."""
    measured_trials = [trial for trial in trials if any(map(_is_finite_value, trial.epochs.values()))]
    active = [trial for trial in measured_trials if trial.state == "running"]
    others = [trial for trial in measured_trials if trial.state != "running"]
    kept = [*others[max(0, len(others) + len(active) - most) :], *active]
    return [
        _TrialEpochs(
            trial.number + 1,
            trial.state,
            (
                [float(epoch) for epoch in sorted(trial.epochs)],
                [value if _is_finite_value(value := trial.epochs[epoch]) else None for epoch in sorted(trial.epochs)],
            ),
        )
        for trial in kept
    ]
