"""A row for each run, of every setting and every figure: for scatter and parallel coordinates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.comparison.compared_settings import SETTING_NAMES, Value, collect_run_settings, humanize_setting_name
from ensemble.comparison.group_metrics import COMPARISON_METRICS, compute_run_metrics
from ensemble.comparison.run_measures import measure_run
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run

_LOG_AXIS_RATIO = 20.0  # times the least: from there on an axis of powers shows more
_LOG_AXIS_SETTINGS = ("learning_rate", "weight_decay")  # of which people think in powers
_STATUS_AXES = {"epochs_done": "Epochs done", "best_validation_nll": "Best validation NLL"}

Cell = float | int | bool | str | None


@dataclass(frozen=True)
class PointAxis:
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
class _RunPoint:
    """One run.

    Attributes:
      run: the run.
      cells: by the names of the axes; None where it is not known, as the settings of an imported
        run, or a setting that differs from member to member.
    """

    run: Run
    cells: dict[str, Cell]


@dataclass(frozen=True)
class RunPoints:
    """All runs: `axes` of the settings first, in their order, then of the figures."""

    axes: tuple[PointAxis, ...]
    rows: tuple[_RunPoint, ...]


def build_run_points(runs: Sequence[Run]) -> RunPoints:
    """A row for each run, in the order given; what cannot be read of one is missing there."""
    rows = tuple(_RunPoint(run, _build_point_cells(run)) for run in runs)
    names = [name for name in SETTING_NAMES if name != "vary" or any(row.cells["vary"] for row in rows)]
    axes = [_build_point_axis(name, humanize_setting_name(name).capitalize(), rows, True) for name in names]
    axes += [_build_point_axis(metric.name, metric.title, rows, False, metric.better) for metric in COMPARISON_METRICS]
    axes += [
        _build_point_axis(name, title, rows, False, 0 if name == "epochs_done" else -1)
        for name, title in _STATUS_AXES.items()
    ]
    return RunPoints(tuple(axes), rows)


def _build_point_cells(run: Run) -> dict[str, Cell]:
    settings = collect_run_settings(run)
    cells: dict[str, Cell] = {name: _single_value(settings.get(name)) for name in SETTING_NAMES}
    try:
        measures = measure_run(run)
    except EnsembleError:
        measures = None
    return {
        **cells,
        **compute_run_metrics(run, measures),
        "epochs_done": run.status.epoch,
        "best_validation_nll": run.status.best_ensemble_validation_nll,
    }


def _single_value(value: Value | None) -> Cell:
    return None if isinstance(value, tuple) else value


def _build_point_axis(name: str, title: str, rows: Sequence[_RunPoint], setting: bool, better: int = 0) -> PointAxis:
    axis_values = [value for row in rows if (value := row.cells[name]) is not None]
    numbers = [
        float(entry)
        for entry in axis_values
        if isinstance(entry, int | float) and not isinstance(entry, bool) and math.isfinite(entry)
    ]
    kind = "number" if len(numbers) == len(axis_values) and (axis_values or not setting) else "category"
    wide = (
        bool(numbers)
        and min(numbers) > 0
        and (
            max(numbers) >= _LOG_AXIS_RATIO * min(numbers)
            or (name in _LOG_AXIS_SETTINGS and max(numbers) > min(numbers))
        )
    )
    return PointAxis(
        name=name,
        title=title,
        kind=kind,
        setting=setting,
        log=kind == "number" and wide,
        varies=len(set(axis_values)) > 1,
        better=better,
    )
