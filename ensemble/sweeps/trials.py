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
      values: one an objective, where it is complete; else (). Of a trial that was trained several
        times each is the mean over its runs.
      run_id: of its run, the first of several; "" before there is one.
      started_at, ended_at: unix seconds; None before that.
      message: why it was pruned or failed; else "".
      epochs: the first objective after each epoch that was told, by epoch from 1; of the first run.
      repeat_run_ids: of its further runs, which differ from the first in the seed alone, in their
        order.
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
    repeat_run_ids: tuple[str, ...] = ()

    @property
    def run_ids(self) -> tuple[str, ...]:
        """All its runs, the first one first; () before there is one."""
        return (self.run_id, *self.repeat_run_ids) if self.run_id else ()


def read_trials(sweep: Sweep) -> list[Trial]:
    """All trials that were asked for, in the order of their numbers; nothing is changed.

    Raises:
      RunError: where they are written down cannot be reached.
    """
    from ensemble.sweeps.study import SweepStudy  # Optuna: whoever only lists sweeps needs none.

    return [
        _build_trial(trial, sweep.status.queued)
        for trial in SweepStudy(sweep.id, sweep.path, sweep.config).read_trials()
    ]


def find_best_trial(sweep: Sweep, trials: list[Trial] | None = None) -> Trial | None:
    """The best complete trial by the first objective, the earliest of equals; None without any.

    Args:
      sweep: whose.
      trials: of it, where they have been read already.
    """
    sign = _list_objective_signs(sweep)[0]
    complete = [trial for trial in trials or read_trials(sweep) if trial.state == "complete"]
    return min(complete, key=lambda trial: (sign * trial.values[0], trial.number), default=None)


def find_pareto_trials(sweep: Sweep, trials: list[Trial] | None = None) -> list[Trial]:
    """The complete trials that no other beats in one objective without losing in another.

    By one objective these are the best, all that are equal.
    """
    signs = _list_objective_signs(sweep)
    complete = [trial for trial in trials or read_trials(sweep) if trial.state == "complete"]
    points = [[sign * value for sign, value in zip(signs, trial.values, strict=True)] for trial in complete]
    return [
        trial
        for trial, mine in zip(complete, points, strict=True)
        if not any(_dominates_point(other, mine) for other in points)
    ]


def _list_objective_signs(sweep: Sweep) -> list[int]:
    return [1 if OBJECTIVES[objective_name].minimize else -1 for objective_name in sweep.config.objective_names]


def _dominates_point(other: list[float], mine: list[float]) -> bool:
    return other != mine and all(value <= two for value, two in zip(other, mine, strict=True))


def _build_trial(trial: "FrozenTrial", queued: float) -> Trial:
    from ensemble.sweeps.study import list_trial_run_ids

    notes = trial.user_attrs
    run_ids = list_trial_run_ids(notes)
    params = trial.params or trial.system_attrs.get("fixed_params", {})
    state = _read_trial_state(trial, queued)
    return Trial(
        number=trial.number,
        state=state,
        params=dict(params),
        values=tuple(trial.values or ()) if state == "complete" else (),
        run_id=run_ids[0] if run_ids else "",
        started_at=trial.datetime_start.timestamp() if trial.datetime_start else None,
        ended_at=trial.datetime_complete.timestamp() if trial.datetime_complete else None,
        message=str(notes.get("message", "")) if state in ("pruned", "failed") else "",
        epochs=dict(trial.intermediate_values),
        repeat_run_ids=run_ids[1:],
    )


def _read_trial_state(trial: "FrozenTrial", queued: float) -> str:
    from ensemble.sweeps.claims import has_trial_worker, read_trial_run
    from ensemble.sweeps.study import has_trial_failed

    if has_trial_failed(trial, queued):
        return "failed"
    word = trial.state.name.lower()
    if word == "running":
        try:
            return "running" if has_trial_worker(trial, read_trial_run(trial)) else "waiting"
        except RunError:
            return "waiting"
    if word == "pruned" and trial.user_attrs.get("failed"):
        return "failed"
    return {"fail": "failed"}.get(word, word)
