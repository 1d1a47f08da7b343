"""How the members and their ensemble are drawn over each other: thin and coloured, bold in ink."""

import functools
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.figures.palette import (
    ENSEMBLE_WIDTH,
    MEMBER_HUES,
    MEMBER_WIDTH,
    Palette,
    build_band_color,
    member_color,
    member_opacity,
)
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Points of one line: more than a screen is wide would only be sent and not seen.
MAX_LINE_POINTS = 400
_BAND_QUANTILES = 0.05, 0.95  # of the members' lines, if there are many

MAX_TITLE_LETTERS = 44  # letters of a title to a line: what a phone is wide

_LEGEND = {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"}


def build_member_lines(
    xs: Sequence[Any], ys: Sequence[Any], hovers: Sequence[Sequence[str]], **more: Any
) -> list[dict[str, Any]]:
    """The members' lines as Plotly traces; the legend names each of a few, and many at once.

    More than `MAX_SHOWN_MEMBERS` lines are drawn as `describe_member_lines` reports; if each is a point, as one trace.
    """
    M = len(xs)
    many = len(MEMBER_HUES) < M
    if M > MAX_SHOWN_MEMBERS:
        if all(len(x) == 1 for x in xs):
            merged = ([row[0] for row in rows] for rows in (xs, ys, hovers))
            return [_style_merged_trace(M, *merged) | more]
        return _summarize_member_lines(xs, ys, hovers, more)
    return [
        {
            "x": xs[m],
            "y": ys[m],
            "mode": "lines",
            "line": style_member_line(m, M),
            "opacity": member_opacity(M),
            "name": f"{M} members" if many else f"{m + 1}" if m else "member 1",
            "legendgroup": "members" if many else f"member {m + 1}",
            "showlegend": m == 0 or not many,
            "hovertext": hovers[m],
            "hoverinfo": "text",
            **more,
        }
        for m in range(M)
    ]


def _style_merged_trace(M: int, x: list[Any], y: list[Any], hovertext: list[str]) -> dict[str, Any]:
    return {
        "x": x,
        "y": y,
        "hovertext": hovertext,
        "hoverinfo": "text",
        "mode": "lines",
        "line": style_member_line(0, M),
        "opacity": member_opacity(M),
        "name": f"{M:,} members",
        "legendgroup": "members",
    }


def _summarize_member_lines(
    xs: Sequence[Any], ys: Sequence[Any], hovers: Sequence[Sequence[str]], more: dict[str, Any]
) -> list[dict[str, Any]]:
    """A band between two quantiles of the lines at each x, and the lines with the lowest and the highest mean."""
    M = len(xs)
    grid = np.unique(np.concatenate([np.asarray(x, float) for x in xs]))
    if len(grid) > MAX_LINE_POINTS:
        grid = np.linspace(grid[0], grid[-1], MAX_LINE_POINTS)
    lines = [(np.asarray(x, float), np.array(y, float)) for x, y in zip(xs, ys, strict=True)]
    known = [np.isfinite(y) for _, y in lines]
    curves = np.array(
        [
            np.interp(grid, x[kept], y[kept], left=np.nan, right=np.nan) if kept.any() else np.full(len(grid), np.nan)
            for (x, y), kept in zip(lines, known, strict=True)
        ]
    )
    there = np.isfinite(curves).any(axis=0)
    low, high = np.nanquantile(curves[:, there], _BAND_QUANTILES, axis=0)
    means = np.array([y[kept].mean() if kept.any() else np.nan for (_, y), kept in zip(lines, known, strict=True)])
    ends = {"lowest": int(np.nanargmin(means)), "highest": int(np.nanargmax(means))}
    edge = {"x": grid[there], "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "members"}
    return [
        {**edge, "y": low, "name": f"{M:,} members, low", "showlegend": False, **more},
        {
            **edge,
            "y": high,
            "name": f"{M:,} members, 5 % to 95 %",
            "fill": "tonexty",
            "fillcolor": build_band_color(),
            **more,
        },
        *(
            {
                "x": xs[m],
                "y": ys[m],
                "mode": "lines",
                "line": style_member_line(place, len(ends)),
                "name": f"{which} mean",
                "hovertext": hovers[m],
                "hoverinfo": "text",
                **more,
            }
            for place, (which, m) in enumerate(ends.items())
        ),
    ]


def describe_member_lines(M: int) -> str:
    """Return what `build_member_lines` draws of many members; "" if it draws each."""
    if M <= MAX_SHOWN_MEMBERS:
        return ""
    return (
        f" Of the {M:,} members the picture shows the range from the 5 % to the 95 % quantile, and the two with the "
        "lowest and the highest mean."
    )


def describe_spread_members(M: int) -> str:
    """Return which members are shown of many, those of `EnsemblePredictions.spread_members`; "" if all are."""
    if M <= MAX_SHOWN_MEMBERS:
        return ""
    return f" {MAX_SHOWN_MEMBERS} of the {M:,} members are shown, evenly from the least to the most accurate."


def format_member_name(m: int) -> str:
    """A member's name, from its number as it is counted here, from 0."""
    return f"member {m + 1}"


def style_member_line(m: int, M: int) -> dict[str, Any]:
    """How the line of member `m` of `M` looks; one that is alone is drawn a little wider."""
    width = MEMBER_WIDTH if M > 1 else 2 * MEMBER_WIDTH
    return {"color": member_color(m, M), "width": width}


def style_ensemble_line(palette: Palette) -> dict[str, Any]:
    return {"color": palette.ink, "width": ENSEMBLE_WIDTH}


def build_percent_ticks(ticks: Sequence[float] = (0, 0.2, 0.4, 0.6, 0.8, 1)) -> dict[str, Any]:
    labels = [formats.format_percent(tick, places=0) for tick in ticks]
    return {"tickvals": list(ticks), "ticktext": labels}


def build_log_ticks(values: Sequence[Any], suffix: str = "") -> dict[str, Any]:
    """The marks of a log axis, each a whole number: Plotly's own stand as single digits between.

    Args:
      values: what is drawn on it; what is not a number above 0 has no place there.
      suffix: stands behind each, as " %".

    Returns:
      Layout of a Plotly axis: marks at 1, 2 and 5 of each decade, at powers of 10 where there are
      many decades, and at even steps within less than half of one.
    """
    positives = np.array([value for value in values if value is not None], float)
    positives = positives[np.isfinite(positives) & (positives > 0)]
    if not len(positives):
        return {}
    low, high = np.log10(positives.min()), np.log10(positives.max())
    if high - low < 0.5:
        marks = compute_even_ticks(10**low, 10**high)
    else:
        leads = (1, 2, 5) if high - low <= 3 else (1,)
        decades = range(math.floor(low), math.ceil(high) + 1, max(1, round((high - low) / 8)))
        every = [float(f"{lead}e{decade}") for decade in decades for lead in leads]
        # One beyond either end: the axis has some room there.
        marks = [tick for tick in every if low - 0.2 <= math.log10(tick) <= high + 0.2]
    return {"tickvals": marks, "ticktext": [f"{_format_tick(mark)}{suffix}" for mark in marks]}


def compute_even_ticks(low: float, high: float) -> list[float]:
    """Round numbers in even steps from `low` to `high`, three to seven; one of a single number."""
    if high - low <= 1e-9 * high:
        return [float(f"{low:.3g}")]
    decade = 10.0 ** math.floor(math.log10(high - low))
    for lead in (5, 2, 1, 0.5, 0.2):
        step = lead * decade
        places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        if len(places) >= 3:
            break
    return [float(f"{place * step:.12g}") for place in places]


def _format_tick(mark: float) -> str:
    """A mark as people read it: "0.05", "2,000", from 10⁶ on and below 10⁻⁴ as "1e−5"."""
    if 1e-4 <= mark < 1e6:
        return formats.format_plain_number(int(mark) if mark == int(mark) else mark)
    return f"{mark:.3g}".replace("e+", "e").replace("e-0", "e−").replace("e-", "e−")


def select_drawn_points(n: int, most: int = MAX_LINE_POINTS) -> np.ndarray:
    """Which of `n` points of a curve to draw: all of a few, else evenly spread, both ends kept."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def build_chart_layout(title: str, height: int, palette: Palette, **more: Any) -> dict[str, Any]:
    """What the layouts of all these pictures share: a title that is saved with them, no drag.

    What stands after the title's first " · ", where it is from, gets lines of its own: a
    phone is too narrow for both, and Plotly cuts off what does not fit. A run's name may look
    like markup.
    """
    first, _, rest = title.partition(" · ")
    lines = _wrap_source_lines(rest)
    below = {"text": "<br>".join(map(escaping.escape_plotly_text, lines)), "font": {"size": 12}}
    return {
        "title": {
            "text": escaping.escape_plotly_text(first),
            "font": {"size": 14},
            "subtitle": below,
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 8},
        },
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 40 + 18 * len(lines), "b": 90},
        "legend": _LEGEND,
        "hovermode": "closest",
        "dragmode": False,
        "template": build_plotly_template(palette),
        **more,
    }


@functools.lru_cache(maxsize=8)
def build_plotly_template(palette: Palette) -> "go.layout.Template":
    """What is drawn in the page's colours unless a figure says otherwise.

    A template as such, for one in a dictionary would only be laid over the one that is set
    already: Plotly's own, or Streamlit's where that has been imported.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    axis = {"gridcolor": palette.border, "zerolinecolor": palette.border, "tickcolor": palette.border}
    return go.layout.Template(
        layout={
            "font": {"color": palette.ink},
            "paper_bgcolor": palette.ground,
            "plot_bgcolor": palette.ground,
            "xaxis": {**axis, "showgrid": False},
            "yaxis": axis,
            "hoverlabel": {"bgcolor": palette.ground, "bordercolor": palette.border, "font": {"color": palette.ink}},
        }
    )


def _wrap_source_lines(source: str) -> list[str]:
    """Where a picture is from, in lines that fit a phone: broken between its parts if possible."""
    lines: list[str] = []
    for part in filter(None, source.split(" · ")):
        if lines and len(lines[-1]) + len(part) + 3 <= MAX_TITLE_LETTERS:
            lines[-1] += f" · {part}"
        else:
            lines += textwrap.wrap(part, MAX_TITLE_LETTERS)
    return lines
