"""The curves of a search, on Train's own chart: it keeps its zoom while trials come in."""

import json
from collections.abc import Sequence
from typing import Any

from ensemble.figures import palette
from ensemble.figures.comparison import search
from ensemble.figures.comparison.trials import SHARES, SHORT, UNITS
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.ui.train.curves import component
from ensemble.wording import formats
from ensemble.wording.provenance import figure_caption
from ensemble.wording.run_names import called

MOST = 40  # trials whose epochs are drawn
APART = 20  # largest to least value from which on an axis is log


def history(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """Each trial's value, and the best so far bold.

    Args:
      sweep: which.
      trials: of it.
      goal: one of its objectives.
    """
    found = search.history(sweep.config, trials, goal)
    styles = {
        "trials": style("each trial", "", palette.MUTED, 5),
        "best": style("best so far", "best", None, palette.ENSEMBLE_WIDTH),
    }
    title = f"{SHORT[goal][0].upper()}{SHORT[goal][1:]} by trial"
    better = "lower" if OBJECTIVES[goal].minimize else "higher"
    values = [value for value in found.trials[1] if value is not None]
    best = f", the best {formats.significant(found.best[1][-1])}" if found.best[1] else ""
    lines = [line("trials", search.apart(found.trials)), line("best", found.best)]
    draw(
        sweep,
        f"history-{goal}",
        styles,
        lines if values else [],
        goal,
        title,
        better,
        alt=f"{title}: {formats.count(len(values), 'trial')}{best}",
        x={
            "label": "trial",
            "max": sweep.config.wanted + 0.5,
            "when": "trial {}",
            "column": "trial",
        },
        note="" if values else "Drawn from the end of the first trial on.",
    )


def epochs(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The first objective by epoch: bold and blue of the trials at work, thin of the others."""
    goal = sweep.config.goals[0]
    found = search.epochs(trials, MOST)
    styles, lines = {}, []
    for one in found:
        name, running = f"trial {one.number}", one.state == "running"
        styles[name] = (
            style(name, name, palette.RIGHT, 2.5)
            if running
            else style(name, "ended", palette.MUTED, 1, 0.6)
        )
        lines.append(line(name, one.points, name if running else "ended"))
    last = max((one.points[0][-1] for one in found), default=1.0)
    title = f"{SHORT[goal][0].upper()}{SHORT[goal][1:]} by epoch"
    better = "lower" if OBJECTIVES[goal].minimize else "higher"
    at_work = [str(one.number) for one in found if one.state == "running"]
    said = f", at work: {', '.join(at_work)}" if at_work else ""
    draw(
        sweep,
        "epochs",
        styles,
        lines,
        goal,
        title,
        better,
        alt=f"{title} of {formats.count(len(found), 'trial')}{said}",
        x={"label": "epochs", "max": max(last, 2.0)},
        note="" if found else "Drawn from the end of the first epoch on.",
    )


def style(
    label: str, end: str, color: str | None, width: float, opacity: float = 1
) -> dict[str, Any]:
    """How a curve looks, and what it is called under the pointer and at its end."""
    return {"label": label, "end": end, "color": color, "width": width, "opacity": opacity}


def line(who: str, points: search.Points, group: str = "") -> dict[str, Any]:
    """One curve for the component."""
    x, y = points
    return {
        "who": who,
        "group": group or who,
        "split": "test",
        "also": "",
        "x": x,
        "y": y,
        "says": "{}",
    }


def draw(
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
    shares = goal in SHARES
    unit = "" if shares else UNITS.get(goal, goal)
    axis = ", ".join(filter(None, (unit, f"{better} is better")))
    panel = {
        "name": name,
        "noun": SHORT[goal],
        "title": title,
        "axis": axis,
        "alt": alt,
        "scale": scale(lines, shares),
        "lines": lines,
        "percent": shares,
        "decimals": 2,
        "floor": 1e-4,
        **({"note": note} if note else {}),
    }
    groups = {one["group"]: styles[one["who"]] for one in lines}
    legend = [
        {**look, "group": group, "label": look["end"] if group == "ended" else look["label"]}
        for group, look in groups.items()
    ]
    chart = {
        "run": f"{sweep.id}-{name}",
        "caption": f"{title} · {called(sweep)}",
        "title": title,
        "about": figure_caption(sweep, title),
        "x": x,
        "styles": styles,
        "legend": legend,
        "places": [[panel]],
        "disputed": None,
        "colors": {"right": palette.RIGHT, "wrong": palette.WRONG, "muted": palette.MUTED},
    }
    component()(data={"chart": json.dumps(chart)}, key=f"tune_{name}_{sweep.id}")


def scale(lines: Sequence[dict[str, Any]], shares: bool) -> str:
    """Log where the values span powers of ten."""
    values = [value for one in lines for value in one["y"] if value is not None]
    wide = bool(values) and min(values) > 0 and max(values) >= APART * min(values)
    return "log" if wide and not shares else "linear"
