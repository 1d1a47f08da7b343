"""The lines of a run's history.jsonl as arrays that a chart or a table can take."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ensemble import runs
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.runs.groups.history_lines import UNFINISHED_KIND

METRICS = ("loss", "accuracy")
# Curves that stand for many members: at each point the lowest, the highest, and nine in ten between two.
MEMBER_QUANTILES = {"members, lowest": 0.0, "members, 5 %": 0.05, "members, 95 %": 0.95, "members, highest": 1.0}


@dataclass(frozen=True)
class LearningCurve:
    """One line of a chart.

    Attributes:
      series: "ensemble", "mean" (the average member), "pairs" (the mean over pairs of members),
        "member 1", "member 2", ..., or one of `MEMBER_QUANTILES`.
      split: "train", "validation" or "test".
      x: epochs done when each value was measured, rising, shape (P,).
      y: the values, shape (P,); NaN where the run had no finite one.
    """

    series: str
    split: str
    x: np.ndarray
    y: np.ndarray


def _stack_history_field(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    """Field `name` of every row, null and absent as NaN: shape (P,) or (P, M)."""
    values = [row.get(name) for row in rows]
    width = max((len(value) for value in values if isinstance(value, list)), default=0)
    if not width:
        return np.array(values, float)
    whole = [value if isinstance(value, list) and len(value) == width else [None] * width for value in values]
    return np.array(whole, float).reshape(-1, width)


def drop_own_view_metrics(rows: list[dict[str, Any]], own_views: bool) -> list[dict[str, Any]]:
    """The lines without training figures of an ensemble whose members saw different pixels.

    Earlier versions wrote such figures where each member shifts and turns its images.
    """
    if not own_views:
        return rows
    return [{**row, "ensemble_train_nll": None, "ensemble_train_accuracy": None} for row in rows]


def build_metric_curves(rows: list[dict[str, Any]], figure: str) -> list[LearningCurve]:
    """Every curve of `figure` ("loss" or "accuracy"), train before test, members first.

    Of the validation images, where there are any, only the curve that choices are made by: the
    ensemble's, or that of a member that is alone.

    Training curves come from the steps, test curves from the ends of epochs. Of the two
    losses an ensemble has, "ensemble" is that of the averaged probabilities, and "mean"
    the mean of the members' losses. Of an epoch that not every group of a run has closed there
    are points of the members that have, and neither mean nor ensemble.
    """
    steps = [row for row in rows if row.get("kind") == "steps"]
    epochs = [row for row in rows if row.get("kind") in ("epoch", UNFINISHED_KIND)]
    held = build_split_curves(epochs, "validation", figure)[-1:]
    return [*build_split_curves(steps or epochs, "train", figure), *held, *build_split_curves(epochs, "test", figure)]


def build_split_curves(rows: list[dict[str, Any]], split: str, figure: str) -> list[LearningCurve]:
    """The curves of one split: M members, their mean, and the ensemble where it is known.

    Of "validation" there are some only where the run holds training images out.
    """
    if not any(f"{split}_{figure}" in row for row in rows):
        return []
    x = _stack_history_field(rows, "progress")
    members = _stack_history_field(rows, f"{split}_{figure}").reshape(len(rows), -1)
    learning_curves = _build_member_curves(x, members, split)
    if members.shape[1] > 1:
        learning_curves.append(LearningCurve("mean", split, x, _average_remaining_members(rows, members)))
        whole = _stack_history_field(rows, f"ensemble_{split}_{'nll' if figure == 'loss' else figure}")
        if np.isfinite(whole).any():
            learning_curves.append(LearningCurve("ensemble", split, x, whole))
    return learning_curves


def _build_member_curves(x: np.ndarray, members: np.ndarray, split: str) -> list[LearningCurve]:
    """One curve for each of M members (P, M); with more than `MAX_SHOWN_MEMBERS` those of `MEMBER_QUANTILES`."""
    if members.shape[1] <= MAX_SHOWN_MEMBERS:
        return [LearningCurve(f"member {m + 1}", split, x, y) for m, y in enumerate(members.T)]
    quantiles = np.full((len(MEMBER_QUANTILES), len(members)), np.nan)
    known = np.isfinite(members).any(axis=1)
    if known.any():
        quantiles[:, known] = np.nanquantile(members[known], list(MEMBER_QUANTILES.values()), axis=1)
    return [LearningCurve(name, split, x, y) for name, y in zip(MEMBER_QUANTILES, quantiles, strict=True)]


def _average_remaining_members(rows: list[dict[str, Any]], members: np.ndarray) -> np.ndarray:
    """The mean over members (P, M) of each line, but for those that the line says are set aside."""
    if not any(row.get("set_aside") for row in rows):
        return members.mean(axis=1)
    left = np.ones(members.shape, bool)
    for place, row in enumerate(rows):
        left[place, [m for m in row.get("set_aside") or () if m < members.shape[1]]] = False
    count = left.sum(axis=1)
    total = np.where(left, members, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(len(rows), np.nan), where=count > 0)


def build_diversity_curves(rows: list[dict[str, Any]]) -> list[LearningCurve]:
    """The average member's NLL on the test images and the ensemble's, after each epoch.

    What lies between the two is what the members' differences buy: by Jensen's inequality the
    NLL of the averaged probabilities is never above the mean of the members' own.
    """
    split_curves = build_split_curves(select_epoch_rows(rows), "test", "loss")
    return [curve for curve in split_curves if curve.series in ("mean", "ensemble")]


def build_disagreement_curves(rows: list[dict[str, Any]]) -> list[LearningCurve]:
    """The share of test images on which each member differs from the ensemble, and pairs differ.

    Only epochs that recorded it count; there are none before the first epoch's end.
    """
    closed = [row for row in select_epoch_rows(rows) if row.get("disagreement") is not None]
    if not closed:
        return []
    x, members = (_stack_history_field(closed, "progress"), _stack_history_field(closed, "member_disagreement"))
    learning_curves = _build_member_curves(x, members.reshape(len(closed), -1), "test")
    return [*learning_curves, LearningCurve("pairs", "test", x, _stack_history_field(closed, "disagreement"))]


def select_epoch_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row.get("kind") == "epoch"]


def smooth_series(y: np.ndarray, weight: float) -> np.ndarray:
    """An exponential moving average of `y` along its first axis that starts without a bias.

    Each value counts `weight` times as much as the one after it; 0 leaves `y` as it is.
    NaNs stay and do not spread. The same as pandas' `ewm(alpha=1 - weight).mean()`
    on the values that are there.

    Args:
      y: the values, shape (P, ...).
      weight: in [0, 1).

    Returns:
      Their averages, shape (P, ...).
    """
    if not 0 < weight < 1:
        return y
    there = np.isfinite(y)
    filled, smoothed = np.where(there, y, 0.0), np.full_like(y, np.nan)
    total, mass = np.zeros(y.shape[1:]), np.zeros(y.shape[1:])
    for i in range(len(y)):
        share = np.where(there[i], weight, 1.0)
        total = share * total + filled[i]
        mass = share * mass + there[i]
        np.divide(total, mass, out=smoothed[i : i + 1], where=there[i : i + 1])
    return smoothed


def smooth_split_curves(curves: list[LearningCurve], split: str, weight: float) -> list[LearningCurve]:
    """`build_metric_curves` with those of one split, which share their x, smoothed."""
    chosen = [curve for curve in curves if curve.split == split]
    if not chosen or not 0 < weight < 1:
        return curves
    columns = smooth_series(np.stack([curve.y for curve in chosen], axis=1), weight).T
    means = {curve.series: column for curve, column in zip(chosen, columns, strict=True)}
    return [replace(curve, y=means[curve.series]) if curve.split == split else curve for curve in curves]


def thin_curve(curve: LearningCurve, most: int) -> LearningCurve:
    """At most `most` points of a curve, every peak of it among them, or all if they are fewer.

    Of each group of neighbours the lowest and the highest are kept, as measured, and of the
    whole curve the last: MinMax aggregation, as in Jugel, Jerzak, Hackenbroich and Markl, "M4:
    A Visualization-Oriented Time Series Data Aggregation", VLDB 2014. The groups begin at the
    curve's start and double in size as it grows, so that points already drawn stay where they
    are from one update to the next.

    Args:
      curve: P points; NaN where there is none, and a group of nothing else stays a gap.
      most: at least 3.
    """
    points = len(curve.y)
    if points <= most:
        return curve
    group = 2
    while 2 * -(-points // group) >= most:
        group *= 2
    groups = -(-points // group)
    padded = np.full(groups * group, np.nan)
    padded[:points] = curve.y
    table, starts = padded.reshape(groups, group), np.arange(groups) * group
    empty = np.isnan(table)
    lowest = starts + np.where(empty, np.inf, table).argmin(axis=1)
    highest = starts + np.where(empty, -np.inf, table).argmax(axis=1)
    kept = np.unique(np.concatenate([lowest, highest, [points - 1]]))
    return LearningCurve(curve.series, curve.split, curve.x[kept], curve.y[kept])


def find_latest_epoch_row(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The last end of an epoch, where test figures stand; None before the first."""
    return next((row for row in reversed(rows) if row.get("kind") == "epoch"), None)


def find_reported_epoch_row(run: runs.Run, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The end of the epoch whose figures a run is shown by; None before the first.

    The latest as long as it trains, then that of `runs.select_default_epoch`.
    """
    ended = {row["epoch"]: row for row in rows if row.get("kind") == "epoch"}
    if not ended or run.active:
        return find_latest_epoch_row(rows)
    return ended[runs.select_default_epoch(run, sorted(ended))]


def tabulate_history(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The whole history as columns for a CSV file: one row a line, members side by side."""
    columns: dict[str, list[Any]] = {}
    flat = [_flatten_history_row(row) for row in rows]
    for name in dict.fromkeys(name for row in flat for name in row):
        columns[name] = [row.get(name) for row in flat]
    return columns


def _flatten_history_row(row: dict[str, Any]) -> dict[str, Any]:
    """One line with its per-member lists spread out: "test_loss" -> "test_loss_1", ..."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, list):
            flat |= {f"{name}_{m + 1}": item for m, item in enumerate(value)}
        else:
            flat[name] = value
    return flat
