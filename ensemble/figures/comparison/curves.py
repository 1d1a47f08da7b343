"""Curves of groups of runs: each mean bold with its band, the single runs thin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.comparison.group_curves import Doubles, GroupCurves, RunLine
from ensemble.figures import chart_style
from ensemble.figures.comparison import colors
from ensemble.figures.palette import MEMBER_HUES, Palette, parse_hex_color
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 480
# Points over all thin lines of a picture: what a screen shows and a second can send.
MAX_THIN_POINTS, MIN_LINE_POINTS = 12_000, 24
MAX_MARKED_EPOCHS = 10  # epochs, each of which has a mark
DASHES = {"test": "solid", "validation": "dashdot", "train": "dash"}
_X_AXIS_TITLES = {
    "epochs": "epochs",
    "steps": "steps",
    "seconds": "seconds of training",
    "img_member": "images times members",
}
CurvesBySplit = Sequence[tuple[str, Sequence[GroupCurves]]]


def plot_group_curves(
    of_splits: CurvesBySplit, *, what: str, x: str, title: str, palette: Palette, log: Sequence[str] = ()
) -> "go.Figure":
    """The curves of every group, those of each split with a dash of their own.

    Args:
      of_splits: "test", "validation" or "train", and the curves of each group, the same groups
        in the same order.
      what: "loss" or "accuracy".
      log: which axes are log, of "x" and "y"; accuracies then by the share that is wrong.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    wrong = what == "accuracy" and "y" in log
    chart = go.Figure([go.Scatter(curve_trace) for curve_trace in _build_curve_traces(of_splits, what, wrong)])
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    suffix = " %" if what == "accuracy" else ""
    chart.update_xaxes(title=_X_AXIS_TITLES[x], automargin=True, **_build_curve_axis("x" in log, chart, "x", ""))
    longest = max((value for trace in chart.data for value in trace.x), default=0.0)
    if x == "epochs" and "x" not in log and longest <= MAX_MARKED_EPOCHS:
        chart.update_xaxes(dtick=1)  # Plotly would mark halves of them
    chart.update_yaxes(
        title=_format_y_title(what, wrong, "y" in log),
        automargin=True,
        **_build_curve_axis("y" in log, chart, "y", suffix),
    )
    return chart


def _build_curve_axis(log: bool, chart: "go.Figure", which: str, suffix: str) -> dict[str, Any]:
    if not log:
        return {"type": "linear", "ticksuffix": suffix}
    every = [value for trace in chart.data for value in trace[which]]
    return {"type": "log", **chart_style.build_log_ticks(every, suffix)}


def _format_y_title(what: str, wrong: bool, log: bool) -> str:
    if what == "accuracy":
        return "share that is wrong, log axis" if wrong else "accuracy"
    return "NLL in nats, log axis" if log else "NLL in nats"


def _build_curve_traces(of_splits: CurvesBySplit, what: str, wrong: bool) -> list[dict[str, Any]]:
    bands, thin, means = [], [], []
    count = sum(len(group_curves.lines) for _, split_curves in of_splits for group_curves in split_curves)
    most = max(MIN_LINE_POINTS, MAX_THIN_POINTS // max(1, count))
    for place, (split, groups) in enumerate(of_splits, 1):
        hues = colors.assign_group_colors(len(groups))
        for hue, curves in zip(hues, groups, strict=True):
            few = len(groups) <= len(MEMBER_HUES)
            in_legend = place == len(of_splits) and few
            scaled = _build_value_scaling(what, wrong)
            bands += _build_group_band(curves, hue, scaled)
            if curves.runs > 1 or len(curves.lines) > 1:
                thin += [
                    _build_run_line(line, hue, split=split, most=most, scaled=scaled, curves=curves)
                    for line in curves.lines
                ]
            means.append(_build_group_mean(curves, hue, split=split, scaled=scaled, in_legend=in_legend, few=few))
    return [*bands, *thin, *means]


def _build_value_scaling(what: str, wrong: bool) -> Any:
    """What makes a value one of the axis: accuracies in per cent."""
    if what == "loss":
        return lambda y: y
    return (lambda y: 100 * (1 - y)) if wrong else (lambda y: 100 * y)


def _build_group_band(curves: GroupCurves, hue: str, scaled: Any) -> list[dict[str, Any]]:
    """The band of a group, in pieces where it has gaps; nothing where it has none."""
    known = np.isfinite(curves.low) & np.isfinite(curves.high)
    red, green, blue = parse_hex_color(hue)
    traces = []
    for piece in _find_gapless_slices(known):
        x = np.concatenate([curves.x[piece], curves.x[piece][::-1]])
        y = np.concatenate([scaled(curves.high[piece]), scaled(curves.low[piece])[::-1]])
        traces.append(
            {
                "x": round_line_values(x),
                "y": round_line_values(y),
                "mode": "lines",
                "fill": "toself",
                "line": {"width": 0},
                "fillcolor": f"rgba({red}, {green}, {blue}, 0.16)",
                "hoverinfo": "skip",
                "showlegend": False,
                "legendgroup": curves.group.key,
            }
        )
    return traces


def _find_gapless_slices(known: Any) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2) if b - a > 1]


def _build_run_line(line: RunLine, hue: str, split: str, most: int, scaled: Any, curves: GroupCurves) -> dict[str, Any]:
    kept = chart_style.select_drawn_points(len(line.x), most)
    who = f", {line.who}" if line.who.startswith("member ") else ""
    return _build_line_points(line.x[kept], scaled(line.y[kept])) | {
        "line": {"color": hue, "width": 1, "dash": DASHES[split]},
        "opacity": 0.45,
        "name": escaping.escape_plotly_text(f"{line.name}{who}, {split}"),
        "showlegend": False,
        "legendgroup": curves.group.key,
    }


def _build_group_mean(
    curves: GroupCurves, hue: str, split: str, scaled: Any, in_legend: bool, few: bool
) -> dict[str, Any]:
    """The mean of a group: bold, and by name in the legend, where there are few."""
    title = escaping.escape_plotly_text(curves.group.title)
    count_text = f" (mean of {curves.runs})" if curves.runs > 1 else ""
    hover = f"<b>{escaping.escape_plotly_template(curves.group.title)}{count_text}</b>, {split}"
    return _build_line_points(curves.x, scaled(curves.mean)) | {
        "line": {"color": hue, "width": 3 if few else 1.5, "dash": DASHES[split]},
        "name": f"{title}{count_text}",
        "opacity": 1 if few else 0.75,
        "showlegend": in_legend,
        "legendgroup": curves.group.key,
        "hovertemplate": f"{hover}<br>%{{x:.4~g}}: %{{y:.4~g}}<extra></extra>",
    }


def _build_line_points(x: Doubles, y: Doubles) -> dict[str, Any]:
    return {
        "x": round_line_values(x),
        "y": round_line_values(y),
        "mode": "lines+markers" if len(x) == 1 else "lines",
        "hovertemplate": "%{fullData.name}<br>%{x:.4~g}: %{y:.4~g}<extra></extra>",
    }


def round_line_values(values: Doubles) -> list[float | None]:
    """Five significant figures of each, None for what is not finite: small when it is sent."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]


def tabulate_group_curves(of_splits: CurvesBySplit, what: str, x: str) -> pd.DataFrame:
    """Every point: of each run or member, and of each mean with its band and its runs."""
    frames = []
    for split, each in of_splits:
        for curves in each:
            for line in curves.lines:
                frames.append(
                    _build_line_frame(
                        curves, split, run=line.run_id, who=line.who, x=x, what=what, places=line.x, y=line.y
                    )
                )
            whole = _build_line_frame(curves, split, run="", who="mean", x=x, what=what, places=curves.x, y=curves.mean)
            frames.append(whole.assign(low=curves.low, high=curves.high, runs=curves.n))
    rows = [frame for frame in frames if len(frame)]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def _build_line_frame(
    curves: GroupCurves, split: str, run: str, who: str, x: str, what: str, places: Doubles, y: Doubles
) -> pd.DataFrame:
    return pd.DataFrame({"group": curves.group.title, "run": run, "curve": who, "split": split, x: places, what: y})


_BAND_MEANINGS = {
    "range": "from the lowest to the highest run",
    "interval": "the 95 % interval of the mean over runs (Student's t)",
}
METRIC_TITLES = {"loss": "Loss", "accuracy": "Accuracy"}
VERDICT_METRICS = {"loss": "nll", "accuracy": "accuracy"}  # of the verdict on a curve's metric
CURVE_OWNERS = {"ensemble": "the ensemble", "mean member": "the average member", "members": "the members"}


def _format_group_value(what: str, end: float, curves: GroupCurves) -> str:
    if what == "loss":
        return formats.format_significant(end)
    return formats.format_percent(end, curves.group.runs[0].data.test_size)


def explain_group_curves_chart(
    curves_by_split: Sequence[tuple[str, Sequence[GroupCurves]]], band: str, who: str
) -> str:
    several = any(curves.runs > 1 for _, each in curves_by_split for curves in each)
    many = any(len(each) > len(MEMBER_HUES) for _, each in curves_by_split)
    parts = [
        "A line a group, coloured in the order of their settings; under the pointer its name."
        if many
        else "One colour per group."
    ]
    if several and many:
        parts.append(f"It is the mean of its runs; the band is {_BAND_MEANINGS[band]}.")
    elif who == "members":
        parts.append(
            f"Bold: the average member, each member thin; the band is {_BAND_MEANINGS[band]}."
            if several
            else "Bold: the average member, each member thin."
        )
    elif several:
        parts.append(f"Thin lines: single runs. Bold: their mean. Band: {_BAND_MEANINGS[band]}.")
    if len(curves_by_split) > 1:
        dashes = {"test": "solid", "validation": "dash-dotted", "train": "dashed"}
        parts.append("; ".join(f"{split} {dashes[split]}" for split, _ in curves_by_split).capitalize() + ".")
    return " ".join(parts)


def describe_group_curves_chart(
    curves_by_split: Sequence[tuple[str, Sequence[GroupCurves]]], what: str, who: str, over: str
) -> str:
    """The picture in words: each of a few groups where its mean ends."""
    text = f"{METRIC_TITLES[what]} of {CURVE_OWNERS[who]} over {_X_AXIS_TITLES[over]}"
    ends = []
    for split, each in curves_by_split:
        for curves in [group_curves for group_curves in each if len(group_curves.mean)][:6]:
            ends.append(f"{curves.group.title} on {split} at last {_format_group_value(what, curves.mean[-1], curves)}")
    return f"{text}: {'; '.join(ends)}"
