"""The picture of a race: images times members per second against the number of members."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.race import Race
from ensemble.wording import formats
from ensemble.wording.race import COMPETITOR_NAMES

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 420
AXIS_HEIGHT = 300  # of the axis, from its foot to its head
LABEL_HEIGHT = 17  # pixels that a label takes


def style_competitor_line(name: str, palette: Palette) -> dict[str, Any]:
    """How a competitor's line is drawn: this engine in ink and accent, the others muted."""
    return {
        "float32": {"color": palette.ink, "width": 3},
        "bfloat16": {"color": palette.primary, "width": 3},
        "howto": {"color": MUTED_COLOR, "width": 2},
        "one_by_one": {"color": MUTED_COLOR, "width": 2, "dash": "dot"},
    }[name]


def plot_race_throughput(race: Race, title: str, palette: Palette) -> "go.Figure":
    """Every competitor's speed by the number of members, each named beside its line's end."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    every = sorted({members for rates in race.rates.values() for members in rates})
    highest = max(rate for rates in race.rates.values() for rate in rates.values())
    chart = go.Figure([build_competitor_curve(name, rates, palette) for name, rates in race.rates.items()])
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette, showlegend=False))
    chart.update_layout(margin={**chart.layout.margin.to_plotly_json(), "r": 136, "b": 50})
    chart.update_xaxes(
        title="members, M",
        type="log",
        tickvals=every,
        fixedrange=True,
        range=np.log10([every[0] * 0.85, every[-1] * 1.1]),
    )
    chart.update_yaxes(
        title="img·member/s", range=[0, highest * 1.08], fixedrange=True, tickformat=",", automargin=True
    )
    add_competitor_labels(chart, race, highest * 1.08, palette)
    return chart


def build_competitor_curve(name: str, rates: dict[int, float], palette: Palette) -> dict[str, Any]:
    """One competitor's line."""
    members = sorted(rates)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": COMPETITOR_NAMES[name],
        "line": style_competitor_line(name, palette),
        "marker": {"size": 8},
        "x": members,
        "y": [rates[M] for M in members],
        "hovertext": [
            f"{COMPETITOR_NAMES[name].capitalize()}, {formats.format_count(M, 'member')}<br>"
            f"{formats.format_throughput(rates[M])}"
            for M in members
        ],
        "hoverinfo": "text",
    }


def add_competitor_labels(chart: "go.Figure", race: Race, top: float, palette: Palette) -> None:
    """Each line's name at the right, moved just so far that no two lie on each other."""
    ends = {name: rates[max(rates)] for name, rates in race.rates.items()}
    for name, place in zip(
        sorted(ends, key=ends.__getitem__),
        space_out_labels([AXIS_HEIGHT * rate / top for rate in sorted(ends.values())]),
        strict=True,
    ):
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=6,
            y=ends[name],
            showarrow=False,
            yshift=place - AXIS_HEIGHT * ends[name] / top,
            text=COMPETITOR_NAMES[name].replace(", ", "<br>"),
            align="left",
            font={"color": style_competitor_line(name, palette)["color"], "size": 12},
        )


def space_out_labels(places: list[float]) -> list[float]:
    """Places in pixels, ascending, moved up just so far that a label's height lies between two."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LABEL_HEIGHT * 1.4) if moved else place)
    return moved


def tabulate_race_throughput(race: Race) -> pd.DataFrame:
    """Every speed, a row each, with its ratio to one member after another."""
    rows = []
    for name, rates in race.rates.items():
        ratios = race.compute_speed_ratios(name, "one_by_one")
        for members in sorted(rates):
            rows.append(
                {
                    "competitor": COMPETITOR_NAMES[name],
                    "members": members,
                    "img_member_per_s": rates[members],
                    "times_one_after_another": round(ratios.get(members, float("nan")), 3),
                }
            )
    return pd.DataFrame(rows)
