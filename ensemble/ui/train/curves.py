"""Learning curves that stay put while a run goes on.

A component of our own, because each of Streamlit's charts loses something at a live
update: Plotly and ECharts are drawn anew, Vega-Lite drops the zoom, and none draws the
ensemble in the page's own text colour at once. This one keeps its SVG nodes, the zoom and
the hidden curves, and saves PNG, SVG and CSV. Its script stands in `js/`.
"""

import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from ensemble.figures import palette
from ensemble.ui.train import history
from ensemble.wording import formats

# Curve points over all lines of one panel: what a screen shows and a second can send.
POINTS = 12_000

SCRIPTS = ("scales.js", "panel.js", "save.js", "pointer.js", "chart.js")


def learning_curves(
    run_id: str,
    rows: list[dict[str, Any]],
    *,
    caption: str,
    epochs: int,
    n_test: int,
    log: bool = False,
    smoothing: float = 0.0,
) -> None:
    """Draw loss and accuracy of every member and the ensemble over the epochs.

    Args:
      run_id: the run; its zoom and hidden curves are kept under this name.
      rows: lines of the run's history.
      caption: what stands over a saved picture.
      epochs: how many epochs the run is to have.
      n_test: how many test images the accuracies were counted on.
      log: draw losses on a log axis, and accuracies by the errors that are left.
      smoothing: how strongly to average training curves, in [0, 1).
    """
    panels = [panel(rows, figure, n_test, log, smoothing) for figure in history.FIGURES]
    members = sum(name.startswith("member") for name in names(panels))
    chart = {
        "run": run_id,
        "caption": caption,
        "x": {"label": "epochs", "max": x_end(rows, epochs)},
        "styles": {name: style(name, members) for name in names(panels)},
        "legend": legend(panels, members),
        "panels": panels,
    }
    # As text: Streamlit imports pandas to find tables in anything else, and the first curves wait.
    component()(data={"chart": json.dumps(chart)}, key=f"curves-{run_id}")


@functools.cache
def component() -> Any:
    """The component, registered once: its scripts are plain functions, joined in order."""
    folder = Path(__file__).parent / "js"
    return st.components.v2.component(
        "ensemble_learning_curves",
        html='<div class="curves"></div>',
        css=(folder / "curves.css").read_text(),
        js="\n".join((folder / name).read_text() for name in SCRIPTS),
    )


def panel(
    rows: list[dict[str, Any]], figure: str, n_test: int, log: bool, smoothing: float
) -> dict[str, Any]:
    """One panel for the component: its lines, and how its axis reads."""
    found = history.smoothed(history.curves(rows, figure), "train", smoothing)
    members = len({curve.who for curve in found if curve.who.startswith("member")})
    most = max(60, min(400, POINTS // (len(found) or 1)))
    scale = ("nines" if figure == "accuracy" else "log") if log else "linear"
    unit = "" if figure == "accuracy" else " (nats)"
    return {
        "name": figure,
        "title": f"{figure.capitalize()}{unit}",
        "alt": f"{figure.capitalize()} over the epochs, one line a member, the ensemble bold",
        "scale": scale,
        "percent": figure == "accuracy",
        "decimals": formats.decimals(n_test),
        # An accuracy of 100 % is drawn as half an error: the log axis has no end.
        "floor": 0.5 / n_test,
        "lines": [line(curve, members, most) for curve in found],
    }


def line(curve: history.Curve, members: int, most: int) -> dict[str, Any]:
    """One curve for the component, in at most `most` points."""
    thinned = history.thin(curve, most)
    return {
        "who": curve.who,
        "group": group(curve.who, members),
        "split": curve.split,
        "x": short(thinned.x),
        "y": short(thinned.y),
    }


def short(values: np.ndarray) -> list[float | None]:
    """Five significant figures of each value, None for what is not finite: small as JSON."""
    return [float(f"{value:.5g}") if math.isfinite(value) else None for value in values]


def names(panels: list[dict[str, Any]]) -> list[str]:
    """Every curve's name once, in drawing order: the ensemble last, over all others."""
    found = dict.fromkeys(line["who"] for panel in panels for line in panel["lines"])
    return sorted(found, key=lambda name: {"mean": 1, "ensemble": 2}.get(name, 0))


def group(name: str, members: int) -> str:
    """What hides together: each of a few members alone, many members all at once."""
    many = members > len(palette.MEMBER_HUES)
    return "members" if many and name.startswith("member") else name


def style(name: str, members: int) -> dict[str, Any]:
    """Colour (None: the page's text colour), width, opacity and spoken name of a curve."""
    if name == "ensemble":
        return {"color": None, "width": palette.ENSEMBLE_WIDTH, "opacity": 1, "label": name}
    if name == "mean":
        return {"color": None, "width": 1.5, "opacity": 0.55, "label": "mean of the members"}
    number = int(name.removeprefix("member "))
    return {
        "color": palette.member_color(number - 1, members),
        "width": palette.MEMBER_WIDTH if members > 1 else 2 * palette.MEMBER_WIDTH,
        "opacity": palette.member_opacity(members),
        "label": name,
    }


def legend(panels: list[dict[str, Any]], members: int) -> list[dict[str, Any]]:
    """One entry a group of curves, the ensemble first, then train and test."""
    entries: dict[str, dict[str, Any]] = {}
    for name in reversed(names(panels)):
        entries[group(name, members)] = {**style(name, members), "group": group(name, members)}
    if "members" in entries:
        entries["members"]["label"] = f"{members} members"
    special = [entries.pop(name) for name in ("ensemble", "mean") if name in entries]
    splits = [
        {"group": split, "label": split, "color": None, "width": 1.5, "split": True,
         "dashed": split == "train"} for split in ("test", "train")
    ]  # fmt: skip
    return [*special, *reversed(entries.values()), *splits]


def x_end(rows: list[dict[str, Any]], epochs: int) -> float:
    """Where the epoch axis ends: the whole run when it is short, else in growing steps.

    An axis that ends at the data would move with every update; one that always ends at
    epoch 1,000 would show a sliver for an hour.
    """
    done = max((row.get("progress") or 0.0 for row in rows[-2:]), default=0.0)
    end = 20
    while end < done:
        end *= 2
    return min(epochs, end)
