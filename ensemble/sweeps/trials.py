"""A sweep's trials as anybody may read them, the best of them, and their Pareto front."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ensemble.errors import RunError
from ensemble.sweeps.search_space import Value
from ensemble.sweeps.settings import OBJECTIVES
from ensemble.sweeps.store import Sweep

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


@dataclass(frozen=True)
class Trial:
    """One trial as it stood when it was read.

    Attributes:
      number: from 0, in the order in which they were asked for.
      state: "running", "complete", "pruned", "failed" (also where it diverged), or "waiting": a
        grid's that has not begun, or one that was cut off and is to go on.
      params: the value of each setting that is searched.
      values: one an objective, where it is complete; else ().
      run_id: of its run; "" before there is one.
      started_at, ended_at: unix seconds; None before that.
      message: why it was pruned or failed; else "".
      epochs: the first objective after each epoch that was told, by epoch from 1.
    """

    number: int
    state: str
    params: dict[str, Value]
    values: tuple[float, ...] = ()
    run_id: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    message: str = ""
    epochs: dict[int, float] = field(default_factory=dict)


def read_trials(sweep: Sweep) -> list[Trial]:
    """All trials that were asked for, in the order of their numbers; nothing is changed.

    Raises:
      RunError: where they are written down cannot be reached.
    """
    from ensemble.sweeps.study import SweepStudy  # Optuna: whoever only lists sweeps needs none.

    return [
        _build_trial(one) for one in SweepStudy(sweep.id, sweep.path, sweep.config).read_trials()
    ]


def find_best_trial(sweep: Sweep, trials: list[Trial] | None = None) -> Trial | None:
    """The best complete trial by the first objective, the earliest of equals; None without any.

    Args:
      sweep: whose.
      trials: of it, where they have been read already.
    """
    sign = _list_objective_signs(sweep)[0]
    complete = [one for one in trials or read_trials(sweep) if one.state == "complete"]
    return min(complete, key=lambda one: (sign * one.values[0], one.number), default=None)


def find_pareto_trials(sweep: Sweep, trials: list[Trial] | None = None) -> list[Trial]:
    """The complete trials that no other beats in one objective without losing in another.

    By one objective these are the best, all that are equal.
    """
    signs = _list_objective_signs(sweep)
    complete = [one for one in trials or read_trials(sweep) if one.state == "complete"]
    points = [
        [sign * one for sign, one in zip(signs, trial.values, strict=True)] for trial in complete
    ]
    return [
        trial
        for trial, mine in zip(complete, points, strict=True)
        if not any(_dominates_point(other, mine) for other in points)
    ]


def _list_objective_signs(sweep: Sweep) -> list[int]:
    return [1 if OBJECTIVES[one].minimize else -1 for one in sweep.config.objective_names]


def _dominates_point(other: list[float], mine: list[float]) -> bool:
    return other != mine and all(one <= two for one, two in zip(other, mine, strict=True))


def _build_trial(found: "FrozenTrial") -> Trial:
    notes = found.user_attrs
    params = found.params or found.system_attrs.get("fixed_params", {})
    state = _read_trial_state(found)
    return Trial(
        number=found.number,
        state=state,
        params=dict(params),
        values=tuple(found.values or ()) if state == "complete" else (),
        run_id=str(notes.get("run", "")),
        started_at=found.datetime_start.timestamp() if found.datetime_start else None,
        ended_at=found.datetime_complete.timestamp() if found.datetime_complete else None,
        message=str(notes.get("message", "")),
        epochs=dict(found.intermediate_values),
    )


def _read_trial_state(found: "FrozenTrial") -> str:
    from ensemble.sweeps.claims import has_trial_worker, read_trial_run

    word = found.state.name.lower()
    if word == "running":
        try:
            return "running" if has_trial_worker(found, read_trial_run(found)) else "waiting"
        except RunError:
            return "waiting"
    if word == "pruned" and found.user_attrs.get("failed"):
        return "failed"
    return {"fail": "failed"}.get(word, word)
