"""The pictures of a run that learns, as the component draws them: lines, axes and words."""

import math
from typing import Any

import numpy as np

from ensemble.figures import palette
from ensemble.ui.train import history
from ensemble.wording import formats

# Curve points over all lines of one picture: what a screen shows and a second can send.
POINTS = 12_000

# Why there is no picture.
ALONE = "One member has nobody to differ from: train two or more to see what diversity buys."
TOO_EARLY = "What diversity buys is drawn from the end of the first epoch on."
NOT_RECORDED = "This run did not record how often its members differ."


def of_run(
    rows: list[dict[str, Any]], *, members: int, n_test: int, log: bool, smoothing: float
) -> list[list[dict[str, Any]]]:
    """The pictures by their places, from left to right; of several in one place one is shown.

    Args:
      rows: lines of the run's history.
      members: how many members it has.
      n_test: how many test images the shares were counted on.
      log: losses and shares on a log axis, and accuracies by the errors that are left.
      smoothing: how strongly to average training curves, in [0, 1).
    """
    learning = [[panel(rows, figure, n_test, log, smoothing)] for figure in history.FIGURES]
    return [*learning, [gain(rows, members, log), disagreement(rows, members, n_test, log)]]


def panel(
    rows: list[dict[str, Any]], figure: str, n_test: int, log: bool, smoothing: float
) -> dict[str, Any]:
    """The picture of "loss" or "accuracy": every member and the ensemble, train and test."""
    found = history.smoothed(history.curves(rows, figure), "train", smoothing)
    percent = figure == "accuracy"
    scale = ("nines" if percent else "log") if log else "linear"
    axis = "axis: log of the share of errors left" if log else "share that is right"
    alt = f"{figure.capitalize()} over the epochs, one line a member, the ensemble bold"
    if any(curve.split == "validation" for curve in found):
        alt += "; on the validation images dash-dotted"
    return {
        "name": figure,
        "noun": figure,
        "title": figure.capitalize(),
        "axis": axis if percent else nats(log),
        "alt": alt,
        "scale": scale,
        **(shares(n_test) if percent else {"percent": False}),
        "lines": lines(found),
    }


def gain(rows: list[dict[str, Any]], members: int, log: bool) -> dict[str, Any]:
    """The picture of both NLLs, of the mean member and of the ensemble, shaded between them."""
    found = history.diversity(rows)
    made = {
        "name": "diversity",
        "noun": "NLL",
        "title": "What diversity buys",
        "axis": f"test NLL in {nats(log)}",
        "alt": "Test NLL of the mean member and of the ensemble over the epochs, shaded between",
        "scale": "log" if log else "linear",
        "percent": False,
        "lines": lines(found),
    }
    bought = latest_gain(found)
    if bought is None:
        return {**made, "note": ALONE if members == 1 else TOO_EARLY}
    band = {"upper": "mean", "lower": "ensemble", "label": f"gain {formats.significant(bought, 2)}"}
    said = f"{made['alt']}: the ensemble's is {formats.significant(bought, 2)} nats lower"
    return {**made, "band": band, "alt": said}


def latest_gain(found: list[history.Curve]) -> float | None:
    """How far the ensemble's NLL lies below the mean member's after the last epoch; in nats."""
    by_name = {curve.who: curve.y for curve in found}
    if by_name.keys() < {"mean", "ensemble"}:
        return None
    gaps = by_name["mean"] - by_name["ensemble"]
    known = gaps[np.isfinite(gaps)]
    return float(known[-1]) if len(known) else None


def disagreement(
    rows: list[dict[str, Any]], members: int, n_test: int, log: bool
) -> dict[str, Any]:
    """The picture of how often pairs of members differ, and each of them from the ensemble."""
    made = lines(history.disagreement(rows))
    for one in made:
        whom = "differ" if one["who"] == "pairs" else "differs from the ensemble"
        one["says"] = f"{whom} on {{}} of the test images"
    early = TOO_EARLY if history.latest(rows) is None else NOT_RECORDED
    note = ALONE if members == 1 else early
    return {
        "name": "disagreement",
        "title": "Members differ",
        "axis": f"share of test images{', log' if log else ''}; bold: mean pair",
        "alt": "Share of test images over the epochs on which two members differ, bold, and on "
        "which each member differs from the ensemble",
        "scale": "share" if log else "linear",
        **shares(n_test),
        "lines": [] if members == 1 else made,
        **({} if made and members > 1 else {"note": note}),
    }


def nats(log: bool) -> str:
    """The unit of a loss, and what its axis does."""
    return "nats, log axis" if log else "nats"


def shares(n_test: int) -> dict[str, Any]:
    """How shares of so many test images are written and drawn."""
    # No image is drawn as half of one: a log axis has no end.
    return {"percent": True, "decimals": formats.decimals(n_test), "floor": 0.5 / n_test}


def lines(found: list[history.Curve]) -> list[dict[str, Any]]:
    """Curves for the component, thinned so that all together stay small."""
    members = len({curve.who for curve in found if curve.who.startswith("member")})
    most = max(60, min(400, POINTS // (len(found) or 1)))
    return [line(curve, members, most) for curve in found]


def line(curve: history.Curve, members: int, most: int) -> dict[str, Any]:
    """One curve for the component, in at most `most` points."""
    thinned = history.thin(curve, most)
    training = curve.split == "train" and curve.who.startswith("member") and members > 1
    return {
        "who": curve.who,
        "group": group(curve.who, members),
        "split": curve.split,
        "also": "training" if training else "",
        "x": short(thinned.x),
        "y": short(thinned.y),
    }


def short(values: np.ndarray) -> list[float | None]:
    """Five significant figures of each value, None for what is not finite: small as JSON."""
    return [float(f"{value:.5g}") if math.isfinite(value) else None for value in values]


def group(name: str, members: int) -> str:
    """What hides together: each of a few members alone, many members all at once."""
    many = members > len(palette.MEMBER_HUES)
    return "members" if many and name.startswith("member") else name
