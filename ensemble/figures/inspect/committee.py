"""The committees' figures over their size: the mean, its band, and the single members."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import FIGURES, Committee, Curve, Enough
from ensemble.figures import lines
from ensemble.figures.palette import Palette, wash
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {"accuracy": "Accuracy", "nll": "NLL", "brier": "Brier", "ece": "ECE"}
UNITS = {"accuracy": "accuracy", "nll": "NLL (nats)", "brier": "Brier score", "ece": "ECE"}


def in_words(value: float, name: str, n: int) -> str:
    """A figure as it is written on every screen."""
    return formats.percent(value, n) if name == "accuracy" else formats.significant(value)


def figure(
    judged: Committee, name: str, enough: Enough, title: str, palette: Palette
) -> "go.Figure":
    """One figure over the committee's size: the mean, its band, the single members, enough.

    Args:
      judged: the committees.
      name: one of `FIGURES`.
      enough: the smallest size that cannot be told from the whole.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    found = committees.curve(judged, name)
    scale = 100 if name == "accuracy" else 1
    traces = [
        *band(found, scale),
        mean(found, name, judged.n, palette),
        *singles(judged, name, palette),
    ]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    at, height = enough.size, scale * found.mean[enough.size - 1]
    chart.add_scatter(x=[at], y=[height], mode="markers", hoverinfo="skip", showlegend=False,
                      name="enough", cliponaxis=False,
                      marker={"symbol": "circle-open", "size": 18, "color": palette.ink,
                              "line": {"width": 2}})  # fmt: skip
    below = name == "accuracy"
    chart.add_annotation(
        x=at, y=height, text=f"<b>{at} {'is' if at == 1 else 'are'} enough</b>", showarrow=False,
        xanchor="left", yanchor="top" if below else "bottom", xshift=10, yshift=-8 if below else 8,
        font={"color": palette.ink, "size": 13},
    )  # fmt: skip
    chart.update_layout(lines.layout(title, 440, palette))
    chart.update_xaxes(title="members in the committee", fixedrange=True, range=ends(found),
                       dtick=1 if judged.members <= 16 else 8 if judged.members > 32 else 4,
                       tick0=0)  # fmt: skip
    chart.update_yaxes(title=UNITS[name], ticksuffix=" %" if name == "accuracy" else "",
                       fixedrange=True, automargin=True)  # fmt: skip
    return chart


def ends(found: Curve) -> list[float]:
    """The ends of the axis of sizes: a little room on both sides."""
    room = 0.03 * len(found.size) + 0.15
    return [1 - room, len(found.size) + room]


def band(found: Curve, scale: float) -> list[dict[str, Any]]:
    """From the worst to the best committee of each size."""
    line = {"x": found.size, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip",
            "legendgroup": "band"}  # fmt: skip
    return [
        {**line, "y": scale * found.low, "showlegend": False, "name": "lowest"},
        {**line, "y": scale * found.high, "fill": "tonexty", "name": "best to worst",
         "fillcolor": wash()},
    ]  # fmt: skip


def mean(found: Curve, name: str, n: int, palette: Palette) -> dict[str, Any]:
    """The mean over the committees of each size."""
    hovers = [
        f"{formats.count(int(size), 'member')}: {in_words(middle, name, n)} on average, "
        f"{in_words(low, name, n)} to {in_words(high, name, n)}<br>"
        f"{formats.count(int(count), 'committee')}"
        for size, middle, low, high, count in
        zip(found.size, found.mean, found.low, found.high, found.count, strict=True)
    ]  # fmt: skip
    return {
        "x": found.size, "y": (100 if name == "accuracy" else 1) * found.mean,
        "mode": "lines+markers" if len(found.size) <= 16 else "lines", "marker": {"size": 7},
        "line": lines.bold(palette), "name": "mean of the committees", "cliponaxis": False,
        "hovertext": hovers, "hoverinfo": "text",
    }  # fmt: skip


def singles(judged: Committee, name: str, palette: Palette) -> list[dict[str, Any]]:
    """Each member alone, a dot at size 1."""
    M, values = judged.members, getattr(judged, name)[: judged.members]
    traces = lines.lines(
        [[1]] * M, [[(100 if name == "accuracy" else 1) * value] for value in values],
        [[f"Member {m + 1} alone: {in_words(value, name, judged.n)}"]
         for m, value in enumerate(values)], cliponaxis=False,
    )  # fmt: skip
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


def table(judged: Committee) -> pd.DataFrame:
    """Every size: how many committees, and each figure's mean, least and largest."""
    curves = {name: committees.curve(judged, name) for name in FIGURES}
    first = curves["accuracy"]
    columns: dict[str, Any] = {"size": first.size, "committees": first.count}
    for name, found in curves.items():
        columns |= {f"{name}_mean": found.mean, f"{name}_least": found.low,
                    f"{name}_largest": found.high}  # fmt: skip
    columns["best_by_nll"] = [
        " ".join(str(member + 1) for member in committees.best_of_size(judged, int(size)))
        for size in first.size
    ]
    return pd.DataFrame(columns)
