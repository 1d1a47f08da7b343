"""The committees' figures over their size: the mean, its band, the single members, and beyond."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import FIGURES, Committee, Curve
from ensemble.analysis.members.enough import Enough
from ensemble.analysis.members.extrapolation import Extrapolation, extrapolate
from ensemble.analysis.quality.metrics import BY_NAME
from ensemble.figures import lines
from ensemble.figures.palette import Palette, wash
from ensemble.wording import formats
from ensemble.wording.verdicts import committee as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {name: BY_NAME[name].short for name in FIGURES}
UNITS = {name: BY_NAME[name].axis for name in FIGURES}
EXPECTED = "expected, not measured"


def in_words(value: float, name: str, n: int) -> str:
    """A figure as it is written on every screen."""
    return formats.percent(value, n) if name == "accuracy" else formats.significant(value)


def figure(
    judged: Committee, name: str, enough: Enough | None, title: str, palette: Palette
) -> "go.Figure":
    """One figure over the committee's size: the mean, its band, the single members, enough.

    Args:
      judged: the committees.
      name: one of `FIGURES`.
      enough: how many members are enough by that figure; None where it has no margin.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    found = committees.curve(judged, name)
    beyond = extrapolate(judged, name)
    last = int(beyond.size[-1]) if beyond else judged.members
    scale = 100 if name == "accuracy" else 1
    traces = [
        *band(found, scale),
        mean(found, name, judged.n, palette),
        *(expected(found, beyond, palette) if beyond else ()),
        *singles(judged, name, palette),
    ]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    if enough:
        add_margin(chart, enough, float(found.mean[-1]), palette)
        if enough.passed:
            add_ring(chart, enough.size, scale * found.mean[enough.size - 1], name, palette, last)
    chart.update_layout(lines.layout(title, 440, palette))
    chart.update_xaxes(
        title="members in the committee",
        fixedrange=True,
        range=ends(last),
        dtick=1 if last <= 16 else 8 if last > 32 else 4,
        tick0=0,
    )
    chart.update_yaxes(
        title=UNITS[name],
        ticksuffix=" %" if name == "accuracy" else "",
        fixedrange=True,
        automargin=True,
    )
    return chart


def add_ring(
    chart: "go.Figure", at: int, height: float, name: str, palette: Palette, last: int
) -> None:
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
    left = at > sum(ends(last)) / 2
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


def add_margin(chart: "go.Figure", enough: Enough, whole: float, palette: Palette) -> None:
    """The band of losses that are accepted, from the whole ensemble's value on."""
    scale, worse = (100, -1) if enough.figure == "accuracy" else (1, 1)
    far = whole + worse * enough.margin
    chart.add_hrect(
        y0=scale * min(whole, far),
        y1=scale * max(whole, far),
        line_width=0,
        name="margin",
        fillcolor=palette.primary,
        opacity=0.25,
        layer="below",
        annotation_text=f"accepted: {words.loss(enough.margin, enough.figure)}",
        annotation_position="bottom right" if worse < 0 else "top right",
        annotation_yshift=16 * worse,
        annotation_font={"color": palette.ink, "size": 12},
    )


def expected(found: Curve, beyond: Extrapolation, palette: Palette) -> list[dict[str, Any]]:
    """What is expected of more members than there are: dashed, with its interval."""
    size = np.concatenate([found.size[-1:], beyond.size])
    middle = np.concatenate([found.mean[-1:], beyond.mean])
    hovers = [
        f"{formats.count(int(k), 'member')}: {formats.significant(value)}, {EXPECTED}<br>95 %: "
        f"{formats.significant(low)} to {formats.significant(high)}"
        for k, value, low, high in zip(
            beyond.size, beyond.mean, beyond.low, beyond.high, strict=True
        )
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
        {
            **edge,
            "y": beyond.high,
            "name": "expected, high",
            "fill": "tonexty",
            "fillcolor": wash(),
        },
        {
            "x": size,
            "y": middle,
            "mode": "lines",
            "name": EXPECTED,
            "legendgroup": "expected",
            "line": {**lines.bold(palette), "dash": "dash"},
            "hoverinfo": "text",
            "hovertext": ["", *hovers],
            "cliponaxis": False,
        },
    ]


def ends(last: int) -> list[float]:
    """The ends of the axis of sizes from 1: a little room on both sides."""
    room = 0.03 * last + 0.15
    return [1 - room, last + room]


def band(found: Curve, scale: float) -> list[dict[str, Any]]:
    """From the worst to the best committee of each size."""
    line = {
        "x": found.size,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "legendgroup": "band",
    }
    return [
        {**line, "y": scale * found.low, "showlegend": False, "name": "lowest"},
        {
            **line,
            "y": scale * found.high,
            "fill": "tonexty",
            "name": "best to worst",
            "fillcolor": wash(),
        },
    ]


def mean(found: Curve, name: str, n: int, palette: Palette) -> dict[str, Any]:
    """The mean over the committees of each size."""
    hovers = [
        f"{formats.count(int(size), 'member')}: {in_words(middle, name, n)} on average, "
        f"{in_words(low, name, n)} to {in_words(high, name, n)}<br>"
        f"{formats.count(int(count), 'committee')}"
        for size, middle, low, high, count in zip(
            found.size, found.mean, found.low, found.high, found.count, strict=True
        )
    ]
    return {
        "x": found.size,
        "y": (100 if name == "accuracy" else 1) * found.mean,
        "mode": "lines+markers" if len(found.size) <= 16 else "lines",
        "marker": {"size": 7},
        "line": lines.bold(palette),
        "name": "mean of the committees",
        "cliponaxis": False,
        "hovertext": hovers,
        "hoverinfo": "text",
    }


def singles(judged: Committee, name: str, palette: Palette) -> list[dict[str, Any]]:
    """Each member alone, a dot at size 1."""
    M, values = judged.members, getattr(judged, name)[: judged.members]
    traces = lines.lines(
        [[1]] * M,
        [[(100 if name == "accuracy" else 1) * value] for value in values],
        [
            [f"Member {m + 1} alone: {in_words(value, name, judged.n)}"]
            for m, value in enumerate(values)
        ],
        cliponaxis=False,
    )
    marks = [
        {"color": trace["line"]["color"], "size": 9, "line": {"color": palette.ground, "width": 1}}
        for trace in traces
    ]
    return [
        {**trace, "mode": "markers", "marker": mark, "opacity": max(0.6, trace["opacity"])}
        for trace, mark in zip(traces, marks, strict=True)
    ]


def alt(found: Curve, name: str, n: int) -> str:
    """The picture in words."""
    first, last = in_words(found.mean[0], name, n), in_words(found.mean[-1], name, n)
    return f"Mean {NAMES[name]} over the committee's size, from {first} to {last}"


def table(judged: Committee, best: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Every size: how many committees, each figure's mean, least and largest; and beyond M.

    The column `what` tells the two apart; an expected figure has the ends of its 95 % interval.

    Args:
      judged: the committees.
      best: the members of the best one of each size, from 0, the smallest first.
    """
    curves = {name: committees.curve(judged, name) for name in FIGURES}
    first = curves["accuracy"]
    columns: dict[str, Any] = {"size": first.size, "committees": first.count}
    for name, found in curves.items():
        columns |= {
            f"{name}_mean": found.mean,
            f"{name}_least": found.low,
            f"{name}_largest": found.high,
        }
    columns["best_by_nll"] = [" ".join(str(member + 1) for member in who) for who in best]
    columns["what"] = ["measured"] * judged.members
    laws = {name: law for name in FIGURES if (law := extrapolate(judged, name))}
    rows = [pd.DataFrame(columns)]
    for law in list(laws.values())[:1]:
        more: dict[str, Any] = {"size": law.size, "what": [EXPECTED] * len(law.size)}
        for name, one in laws.items():
            more |= {
                f"{name}_mean": one.mean,
                f"{name}_low_95": one.low,
                f"{name}_high_95": one.high,
            }
        rows.append(pd.DataFrame(more))
    return pd.concat(rows, ignore_index=True)


GLOSS = {
    "accuracy": "the share that is right",
    "nll": "what the label's probability costs, in nats",
    "brier": "the squared distance to the label, 0 to 2",
    "ece": "how far confidence and accuracy lie apart",
}


def sees(judged: Committee, found: Curve, name: str) -> str:
    """What to see in the curve of one figure."""
    first, last = in_words(found.mean[0], name, judged.n), in_words(found.mean[-1], name, judged.n)
    return (
        f"{NAMES[name]} ({GLOSS[name]}) goes from {first} for one member to {last} for "
        f"{words.everyone(judged.members)}; the band is from the best to the worst committee of "
        f"a size. {words.looked_at(judged)}."
    )
