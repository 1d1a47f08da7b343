"""Learning curves that stay put while a run goes on.

A component of our own, because each of Streamlit's charts loses something at a live
update: Plotly and ECharts are drawn anew, Vega-Lite drops the zoom, and none draws the
ensemble in the page's own text colour at once. This one keeps its SVG nodes, the zoom and
the hidden curves, and saves PNG, SVG, PDF and CSV. Its scripts stand in `js/`.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.figures import palette
from ensemble.ui.frame.chart_component import register_chart
from ensemble.ui.train import curve_panels, disputed_images
from ensemble.ui.train.curve_panels import get_curve_group
from ensemble.ui.train.history import MEMBER_QUANTILES
from ensemble.ui.train.varied import value_colors

SCRIPTS = ("scales.js", "panel.js", "ends.js", "disputed.js", "save.js", "values.js", "pointer.js", "chart.js")
CURVES_TITLE = "Learning curves"
_MAX_SHARED_PANELS = 12  # of runs that are watched, each as often as its axes are drawn differently
# How the line of a split is broken, and that of a mean: each in its own way, never by hue alone.
DASHES = {"test": "", "validation": "dash-dotted", "train": "dashed"}


def show_learning_curves(
    run_id: str,
    rows: list[dict[str, Any]],
    *,
    caption: str,
    epochs: int,
    members: int,
    n_test: int,
    validation: bool = False,
    log: bool = False,
    smoothing: float = 0.0,
    images: dict[str, Any] | None = None,
    varied: Mapping[str, Sequence[float]] | None = None,
    about: str = "",
) -> None:
    """Draw loss, accuracy and disagreement of the members over the epochs, and disputed images.

    Args:
      run_id: the run; its zoom and hidden curves are kept under this name.
      smoothing: how strongly to average training curves, in [0, 1).
      images: what stands under the pictures, from `disputed_images.load_disputed_images`; None for
        nothing.
    """
    shared = _build_shared_panels(
        run_id, id(rows), count=len(rows), members=members, n_test=n_test, log=log, smoothing=smoothing, _rows=rows
    )
    chart = {
        **_build_chart_frame(
            run_id, rows, caption=caption, epochs=epochs, members=members, validation=validation, about=about
        ),
        "places": shared.places,
        "disputed": images,
    }
    chart = value_colors.color_curves_by_value(chart, varied or {}, members)
    # As text: Streamlit imports pandas to find tables in anything else, and the first curves wait.
    pressed = register_learning_curves()(
        data={"chart": format_chart_json(chart, shared)}, key=f"curves-{run_id}", on_opened_change=_ignore_curve_press
    )
    disputed_images.open_disputed_votes(run_id, pressed.get("opened"))


def show_curve_panels(
    run_id: str,
    rows: list[dict[str, Any]],
    places: list[list[dict[str, Any]]],
    *,
    caption: str,
    epochs: int,
    members: int,
    validation: bool,
) -> None:
    """Draw pictures of a run's history that are made already; no images stand below them.

    Args:
      run_id: the run; its zoom and hidden curves are kept under this name.
      places: the pictures, as `curve_panels.build_curve_panels` has them.
    """
    chart = {
        **_build_chart_frame(run_id, rows, caption=caption, epochs=epochs, members=members, validation=validation),
        "places": places,
        "disputed": None,
    }
    register_learning_curves()(
        data={"chart": json.dumps(chart)}, key=f"curves-{run_id}", on_opened_change=_ignore_curve_press
    )


def _build_chart_frame(
    run_id: str, rows: list[dict[str, Any]], caption: str, epochs: int, members: int, validation: bool, about: str = ""
) -> dict[str, Any]:
    return {
        "run": run_id,
        "caption": caption,
        "title": CURVES_TITLE,
        "about": about or f"{CURVES_TITLE} · {caption}",
        "x": {"label": "epochs", "max": compute_epoch_axis_end(rows, epochs)},
        "styles": {name: build_curve_style(name, members) for name in list_curve_names(members)},
        "legend": build_curve_legend(members, validation),
        "colors": {"right": palette.RIGHT_COLOR, "wrong": palette.WRONG_COLOR, "muted": palette.MUTED_COLOR},
    }


@dataclass(frozen=True, eq=False)
class SharedPanels:
    """The pictures of a run's history as it stands, which all that look at it are sent.

    Attributes:
      rows: the lines that they are of: as long as they are kept no other list has their `id`.
      places: of `curve_panels.build_curve_panels`; to be treated as read-only.
      text: the same as JSON.
    """

    rows: list[dict[str, Any]]
    places: list[list[dict[str, Any]]]
    text: str


# Many watch one run: whoever is first after a new line makes the pictures, for all.
@st.cache_resource(max_entries=_MAX_SHARED_PANELS, show_spinner=False)
def _build_shared_panels(
    run_id: str,
    rows_id: int,
    count: int,
    members: int,
    n_test: int,
    log: bool,
    smoothing: float,
    _rows: list[dict[str, Any]],
) -> SharedPanels:
    places = curve_panels.build_curve_panels(_rows, members=members, n_test=n_test, log=log, smoothing=smoothing)
    return SharedPanels(_rows, places, json.dumps(places))


def format_chart_json(chart: dict[str, Any], shared: SharedPanels) -> str:
    """A chart as JSON; its pictures, which are most of it, are not written again."""
    if chart["places"] is not shared.places:  # coloured by value
        return json.dumps(chart)
    rest = json.dumps({name: value for name, value in chart.items() if name != "places"})
    return f'{rest[:-1]}, "places": {shared.text}}}'


def _ignore_curve_press() -> None:
    """Callback: what was pressed is read where the component is drawn."""


@functools.cache
def register_learning_curves() -> Any:
    folder = Path(__file__).parent / "js"
    return register_chart("learning_curves", folder, "curves.css", SCRIPTS)


def list_curve_names(members: int) -> list[str]:
    """Every curve that there will be of so many members, in drawing order: the ensemble last."""
    each = [f"member {m + 1}" for m in range(members)] if members <= MAX_SHOWN_MEMBERS else list(MEMBER_QUANTILES)
    return each if members == 1 else [*each, "mean", "pairs", "ensemble"]


def build_curve_style(name: str, members: int) -> dict[str, Any]:
    """Colour (None: the page's text colour), width, opacity and names of a curve.

    `label` is spoken and `end` stands at the curve's end. What is dotted is never taken for a
    test curve, which is solid, nor for one of training or validation: see `DASHES`.
    """
    if name == "ensemble":
        whole = {"width": palette.ENSEMBLE_WIDTH, "opacity": 1, "label": name, "end": name}
        return {"color": None, **whole}
    if name == "pairs":
        whole = {"width": palette.ENSEMBLE_WIDTH, "opacity": 1}
        return {"color": None, **whole, "label": "two members, on average", "end": "mean pair"}
    if name == "mean":
        mean = {"width": 2.5, "opacity": 1, "label": "mean member", "end": "mean"}
        return {"color": palette.MUTED_COLOR, **mean, "dashes": "dotted"}
    place = list(MEMBER_QUANTILES).index(name) if name in MEMBER_QUANTILES else int(name.removeprefix("member ")) - 1
    shown = members if name not in MEMBER_QUANTILES else len(MEMBER_QUANTILES)
    return {
        "color": palette.member_color(place, members),
        "width": palette.MEMBER_WIDTH if members > 1 else 2 * palette.MEMBER_WIDTH,
        "opacity": palette.member_opacity(shown),
        "label": name,
        "end": name if members <= len(palette.MEMBER_HUES) else "members",
    }


def build_curve_legend(members: int, validation: bool = False) -> list[dict[str, Any]]:
    """One entry a group of curves, the ensemble first, then the splits.

    The same from the first look on, so that nothing moves when curves come.
    """
    each = {get_curve_group(name, members): build_curve_style(name, members) for name in list_curve_names(members)}
    if "members" in each:
        each["members"]["label"] = f"{members:,} members"
    first = [name for name in ("ensemble", "mean") if name in each]
    # A mean pair has its name at its end: it is alone in its picture.
    order = [*first, *(name for name in each if name not in ("ensemble", "mean", "pairs"))]
    curves = [{**each[name], "group": name} for name in order]
    splits = {"test": "test"}
    if validation:
        splits["validation"] = "validation"
    splits["train"] = "train"
    if members > 1:
        splits["training"] = "members' train"
    return curves + [
        {
            "group": name,
            "label": label,
            "color": None,
            "width": 1.2,
            "split": True,
            "dashes": DASHES.get(name, "dashed"),
        }
        for name, label in splits.items()
    ]


def compute_epoch_axis_end(rows: list[dict[str, Any]], epochs: int) -> float:
    """Where the epoch axis ends: the whole run when it is short, else in growing steps.

    An axis that ends at the data would move with every update; one that always ends at
    epoch 1,000 would show a sliver for an hour.
    """
    done = max((row.get("progress") or 0.0 for row in rows[-2:]), default=0.0)
    end = 20
    while end < done:
        end *= 2
    return min(epochs, end)
