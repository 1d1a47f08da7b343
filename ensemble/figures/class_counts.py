"""How many images each class has: bars, training above test, the commonest class first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 30  # classes that are drawn: of more, the commonest and the rarest half of so many
ROW = 26  # pixels
NAME = 24  # letters of a class's name beside its bar


@dataclass(frozen=True, eq=False)
class Counts:
    """Images of each class.

    Attributes:
      names: the classes', C of them.
      train: training images of each, int (C,).
      test: test images of each, int (C,).
    """

    names: Sequence[str]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def both(self) -> NDArray[np.int64]:
        """Images of each class, int (C,)."""
        return self.train + self.test

    @property
    def order(self) -> NDArray[np.int64]:
        """The classes from the commonest to the rarest; of equals the first first."""
        return np.argsort(-self.both, kind="stable")

    @property
    def drawn(self) -> NDArray[np.int64]:
        """Those that a chart has room for, in that order: at both ends."""
        order = self.order
        return order if len(order) <= MOST else np.r_[order[: MOST // 2], order[-(MOST // 2) :]]


def figure(counts: Counts, title: str, palette: Palette) -> "go.Figure":
    """The chart: a row a class, its training and its test images one after the other.

    Args:
      counts: of each class.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    drawn = counts.drawn
    rows = list(range(len(drawn)))
    chart = go.Figure(
        [
            go.Bar(
                x=values[drawn],
                y=rows,
                name=name,
                orientation="h",
                marker={"color": color},
                hovertext=[
                    escaping.figure(f"{counts.names[c]}: {formats.count(int(values[c]), noun)}")
                    for c in drawn
                ],
                hoverinfo="text",
            )
            for name, noun, values, color in (
                ("to learn from", "training image", counts.train, palette.primary),
                ("to test", "test image", counts.test, MUTED),
            )
        ]
    )
    height = ROW * len(drawn) + 160
    chart.update_layout(**lines.layout(title, height, palette))
    chart.update_layout(
        barmode="stack", bargap=0.3, margin={"b": 80}, legend={"traceorder": "normal"}
    )
    chart.update_xaxes(title="images", fixedrange=True, rangemode="tozero")
    chart.update_yaxes(
        tickvals=rows,
        ticktext=[escaping.figure(short(counts.names[c])) + " " for c in drawn],
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        automargin=True,
        zeroline=False,
    )
    return chart


def short(name: str) -> str:
    """A class's name as there is room for it."""
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def table(counts: Counts) -> pd.DataFrame:
    """Every class with its images, in the labels' order."""
    return pd.DataFrame(
        {"class": list(counts.names), "training": counts.train, "test": counts.test}
    )


def sees(counts: Counts) -> str:
    """What to see in the chart, in a sentence of Markdown."""
    order, both = counts.order, counts.both
    most, least = int(order[0]), int(order[-1])
    if both[most] == both[least]:
        said = f"Every class has {formats.count(int(both[most]), 'image')}."
    else:
        name = [escaping.markdown(short(counts.names[c])) for c in (most, least)]
        said = (
            f"**{name[0]}** is the commonest class ({formats.count(int(both[most]), 'image')}),"
            f" **{name[1]}** the rarest ({both[least]:,})."
        )
    if len(order) > MOST:
        said += (
            f" Drawn are the {MOST // 2} commonest and the {MOST // 2} rarest of {len(order):,}."
        )
    return said


def alt(counts: Counts) -> str:
    """The chart in words."""
    told = ", ".join(
        f"{short(counts.names[c])} {counts.train[c]:,} and {counts.test[c]:,}"
        for c in counts.order[:3]
    )
    return f"Training and test images of {len(counts.names):,} classes, commonest first: {told}"
