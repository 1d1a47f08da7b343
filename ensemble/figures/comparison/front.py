"""Two objectives against each other, and the trials that no other beats in both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ensemble.figures import lines
from ensemble.figures.comparison.columns import Column
from ensemble.figures.comparison.scatter import axis, points
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 440


def figure(
    x: Column,
    y: Column,
    on_front: Sequence[bool],
    names: Sequence[str],
    title: str,
    palette: Palette,
) -> "go.Figure":
    """A point a trial; those of the Pareto front bold, and joined.

    Args:
      x: an objective: T values.
      y: another.
      on_front: (T,), whether each is on the front.
      names: what the trials are called: T of them.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Scatter(one) for one in traces(x, y, on_front, names, palette)])
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    chart.update_xaxes(axis(x, False), title=escaping.figure(x.titled), automargin=True)
    chart.update_yaxes(axis(y, False), title=escaping.figure(y.titled), automargin=True)
    return chart


def traces(
    x: Column, y: Column, on_front: Sequence[bool], names: Sequence[str], palette: Palette
) -> list[dict[str, Any]]:
    """Those that another beats, then the front from left to right."""
    there = [
        place
        for place, value in enumerate(x.values)
        if value is not None and y.values[place] is not None
    ]
    front = sorted(
        (place for place in there if on_front[place]),
        key=lambda place: float(x.values[place] or 0.0),
    )
    beaten = [place for place in there if not on_front[place]]
    found = []
    if beaten:
        found.append(
            points(x, y, None, names, beaten)
            | {
                "name": "beaten by another",
                "marker": {"size": 7, "color": MUTED, "opacity": 0.7},
            }
        )
    found.append(
        points(x, y, None, names, front)
        | {
            "name": "Pareto front",
            "mode": "lines+markers",
            "line": {"color": palette.ink, "width": 1.5, "dash": "dot"},
            "marker": {"size": 11, "color": palette.ink, "symbol": "diamond"},
        }
    )
    return found
