"""What the plans of a budget lose against the best of them, each with its interval."""

from typing import TYPE_CHECKING

from ensemble.analysis.planning.choice import Choice
from ensemble.analysis.planning.losses import Loss
from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording.verdicts import plan as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 12  # plans in the picture
UNITS = {"nll": "more NLL than the best, nats", "accuracy": "less accuracy than the best, points"}


def shown(choice: Choice, most: int = MOST) -> list[Loss]:
    """The plans of the picture: those that lose least, the least first."""
    return sorted(choice.losses, key=lambda one: (one.mean, one.plan.cost))[:most]


def figure(choice: Choice, title: str, palette: Palette) -> "go.Figure":
    """A row a plan: what it loses, and the interval; all intervals hold together.

    Args:
      choice: of a budget that pays for two plans or more.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    rows, scale = shown(choice), 100 if choice.figure == "accuracy" else 1
    chart = go.Figure()
    for name, color, kept in (
        ("not shown to be worse", palette.ink, [one for one in rows if one.shown <= 0]),
        ("shown to be worse", MUTED, [one for one in rows if one.shown > 0]),
    ):
        if kept:
            chart.add_scatter(
                x=[scale * one.mean for one in kept],
                y=[words.called(one.plan) for one in kept],
                mode="markers",
                marker={"color": color, "size": 9},
                name=name,
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "color": color,
                    "thickness": 1.5,
                    "array": [scale * (one.high - one.mean) for one in kept],
                    "arrayminus": [scale * (one.mean - one.low) for one in kept],
                },
                hoverinfo="text",
                hovertext=[
                    f"{words.called(one.plan)}: {words.compared(choice.figure, one)}"
                    for one in kept
                ],
            )
    height = 170 + 24 * len(rows)
    chart.update_layout(lines.layout(title, height, palette))
    chart.update_xaxes(
        title=UNITS[choice.figure], zeroline=True, fixedrange=True, zerolinecolor=MUTED
    )
    order = [words.called(one.plan) for one in reversed(rows)]
    chart.update_yaxes(categoryorder="array", categoryarray=order, automargin=True, fixedrange=True)
    return chart


def alt(choice: Choice) -> str:
    """The picture in words."""
    rows = shown(choice)
    open_ = sum(one.shown <= 0 for one in rows)
    return (
        f"What {len(rows)} plans lose against {words.called(choice.best)}, with 95 % intervals: "
        f"{open_} of them are not shown to be worse"
    )
