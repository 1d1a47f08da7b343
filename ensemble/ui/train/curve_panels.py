"""The pictures of a run that learns, as the component draws them: lines, axes and words."""

import math
from typing import Any

import numpy as np

from ensemble.figures import palette
from ensemble.ui.train import history
from ensemble.wording import formats

# Curve points over all lines of one picture: what a screen shows and a second can send.
_MAX_POINTS = 12_000

# Why there is no picture.
SINGLE_MEMBER_NOTE = "One member has no other to differ from: train two or more to see what diversity gains."
TOO_EARLY_NOTE = "What diversity gains is shown after the first epoch."
NOT_RECORDED_NOTE = "This run did not record how often its members differ."


def build_curve_panels(
    rows: list[dict[str, Any]], *, members: int, n_test: int, log: bool, smoothing: float
) -> list[list[dict[str, Any]]]:
    """The pictures by their places, from left to right; of several in one place one is shown.

    Args:
      smoothing: how strongly to average training curves, in [0, 1).
    """
    learning = [[build_metric_panel(rows, figure, n_test, log, smoothing)] for figure in history.METRICS]
    return [
        *learning,
        [build_diversity_panel(rows, members, log), build_disagreement_panel(rows, members, n_test, log)],
    ]


def build_metric_panel(
    rows: list[dict[str, Any]], figure: str, n_test: int, log: bool, smoothing: float
) -> dict[str, Any]:
    """The picture of "loss" or "accuracy": every member and the ensemble, train and test."""
    curves = history.smooth_split_curves(history.build_metric_curves(rows, figure), "train", smoothing)
    percent = figure == "accuracy"
    scale = ("nines" if percent else "log") if log else "linear"
    axis = "stretched near 100 %" if log else "share that is right"
    alt = f"{figure.capitalize()} over the epochs, one line a member, the ensemble bold"
    if any(curve.split == "validation" for curve in curves):
        alt += "; on the validation images dash-dotted"
    return {
        "name": figure,
        "noun": figure,
        "title": figure.capitalize(),
        "axis": axis if percent else _format_nats_axis(log),
        "alt": alt,
        "scale": scale,
        **(_build_panel_share_axis(n_test) if percent else {"percent": False}),
        "lines": build_panel_lines(curves),
    }


def build_diversity_panel(rows: list[dict[str, Any]], members: int, log: bool) -> dict[str, Any]:
    diversity_curves = history.build_diversity_curves(rows)
    panel = {
        "name": "diversity",
        "noun": "NLL",
        "title": "What diversity gains",
        "axis": f"test NLL in {_format_nats_axis(log)}",
        "alt": "Test NLL of the average member and of the ensemble over the epochs, shaded between",
        "scale": "log" if log else "linear",
        "percent": False,
        "lines": build_panel_lines(diversity_curves),
    }
    bought = _compute_latest_gain(diversity_curves)
    if bought is None:
        return {**panel, "note": SINGLE_MEMBER_NOTE if members == 1 else TOO_EARLY_NOTE}
    band = {"upper": "mean", "lower": "ensemble", "label": f"gain {formats.format_significant(bought, 2)}"}
    text = f"{panel['alt']}: the ensemble's is {formats.format_significant(bought, 2)} nats lower"
    return {**panel, "band": band, "alt": text}


def _compute_latest_gain(learning_curves: list[history.LearningCurve]) -> float | None:
    """How far the ensemble's NLL lies below the average member's after the last epoch; in nats."""
    by_name = {curve.series: curve.y for curve in learning_curves}
    if by_name.keys() < {"mean", "ensemble"}:
        return None
    gaps = by_name["mean"] - by_name["ensemble"]
    gap = gaps[np.isfinite(gaps)]
    return float(gap[-1]) if len(gap) else None


def build_disagreement_panel(rows: list[dict[str, Any]], members: int, n_test: int, log: bool) -> dict[str, Any]:
    panel_lines = build_panel_lines(history.build_disagreement_curves(rows))
    for line in panel_lines:
        whom = "differ" if line["who"] == "pairs" else "differs from the ensemble"
        line["says"] = f"{whom} on {{}} of the test images"
    early = TOO_EARLY_NOTE if history.find_latest_epoch_row(rows) is None else NOT_RECORDED_NOTE
    note = SINGLE_MEMBER_NOTE if members == 1 else early
    return {
        "name": "disagreement",
        "title": "Members differ",
        "axis": f"share of test images{', log' if log else ''}; bold: mean pair",
        "alt": "Share of test images over the epochs on which two members differ, bold, and on "
        "which each member differs from the ensemble",
        "scale": "share" if log else "linear",
        **_build_panel_share_axis(n_test),
        "lines": [] if members == 1 else panel_lines,
        **({} if panel_lines and members > 1 else {"note": note}),
    }


def _format_nats_axis(log: bool) -> str:
    return "nats, log axis" if log else "nats"


def _build_panel_share_axis(n_test: int) -> dict[str, Any]:
    # No image is drawn as half of one: a log axis has no end.
    return {"percent": True, "decimals": formats.count_percent_decimals(n_test), "floor": 0.5 / n_test}


def build_panel_lines(learning_curves: list[history.LearningCurve]) -> list[dict[str, Any]]:
    """Curves for the component, thinned so that all together stay small."""
    members = len({curve.series for curve in learning_curves if curve.series.startswith("member")})
    most = max(60, min(400, _MAX_POINTS // (len(learning_curves) or 1)))
    return [_build_panel_line(curve, members, most) for curve in learning_curves]


def _build_panel_line(curve: history.LearningCurve, members: int, most: int) -> dict[str, Any]:
    """One curve for the component, in at most `most` points."""
    thinned = history.thin_curve(curve, most)
    training = curve.split == "train" and curve.series.startswith("member") and members > 1
    return {
        "who": curve.series,
        "group": get_curve_group(curve.series, members),
        "split": curve.split,
        "also": "training" if training else "",
        "x": _round_for_json(thinned.x),
        "y": _round_for_json(thinned.y),
    }


def _round_for_json(values: np.ndarray) -> list[float | None]:
    """Five significant figures of each value, None for what is not finite: small as JSON."""
    return [float(f"{value:.5g}") if math.isfinite(value) else None for value in values]


def get_curve_group(name: str, members: int) -> str:
    """What hides together: each of a few members alone, many members all at once."""
    many = members > len(palette.MEMBER_HUES) or name in history.MEMBER_QUANTILES
    return "members" if many and name.startswith("member") else name
