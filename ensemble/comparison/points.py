"""A row for each run, of every setting and every figure: for scatter and parallel coordinates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.comparison.measures import measures
from ensemble.comparison.metrics import METRICS, values_of
from ensemble.comparison.settings import NAMES, Value, label, settings_of
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run

WIDE = 20.0  # times the least: from there on an axis of powers shows more
LOGGED = ("learning_rate", "weight_decay")  # of which people think in powers
STATUS = {"epochs_done": "Epochs done", "best_validation_nll": "Best validation NLL"}

Cell = float | int | bool | str | None


@dataclass(frozen=True)
class Axis:
    """One column.

    Attributes:
      name: of the setting or the figure; no two axes have the same.
      title: for people.
      kind: "number" or "category".
      setting: whether it was set, and not measured.
      log: whether its values suit an axis of powers: all above 0, and spread wide.
      varies: whether not all runs that have it are the same in it.
      better: of a figure 1 where more is better, −1 where less is; else 0.
    """

    name: str
    title: str
    kind: str
    setting: bool
    log: bool
    varies: bool
    better: int = 0


@dataclass(frozen=True)
class Point:
    """One run.

    Attributes:
      run: the run.
      cells: by the names of the axes; None where it is not known, as the settings of an imported
        run, or a setting that differs from member to member.
    """

    run: Run
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Points:
    """All runs: `axes` of the settings first, in their order, then of the figures."""

    axes: tuple[Axis, ...]
    rows: tuple[Point, ...]


def points(runs: Sequence[Run]) -> Points:
    """A row for each run, in the order given; what cannot be read of one is missing there."""
    rows = tuple(Point(run, _cells(run)) for run in runs)
    names = [name for name in NAMES if name != "vary" or any(row.cells["vary"] for row in rows)]
    axes = [_axis(name, label(name).capitalize(), rows, True) for name in names]
    axes += [_axis(one.name, one.title, rows, False, one.better) for one in METRICS]
    axes += [
        _axis(name, title, rows, False, 0 if name == "epochs_done" else -1)
        for name, title in STATUS.items()
    ]
    return Points(tuple(axes), rows)


def _cells(run: Run) -> dict[str, Cell]:
    settings = settings_of(run)
    cells: dict[str, Cell] = {name: _single(settings.get(name)) for name in NAMES}
    try:
        made = measures(run)
    except EnsembleError:
        made = None
    return {
        **cells,
        **values_of(run, made),
        "epochs_done": run.status.epoch,
        "best_validation_nll": run.status.best_ensemble_validation_nll,
    }


def _single(value: Value | None) -> Cell:
    return None if isinstance(value, tuple) else value


def _axis(name: str, title: str, rows: Sequence[Point], setting: bool, better: int = 0) -> Axis:
    known = [value for row in rows if (value := row.cells[name]) is not None]
    numbers = [
        float(one)
        for one in known
        if isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
    ]
    kind = "number" if len(numbers) == len(known) and (known or not setting) else "category"
    wide = (
        bool(numbers)
        and min(numbers) > 0
        and (
            max(numbers) >= WIDE * min(numbers) or (name in LOGGED and max(numbers) > min(numbers))
        )
    )
    return Axis(name, title, kind, setting, kind == "number" and wide, len(set(known)) > 1, better)
