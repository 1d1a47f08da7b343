"""The curves of a search, on Train's own chart: it keeps its zoom while trials come in."""

import json
from collections.abc import Sequence
from typing import Any

from ensemble.figures import palette
from ensemble.figures.comparison import search_progress
from ensemble.figures.comparison.trial_columns import OBJECTIVE_TITLES, OBJECTIVE_UNITS, SHARE_OBJECTIVES
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.ui.train.learning_curves import register_learning_curves
from ensemble.wording import formats
from ensemble.wording.provenance import format_figure_caption
from ensemble.wording.run_names import format_run_name

_MAX_EPOCH_CURVES = 40  # trials whose epochs are drawn
_LOG_SCALE_RATIO = 20  # largest to least value from which on an axis is log


def show_trial_history(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    search_history = search_progress.trace_search_history(sweep.config, trials, goal)
    styles = {
        "trials": _build_trial_style("each trial", "", palette.MUTED_COLOR, 5),
        "best": _build_trial_style("best so far", "best", None, palette.ENSEMBLE_WIDTH),
    }
    title = f"{OBJECTIVE_TITLES[goal][0].upper()}{OBJECTIVE_TITLES[goal][1:]} by trial"
    better = "lower" if OBJECTIVES[goal].minimize else "higher"
    values = [value for value in search_history.trials[1] if value is not None]
    best = f", the best {formats.format_significant(search_history.best[1][-1])}" if search_history.best[1] else ""
    lines = [
        _build_trial_line("trials", search_progress.separate_points(search_history.trials)),
        _build_trial_line("best", search_history.best),
    ]
    _show_sweep_chart(
        sweep,
        f"history-{goal}",
        styles=styles,
        lines=lines if values else [],
        goal=goal,
        title=title,
        better=better,
        alt=f"{title}: {formats.format_count(len(values), 'trial')}{best}",
        x={"label": "trial", "max": sweep.config.trial_count + 0.5, "when": "trial {}", "column": "trial"},
        note="" if values else "Appears after the first trial.",
    )


def show_trial_epochs(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The first objective by epoch: bold and blue of the trials at work, thin of the others."""
    goal = sweep.config.objective_names[0]
    trial_epochs = search_progress.list_trial_epochs(trials, _MAX_EPOCH_CURVES)
    styles, lines = {}, []
    for trial in trial_epochs:
        name, running = f"trial {trial.number}", trial.state == "running"
        styles[name] = (
            _build_trial_style(name, name, palette.RIGHT_COLOR, 2.5)
            if running
            else _build_trial_style(name, "ended", palette.MUTED_COLOR, 1, 0.6)
        )
        lines.append(_build_trial_line(name, trial.points, name if running else "ended"))
    last = max((listed_trial.points[0][-1] for listed_trial in trial_epochs), default=1.0)
    title = f"{OBJECTIVE_TITLES[goal][0].upper()}{OBJECTIVE_TITLES[goal][1:]} by epoch"
    better = "lower" if OBJECTIVES[goal].minimize else "higher"
    at_work = [str(listed_trial.number) for listed_trial in trial_epochs if listed_trial.state == "running"]
    text = f", at work: {', '.join(at_work)}" if at_work else ""
    _show_sweep_chart(
        sweep,
        "epochs",
        styles=styles,
        lines=lines,
        goal=goal,
        title=title,
        better=better,
        alt=f"{title} of {formats.format_count(len(trial_epochs), 'trial')}{text}",
        x={"label": "epochs", "max": max(last, 2.0)},
        note="" if trial_epochs else "Appears after the first epoch.",
    )


def _build_trial_style(label: str, end: str, color: str | None, width: float, opacity: float = 1) -> dict[str, Any]:
    return {"label": label, "end": end, "color": color, "width": width, "opacity": opacity}


def _build_trial_line(who: str, points: search_progress.Points, group: str = "") -> dict[str, Any]:
    x, y = points
    return {"who": who, "group": group or who, "split": "test", "also": "", "x": x, "y": y, "says": "{}"}


def _show_sweep_chart(
    sweep: Sweep,
    name: str,
    styles: dict[str, Any],
    lines: list[dict[str, Any]],
    goal: str,
    title: str,
    better: str,
    *,
    alt: str,
    x: dict[str, Any],
    note: str,
) -> None:
    """One chart with one picture; its zoom is kept under the sweep's name and its own."""
    shares = goal in SHARE_OBJECTIVES
    unit = "" if shares else OBJECTIVE_UNITS.get(goal, goal)
    axis = ", ".join(filter(None, (unit, f"{better} is better")))
    panel = {
        "name": name,
        "noun": OBJECTIVE_TITLES[goal],
        "title": title,
        "axis": axis,
        "alt": alt,
        "scale": _select_axis_scale(lines, shares),
        "lines": lines,
        "percent": shares,
        "decimals": 2,
        "floor": 1e-4,
        **({"note": note} if note else {}),
    }
    groups = {line["group"]: styles[line["who"]] for line in lines}
    legend = [
        {**look, "group": group, "label": look["end"] if group == "ended" else look["label"]}
        for group, look in groups.items()
    ]
    chart = {
        "run": f"{sweep.id}-{name}",
        "caption": f"{title} · {format_run_name(sweep)}",
        "title": title,
        "about": format_figure_caption(sweep, title),
        "x": x,
        "styles": styles,
        "legend": legend,
        "places": [[panel]],
        "disputed": None,
        "colors": {"right": palette.RIGHT_COLOR, "wrong": palette.WRONG_COLOR, "muted": palette.MUTED_COLOR},
    }
    register_learning_curves()(data={"chart": json.dumps(chart)}, key=f"tune_{name}_{sweep.id}")


def _select_axis_scale(lines: Sequence[dict[str, Any]], shares: bool) -> str:
    values = [value for line in lines for value in line["y"] if value is not None]
    wide = bool(values) and min(values) > 0 and max(values) >= _LOG_SCALE_RATIO * min(values)
    return "log" if wide and not shares else "linear"
