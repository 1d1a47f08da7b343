"""The committees' figures over their size: the mean, its band, the single members, and beyond."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.committees import COMMITTEE_METRICS, CommitteeCurve, CommitteeEvaluation
from ensemble.analysis.members.extrapolation import Extrapolation, extrapolate_committee_curve
from ensemble.analysis.members.sufficient_size import SufficientSize
from ensemble.analysis.quality.metrics import METRICS_BY_NAME
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette, build_band_color
from ensemble.wording import formats
from ensemble.wording.verdicts import committee as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

METRIC_NAMES = {name: METRICS_BY_NAME[name].capitalized_term for name in COMMITTEE_METRICS}
METRIC_AXES = {name: METRICS_BY_NAME[name].axis_title for name in COMMITTEE_METRICS}
EXPECTED_LABEL = "expected, not measured"


def format_committee_metric(value: float, name: str, n: int) -> str:
    return formats.format_percent(value, n) if name == "accuracy" else formats.format_significant(value)


def plot_committee_curve(
    judged: CommitteeEvaluation, name: str, enough: SufficientSize | None, title: str, palette: Palette
) -> "go.Figure":
    """One figure over the committee's size: the mean, its band, the single members, enough.

    Args:
      name: one of `COMMITTEE_METRICS`.
      enough: how many members are enough by that figure; None where it has no margin.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    curve = committees.committee_curve(judged, name)
    beyond = extrapolate_committee_curve(judged, name)
    last = int(beyond.size[-1]) if beyond else judged.members
    scale = 100 if name == "accuracy" else 1
    traces = [
        *_build_committee_band(curve, scale),
        _build_committee_mean(curve, name, judged.n, palette),
        *(_build_expected_curve(curve, beyond, palette) if beyond else ()),
        *_build_lone_member_dots(judged, name, palette),
    ]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    if enough:
        _add_margin_band(chart, enough, float(curve.mean[-1]), palette)
        if enough.smallest_sufficient:
            add_enough_marker(
                chart, enough.size, height=scale * curve.mean[enough.size - 1], name=name, palette=palette, last=last
            )
    chart.update_layout(chart_style.build_chart_layout(title, 440, palette))
    chart.update_xaxes(
        title="members in the committee",
        fixedrange=True,
        range=_compute_size_range(last),
        dtick=1 if last <= 16 else 8 if last > 32 else 4,
        tick0=0,
    )
    chart.update_yaxes(
        title=METRIC_AXES[name], ticksuffix=" %" if name == "accuracy" else "", fixedrange=True, automargin=True
    )
    return chart


def add_enough_marker(chart: "go.Figure", at: int, height: float, name: str, palette: Palette, last: int) -> None:
    """Marks the smallest size that is enough, on an axis of sizes up to `last`."""
    chart.add_scatter(
        x=[at],
        y=[height],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        name="enough",
        cliponaxis=False,
        marker={"symbol": "circle-open", "size": 18, "color": palette.ink, "line": {"width": 2}},
    )
    below = name == "accuracy"
    # To the side that has more room: on a phone half of the figure is all that the words need.
    left = at > sum(_compute_size_range(last)) / 2
    chart.add_annotation(
        x=at,
        y=height,
        text=f"<b>{at} {'is' if at == 1 else 'are'} enough</b>",
        showarrow=False,
        xanchor="right" if left else "left",
        yanchor="top" if below else "bottom",
        xshift=-10 if left else 10,
        yshift=-8 if below else 8,
        font={"color": palette.ink, "size": 13},
    )


def _add_margin_band(chart: "go.Figure", enough: SufficientSize, whole: float, palette: Palette) -> None:
    scale, worse = (100, -1) if enough.metric == "accuracy" else (1, 1)
    far = whole + worse * enough.margin
    chart.add_hrect(
        y0=scale * min(whole, far),
        y1=scale * max(whole, far),
        line_width=0,
        name="margin",
        fillcolor=palette.primary,
        opacity=0.25,
        layer="below",
        annotation_text=f"accepted: {words.format_committee_loss(enough.margin, enough.metric)}",
        annotation_position="bottom right" if worse < 0 else "top right",
        annotation_yshift=16 * worse,
        annotation_font={"color": palette.ink, "size": 12},
    )


def _build_expected_curve(curve: CommitteeCurve, beyond: Extrapolation, palette: Palette) -> list[dict[str, Any]]:
    """What is expected of more members than there are: dashed, with its interval."""
    size = np.concatenate([curve.size[-1:], beyond.size])
    middle = np.concatenate([curve.mean[-1:], beyond.mean])
    hovers = [
        f"{formats.format_count(int(k), 'member')}: {formats.format_significant(value)}, "
        f"{EXPECTED_LABEL}<br>95 %: "
        f"{formats.format_significant(low)} to {formats.format_significant(high)}"
        for k, value, low, high in zip(beyond.size, beyond.mean, beyond.low, beyond.high, strict=True)
    ]
    edge = {
        "x": beyond.size,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "legendgroup": "expected",
        "showlegend": False,
    }
    return [
        {**edge, "y": beyond.low, "name": "expected, low"},
        {**edge, "y": beyond.high, "name": "expected, high", "fill": "tonexty", "fillcolor": build_band_color()},
        {
            "x": size,
            "y": middle,
            "mode": "lines",
            "name": EXPECTED_LABEL,
            "legendgroup": "expected",
            "line": {**chart_style.style_ensemble_line(palette), "dash": "dash"},
            "hoverinfo": "text",
            "hovertext": ["", *hovers],
            "cliponaxis": False,
        },
    ]


def _compute_size_range(last: int) -> list[float]:
    """The ends of the axis of sizes from 1: a little room on both sides."""
    room = 0.03 * last + 0.15
    return [1 - room, last + room]


def _build_committee_band(curve: CommitteeCurve, scale: float) -> list[dict[str, Any]]:
    line = {"x": curve.size, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "band"}
    return [
        {**line, "y": scale * curve.low, "showlegend": False, "name": "lowest"},
        {**line, "y": scale * curve.high, "fill": "tonexty", "name": "best to worst", "fillcolor": build_band_color()},
    ]


def _build_committee_mean(curve: CommitteeCurve, name: str, n: int, palette: Palette) -> dict[str, Any]:
    hovers = [
        f"{formats.format_count(int(size), 'member')}: "
        f"{format_committee_metric(middle, name, n)} on average, {format_committee_metric(low, name, n)} "
        f"to {format_committee_metric(high, name, n)}<br>{formats.format_count(int(count), 'committee')}"
        for size, middle, low, high, count in zip(
            curve.size, curve.mean, curve.low, curve.high, curve.count, strict=True
        )
    ]
    return {
        "x": curve.size,
        "y": (100 if name == "accuracy" else 1) * curve.mean,
        "mode": "lines+markers" if len(curve.size) <= 16 else "lines",
        "marker": {"size": 7},
        "line": chart_style.style_ensemble_line(palette),
        "name": "mean of the committees",
        "cliponaxis": False,
        "hovertext": hovers,
        "hoverinfo": "text",
    }


def _build_lone_member_dots(judged: CommitteeEvaluation, name: str, palette: Palette) -> list[dict[str, Any]]:
    """Each member alone, a dot at size 1."""
    M, values = judged.members, getattr(judged, name)[: judged.members]
    traces = chart_style.build_member_lines(
        [[1]] * M,
        [[(100 if name == "accuracy" else 1) * value] for value in values],
        [[f"Member {m + 1} alone: {format_committee_metric(value, name, judged.n)}"] for m, value in enumerate(values)],
        cliponaxis=False,
    )
    marks = [
        {"color": trace["line"]["color"], "size": 9, "line": {"color": palette.ground, "width": 1}} for trace in traces
    ]
    return [
        {**trace, "mode": "markers", "marker": mark, "opacity": max(0.6, trace["opacity"])}
        for trace, mark in zip(traces, marks, strict=True)
    ]


def describe_committee_chart(curve: CommitteeCurve, name: str, n: int) -> str:
    first, last = (format_committee_metric(curve.mean[0], name, n), format_committee_metric(curve.mean[-1], name, n))
    return f"Mean {METRIC_NAMES[name]} over the committee's size, from {first} to {last}"


def tabulate_committee_sizes(judged: CommitteeEvaluation, best: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Every size: how many committees, each figure's mean, least and largest; and beyond M.

    The column `what` tells the two apart; an expected figure has the ends of its 95 % interval.

    Args:
      best: the members of the best one of each size, from 0, the smallest first.
    """
    curves = {name: committees.committee_curve(judged, name) for name in COMMITTEE_METRICS}
    first = curves["accuracy"]
    columns: dict[str, Any] = {"size": first.size, "committees": first.count}
    for name, curve in curves.items():
        columns |= {f"{name}_mean": curve.mean, f"{name}_least": curve.low, f"{name}_largest": curve.high}
    columns["best_by_nll"] = [" ".join(str(member + 1) for member in who) for who in best]
    columns["what"] = ["measured"] * judged.members
    laws = {name: law for name in COMMITTEE_METRICS if (law := extrapolate_committee_curve(judged, name))}
    rows = [pd.DataFrame(columns)]
    for law in list(laws.values())[:1]:
        more: dict[str, Any] = {"size": law.size, "what": [EXPECTED_LABEL] * len(law.size)}
        for name, expected_curve in laws.items():
            more |= {
                f"{name}_mean": expected_curve.mean,
                f"{name}_low_95": expected_curve.low,
                f"{name}_high_95": expected_curve.high,
            }
        rows.append(pd.DataFrame(more))
    return pd.concat(rows, ignore_index=True)


_METRIC_GLOSSES = {
    "accuracy": "the share that is right",
    "nll": "what the label's probability costs, in nats",
    "brier": "the squared distance to the label, 0 to 2",
    "ece": "how far confidence and accuracy lie apart",
}


def explain_committee_chart(judged: CommitteeEvaluation, curve: CommitteeCurve, name: str) -> str:
    first, last = (
        format_committee_metric(curve.mean[0], name, judged.n),
        format_committee_metric(curve.mean[-1], name, judged.n),
    )
    return (
        f"{METRIC_NAMES[name]} ({_METRIC_GLOSSES[name]}) goes from {first} for a single member, on "
        f"average, to {last} for {words.format_all_members(judged.members)}; the band is from the "
        f"best to the worst committee of a size. {words.describe_judged_committees(judged)}."
    )
