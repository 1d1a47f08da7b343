"""A sweep's trials as columns: each setting that is searched, and each objective."""

from collections.abc import Sequence

from ensemble.comparison.settings import label, shown
from ensemble.figures.comparison.columns import Column, Value
from ensemble.sweeps import SweepConfig, Trial
from ensemble.sweeps.space import Axis, Range
from ensemble.wording import formats

# What an objective is called in a table or at an axis; shares are said in per cent.
SHORT = {
    "nll": "validation NLL",
    "accuracy": "validation accuracy",
    "ece": "validation ECE",
    "seconds": "seconds",
}
UNITS = {"nll": "nats"}
SHARES = ("accuracy", "ece")


def columns(config: SweepConfig, trials: Sequence[Trial]) -> list[Column]:
    """The settings in the order of the search space, then the objectives.

    Args:
      config: of the sweep.
      trials: T of them; one that is not complete has no values of objectives.
    """
    searched = [setting(name, axis, trials) for name, axis in config.axes.items()]
    return [*searched, *(objective(config, goal, trials) for goal in config.goals)]


def setting(name: str, axis: Axis, trials: Sequence[Trial]) -> Column:
    """A setting's value in each trial; log where its range was."""
    values = [trial.params.get(name) for trial in trials]
    known = [value for value in values if value is not None]
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in known)
    cells = tuple(cell(name, value, is_number) for value in values)
    log = axis.log if isinstance(axis, Range) else spans(known) if is_number else False
    return Column(name, label(name), cells, is_number=is_number, log=log)


def cell(name: str, value: object, is_number: bool) -> Value:
    """One value of a setting as its column has it."""
    if value is None or (is_number and isinstance(value, int | float)):
        return value
    return shown(name, value if isinstance(value, bool | int | float | str) else str(value))


def spans(known: Sequence[object]) -> bool:
    """Whether listed numbers lie so far apart that a log axis suits them."""
    numbers = [float(one) for one in known if isinstance(one, int | float)]
    return bool(numbers) and min(numbers) > 0 and max(numbers) >= 20 * min(numbers)


def objective(config: SweepConfig, goal: str, trials: Sequence[Trial]) -> Column:
    """An objective's value in each complete trial."""
    place = config.goals.index(goal)
    values = tuple(trial.values[place] if trial.values else None for trial in trials)
    return Column(
        goal, SHORT[goal], values, is_figure=True, percent=goal in SHARES, unit=UNITS.get(goal, "")
    )


def say(goal: str, value: float | None) -> str:
    """An objective's value as people read it: "0.0812", "97.2 %", "1 min 20 s"."""
    if value is None:
        return "–"
    if goal == "seconds":
        return formats.duration(value) if value >= 60 else f"{formats.significant(value)} s"
    return formats.percent(value, places=2) if goal in SHARES else formats.significant(value)
