"""How many images each class has: bars, training above test, the commonest class first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_CLASSES = 30  # classes that are drawn: of more, the commonest and the rarest half of so many
ROW_HEIGHT = 26  # pixels
_MAX_NAME_LETTERS = 24  # letters of a class's name beside its bar


@dataclass(frozen=True, eq=False)
class ClassCounts:
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
    def totals(self) -> NDArray[np.int64]:
        """Images of each class, int (C,)."""
        return self.train + self.test

    @property
    def by_frequency(self) -> NDArray[np.int64]:
        """The classes from the commonest to the rarest; of equals the first first."""
        return np.argsort(-self.totals, kind="stable")

    @property
    def drawn_classes(self) -> NDArray[np.int64]:
        """Those that a chart has room for, in that order: at both ends."""
        order = self.by_frequency
        return order if len(order) <= MAX_CLASSES else np.r_[order[: MAX_CLASSES // 2], order[-(MAX_CLASSES // 2) :]]


def plot_class_counts(counts: ClassCounts, title: str, palette: Palette) -> "go.Figure":
    """The chart: a row a class, its training and its test images one after the other."""
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    drawn = counts.drawn_classes
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
                    escaping.escape_plotly_text(f"{counts.names[c]}: {formats.format_count(int(values[c]), noun)}")
                    for c in drawn
                ],
                hoverinfo="text",
            )
            for name, noun, values, color in (
                ("to learn from", "training image", counts.train, palette.primary),
                ("to test", "test image", counts.test, MUTED_COLOR),
            )
        ]
    )
    height = ROW_HEIGHT * len(drawn) + 160
    chart.update_layout(**chart_style.build_chart_layout(title, height, palette))
    chart.update_layout(barmode="stack", bargap=0.3, margin={"b": 80}, legend={"traceorder": "normal"})
    chart.update_xaxes(title="images", fixedrange=True, rangemode="tozero")
    chart.update_yaxes(
        tickvals=rows,
        ticktext=[escaping.escape_plotly_text(shorten_class_name(counts.names[c])) + " " for c in drawn],
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        automargin=True,
        zeroline=False,
    )
    return chart


def shorten_class_name(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LETTERS else name[: _MAX_NAME_LETTERS - 1] + "…"


def tabulate_class_counts(counts: ClassCounts) -> pd.DataFrame:
    return pd.DataFrame({"class": list(counts.names), "training": counts.train, "test": counts.test})


def explain_class_counts_chart(counts: ClassCounts) -> str:
    order, both = counts.by_frequency, counts.totals
    most, least = int(order[0]), int(order[-1])
    if both[most] == both[least]:
        sentence = f"Every class has {formats.format_count(int(both[most]), 'image')}."
    else:
        name = [escaping.escape_markdown(shorten_class_name(counts.names[c])) for c in (most, least)]
        sentence = (
            f"**{name[0]}** is the commonest class "
            f"({formats.format_count(int(both[most]), 'image')}),"
            f" **{name[1]}** the rarest ({both[least]:,})."
        )
    if len(order) > MAX_CLASSES:
        sentence += f" Drawn are the {MAX_CLASSES // 2} commonest and the {MAX_CLASSES // 2} rarest of {len(order):,}."
    return sentence


def describe_class_counts_chart(counts: ClassCounts) -> str:
    listing = ", ".join(
        f"{shorten_class_name(counts.names[c])} {counts.train[c]:,} and {counts.test[c]:,}"
        for c in counts.by_frequency[:3]
    )
    return f"Training and test images of {len(counts.names):,} classes, commonest first: {listing}"
