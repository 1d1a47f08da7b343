"""A sweep's trials as columns: each setting that is searched, and each objective."""

from collections.abc import Sequence

from ensemble.comparison.compared_settings import format_setting_value, humanize_setting_name
from ensemble.figures.comparison.columns import AxisColumn, Value
from ensemble.sweeps import SweepConfig, Trial
from ensemble.sweeps.search_space import Axis, ValueRange
from ensemble.wording import formats

# What an objective is called in a table or at an axis; shares are said in per cent.
OBJECTIVE_TITLES = {
    "nll": "validation NLL",
    "accuracy": "validation accuracy",
    "ece": "validation ECE",
    "rmse": "validation RMSE",
    "crps": "validation CRPS",
    "seconds": "seconds",
}
OBJECTIVE_UNITS = {"nll": "nats"}
SHARE_OBJECTIVES = ("accuracy", "ece")


def list_trial_columns(config: SweepConfig, trials: Sequence[Trial]) -> list[AxisColumn]:
    """The settings in the order of the search space, then the objectives.

    Args:
      trials: T of them; one that is not complete has no values of objectives.
    """
    searched = [_build_trial_setting_column(name, axis, trials) for name, axis in config.search_axes.items()]
    return [*searched, *(_build_objective_column(config, goal, trials) for goal in config.objective_names)]


def _build_trial_setting_column(name: str, axis: Axis, trials: Sequence[Trial]) -> AxisColumn:
    """A setting's value in each trial; log where its range was."""
    values = [trial.params.get(name) for trial in trials]
    known_values = [value for value in values if value is not None]
    is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known_values)
    cells = tuple(_format_trial_setting(name, value, is_number) for value in values)
    log = axis.log if isinstance(axis, ValueRange) else _has_log_range(known_values) if is_number else False
    return AxisColumn(name, humanize_setting_name(name), cells, is_number=is_number, log=log)


def _format_trial_setting(name: str, value: object, is_number: bool) -> Value:
    if value is None or (is_number and isinstance(value, int | float)):
        return value
    return format_setting_value(name, value if isinstance(value, bool | int | float | str) else str(value))


def _has_log_range(values: Sequence[object]) -> bool:
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return bool(numbers) and min(numbers) > 0 and max(numbers) >= 20 * min(numbers)


def _build_objective_column(config: SweepConfig, goal: str, trials: Sequence[Trial]) -> AxisColumn:
    place = config.objective_names.index(goal)
    values = tuple(trial.values[place] if trial.values else None for trial in trials)
    return AxisColumn(
        goal,
        OBJECTIVE_TITLES[goal],
        values,
        is_metric=True,
        percent=goal in SHARE_OBJECTIVES,
        unit=OBJECTIVE_UNITS.get(goal, ""),
    )


def format_objective(goal: str, value: float | None) -> str:
    """An objective's value as people read it: "0.0812", "97.2 %", "1 min 20 s"."""
    if value is None:
        return "–"
    if goal == "seconds":
        return formats.format_duration(value) if value >= 60 else f"{formats.format_significant(value)} s"
    return formats.format_percent(value, places=2) if goal in SHARE_OBJECTIVES else formats.format_significant(value)
