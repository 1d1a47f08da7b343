"""A figure of a group of runs as they trained: each run's line, their mean, and a band."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from ensemble.comparison.history_columns import load_history_columns
from ensemble.comparison.run_groups import RunGroup
from ensemble.errors import RunError
from ensemble.runs.store import Run

Doubles = NDArray[np.float64]

_X_AXES = {"epochs": "Epochs", "steps": "Steps", "seconds": "Seconds of training", "img_member": "Images times members"}
_CURVE_METRICS = {"loss": "NLL, nats", "accuracy": "Accuracy"}
_CURVE_SPLITS = ("train", "validation", "test")
_LINE_SUBJECTS = ("ensemble", "mean member", "members")
BANDS = {"range": "least to most of the runs", "interval": "95 % interval of the mean (Student's t)"}
_MAX_MEAN_POINTS = 400  # of a mean, at most
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class RunLine:
    """One run's line.

    Attributes:
      run_id: the run.
      name: what the run is called.
      who: "ensemble", "mean member", or "member 1", "member 2", …
      x: (P,), rising.
      y: (P,); NaN where the run had no finite figure.
    """

    run_id: str
    name: str
    who: str
    x: Doubles
    y: Doubles


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """A group's lines, and what they come to.

    Attributes:
      group: the runs.
      lines: of each run that has the figure; of "members" one a member.
      x: (P,), where the mean stands: everywhere that a line has a point, thinned to `_MAX_MEAN_POINTS`.
      mean: (P,), the mean over the runs that have come so far; of "members" that of the runs'
        mean members.
      low: (P,), the lower edge of the band; NaN where fewer than two runs have come so far.
      high: (P,), the upper edge.
      n: (P,), how many runs the mean is of. Where it is less than `runs`, the mean is of those
        runs alone that went on so long, and need not be that of all.
      runs: how many runs have the figure, without repetitions of a seed.
      band: "range" (least to most of the lines) or "interval" (95 % of the mean over runs).
      missing: names of the runs without the figure, and of those whose history cannot be read.
    """

    group: RunGroup
    lines: tuple[RunLine, ...]
    x: Doubles
    mean: Doubles
    low: Doubles
    high: Doubles
    n: NDArray[np.int64]
    runs: int
    band: str
    missing: tuple[str, ...]


def compute_group_curves(
    groups: Sequence[RunGroup],
    *,
    x: str = "epochs",
    figure: str = "loss",
    split: str = "test",
    who: str = "ensemble",
    band: str = "range",
) -> list[GroupCurves]:
    """The curves of each group.

    Between two of its points a run counts with the straight line between them, outside its own
    points not at all. The mean over members that are alone is the member, as is the ensemble.

    Args:
      groups: from `run_groups.group_runs`.
      x: "epochs", "steps" (of the optimizer), "seconds" (of training and testing) or
        "img_member" (images times members that were trained on).
      figure: "loss" (in nats) or "accuracy" (in [0, 1]).
      split: "train" (means since the line before, as it trained), "validation" or "test".
      who: "ensemble" (of the averaged probabilities), "mean member" or "members".
      band: "range" or "interval".

    Raises:
      ValueError: there is no such choice.

    Source of the interval: Student, "The probable error of a mean", Biometrika 6 (1908), 1-25.
    """
    for value, allowed in (
        (x, _X_AXES),
        (figure, _CURVE_METRICS),
        (split, _CURVE_SPLITS),
        (who, _LINE_SUBJECTS),
        (band, BANDS),
    ):
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}.")
    return [_compute_group(group, x, figure=figure, split=split, who=who, band=band) for group in groups]


def _compute_group(group: RunGroup, x: str, figure: str, split: str, who: str, band: str) -> GroupCurves:
    run_lines, missing, counted = [], [], []
    counts = {run.id for run in group.distinct_runs}
    for run in group.runs:
        try:
            of_run = _build_run_lines(run, x, figure, split, who)
        except RunError:
            of_run = []
        run_lines += of_run
        if not of_run:
            missing.append(run.name)
        elif run.id in counts:
            counted.append(of_run)
    grid = _thin_positions([line for of_run in counted for line in of_run])
    each = np.array([_mean_run_line(of_run, grid) for of_run in counted])
    each = each.reshape(len(counted), len(grid))
    n = np.isfinite(each).sum(axis=0)
    mean = _mean_of_finite(each)
    if band == "range":
        every = [_interpolate_line(line, grid) for of_run in counted for line in of_run]
        low, high = _range_band(np.array(every).reshape(len(every), len(grid)), n)
    else:
        low, high = _interval_band(each, mean, n)
    return GroupCurves(
        group=group,
        lines=tuple(run_lines),
        x=grid,
        mean=mean,
        low=low,
        high=high,
        n=n,
        runs=len(counted),
        band=band,
        missing=tuple(missing),
    )


def _build_run_lines(run: Run, x: str, figure: str, split: str, who: str) -> list[RunLine]:
    """The run's lines; none where it has no such figure."""
    rows = load_history_columns(run, "steps" if split == "train" else "epoch")
    if split == "train" and not len(rows.single["step"]):
        rows = load_history_columns(run, "epoch")
    place = _x_values(run, rows.single, x)
    members = rows.members[f"{split}_{figure}"]
    whole = rows.single[f"ensemble_{split}_{'nll' if figure == 'loss' else figure}"]
    if split == "train" and run.config.has_member_views and members.shape[1] > 1:
        whole = np.full_like(whole, np.nan)  # They saw different pixels: nothing to average.
    if members.shape[1] == 1 and not np.isfinite(whole).any():
        whole = members[:, 0]
    if who == "members":
        named = [(f"member {m + 1}", y) for m, y in enumerate(members.T)]
    else:
        named = [(who, whole if who == "ensemble" else _mean_of_finite(members.T))]
    known = np.isfinite(place)
    return [RunLine(run.id, run.name, name, place[known], y[known]) for name, y in named if np.isfinite(y[known]).any()]


def _x_values(run: Run, single: dict[str, Doubles], x: str) -> Doubles:
    """Where the lines stand on the axis; NaN where that is not known, as of an imported run."""
    if x == "epochs":
        return single["progress"]
    config = run.training_config
    if config is None:
        return np.full_like(single["progress"], np.nan)
    if x == "img_member":
        return single["step"] * config.batch_size * config.members
    return single["step" if x == "steps" else "seconds"]


def _thin_positions(run_lines: Sequence[RunLine]) -> Doubles:
    """All places where a line has a point; of too many, evenly, with the first and the last."""
    every = np.unique(np.concatenate([line.x for line in run_lines])) if run_lines else np.empty(0)
    if len(every) <= _MAX_MEAN_POINTS:
        return every
    return every[np.unique(np.linspace(0, len(every) - 1, _MAX_MEAN_POINTS).round().astype(int))]


def _interpolate_line(line: RunLine, grid: Doubles) -> Doubles:
    known = np.isfinite(line.y)
    return np.interp(grid, line.x[known], line.y[known], left=np.nan, right=np.nan)


def _mean_run_line(of_run: Sequence[RunLine], grid: Doubles) -> Doubles:
    return _mean_of_finite(np.array([_interpolate_line(line, grid) for line in of_run]))


def _mean_of_finite(each: Doubles) -> Doubles:
    """The mean of K lines (K, P), (P,), at each place of those that are known there; else NaN.

    A member that diverges is set aside while the others of its run go on.
    """
    n = np.isfinite(each).sum(axis=0)
    mean = np.full(each.shape[1], np.nan)
    return np.divide(np.nansum(each, axis=0), n, out=mean, where=n > 0)


def _range_band(every: Doubles, n: NDArray[np.int64]) -> tuple[Doubles, Doubles]:
    low = np.fmin.reduce(every, axis=0, initial=np.nan) if len(every) else np.empty(0)
    high = np.fmax.reduce(every, axis=0, initial=np.nan) if len(every) else np.empty(0)
    alone = n < 2
    return np.where(alone, np.nan, low), np.where(alone, np.nan, high)


def _interval_band(each: Doubles, mean: Doubles, n: NDArray[np.int64]) -> tuple[Doubles, Doubles]:
    """Student's interval of the mean over runs, where there are two at least."""
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    many = n > 1
    apart = np.where(np.isfinite(each), each - mean, 0.0)[:, many]
    error = np.sqrt((apart**2).sum(axis=0) / (n[many] - 1) / n[many])
    half = student.ppf((1 + LEVEL) / 2, n[many] - 1) * error
    low[many], high[many] = mean[many] - half, mean[many] + half
    return low, high
