"""The picture of a race: images times members per second against the number of members."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.race import Race
from ensemble.wording import formats
from ensemble.wording.devices import NAMES

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 420
PIXELS = 300  # of the axis, from its foot to its head
LABEL = 17  # pixels that a label takes


def look(name: str, palette: Palette) -> dict[str, Any]:
    """How a competitor's line is drawn: this engine in ink and accent, the others muted."""
    return {
        "float32": {"color": palette.ink, "width": 3},
        "bfloat16": {"color": palette.primary, "width": 3},
        "howto": {"color": MUTED, "width": 2},
        "one_by_one": {"color": MUTED, "width": 2, "dash": "dot"},
    }[name]


def speeds(race: Race, title: str, palette: Palette) -> "go.Figure":
    """Every competitor's speed by the number of members, each named beside its line's end."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    every = sorted({members for rates in race.rates.values() for members in rates})
    highest = max(rate for rates in race.rates.values() for rate in rates.values())
    chart = go.Figure([curve(name, rates, palette) for name, rates in race.rates.items()])
    chart.update_layout(lines.layout(title, HEIGHT, palette, showlegend=False))
    chart.update_layout(margin={**chart.layout.margin.to_plotly_json(), "r": 136, "b": 50})
    chart.update_xaxes(
        title="members, M",
        type="log",
        tickvals=every,
        fixedrange=True,
        range=np.log10([every[0] * 0.85, every[-1] * 1.1]),
    )
    chart.update_yaxes(
        title="img·member/s",
        range=[0, highest * 1.08],
        fixedrange=True,
        tickformat=",",
        automargin=True,
    )
    label(chart, race, highest * 1.08, palette)
    return chart


def curve(name: str, rates: dict[int, float], palette: Palette) -> dict[str, Any]:
    """One competitor's line."""
    members = sorted(rates)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": NAMES[name],
        "line": look(name, palette),
        "marker": {"size": 8},
        "x": members,
        "y": [rates[M] for M in members],
        "hovertext": [
            f"{NAMES[name].capitalize()}, {formats.count(M, 'member')}<br>"
            f"{formats.throughput(rates[M])}"
            for M in members
        ],
        "hoverinfo": "text",
    }


def label(chart: "go.Figure", race: Race, top: float, palette: Palette) -> None:
    """Each line's name at the right, moved just so far that no two lie on each other."""
    ends = {name: rates[max(rates)] for name, rates in race.rates.items()}
    for name, place in zip(
        sorted(ends, key=ends.__getitem__),
        apart([PIXELS * rate / top for rate in sorted(ends.values())]),
        strict=True,
    ):
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=6,
            y=ends[name],
            showarrow=False,
            yshift=place - PIXELS * ends[name] / top,
            text=NAMES[name].replace(", ", "<br>"),
            align="left",
            font={"color": look(name, palette)["color"], "size": 12},
        )


def apart(places: list[float]) -> list[float]:
    """Places in pixels, ascending, moved up just so far that a label's height lies between two."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LABEL * 1.4) if moved else place)
    return moved


def table(race: Race) -> pd.DataFrame:
    """Every speed, a row each, with its ratio to one member after another."""
    rows = []
    for name, rates in race.rates.items():
        ratios = race.ratios(name, "one_by_one")
        for members in sorted(rates):
            rows.append(
                {
                    "competitor": NAMES[name],
                    "members": members,
                    "img_member_per_s": rates[members],
                    "times_one_after_another": round(ratios.get(members, float("nan")), 3),
                }
            )
    return pd.DataFrame(rows)
