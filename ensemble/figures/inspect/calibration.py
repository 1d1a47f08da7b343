"""The reliability diagram: accuracy over confidence, and how many answers there are of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.intervals import wilson
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import confidence
from ensemble.analysis.quality.calibration import Reliability, reliability
from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording import formats
from ensemble.wording.formats import plural

if TYPE_CHECKING:
    import plotly.graph_objects as go


def diagrams(made: Predictions) -> tuple[Reliability, list[Reliability]]:
    """The reliability diagram of the ensemble, and of each member; of one member none."""
    each = zip(made.probabilities, made.votes, strict=True) if made.members > 1 else ()
    members = [reliability(confidence(p), votes == made.labels) for p, votes in each]
    return reliability(made.confidence, made.right), members


def figure(
    ensemble: Reliability,
    members: Sequence[Reliability],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, and the count of each bin below.

    Args:
      ensemble: the ensemble's bins.
      members: each member's; of one member none.
      noun: what one example is called.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it
    from plotly.subplots import make_subplots

    chart = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.78, 0.22], vertical_spacing=0.05)
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often right as it says",
        line={"color": MUTED, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    chart.add_traces([go.Scatter(one) for one in thin(members, noun)])
    chart.add_scatter(**bold(ensemble, bool(members), noun, palette))
    chart.add_bar(**counts(ensemble, noun), row=2, col=1)
    chart.update_layout(lines.layout(title, 560, palette, bargap=0.1))
    chart.update_xaxes(range=[0, 1], **lines.shares(), fixedrange=True)
    chart.update_yaxes(
        range=[0, 1.02],
        **lines.shares(),
        fixedrange=True,
        title="right",
        automargin=True,
        row=1,
        col=1,
    )
    top = max(10, int(ensemble.count.max()))
    chart.update_yaxes(
        type="log",
        range=[np.log10(0.5), np.log10(2 * top)],
        fixedrange=True,
        title=f"{plural(noun)}",
        dtick=2 if top > 999 else 1,
        tickformat=",d",
        automargin=True,
        row=2,
        col=1,
    )
    chart.update_xaxes(title="confidence: the probability of what it says", row=2, col=1)
    return chart


def thin(members: Sequence[Reliability], noun: str) -> list[dict[str, Any]]:
    """The members' lines, over the bins that hold something."""
    kept = [one.count > 0 for one in members]
    hovers = [
        [f"Member {m + 1}: {point(one, b, noun)}" for b in np.flatnonzero(kept[m])]
        for m, one in enumerate(members)
    ]
    return lines.lines(
        [one.confidence[there] for one, there in zip(members, kept, strict=True)],
        [one.accuracy[there] for one, there in zip(members, kept, strict=True)],
        hovers,
    )


def bold(found: Reliability, many: bool, noun: str, palette: Palette) -> dict[str, Any]:
    """The ensemble's line, with the 95 % interval of each of its points."""
    bins = np.flatnonzero(found.count)
    ends = np.array([wilson(found.accuracy[b] * found.count[b], int(found.count[b])) for b in bins])
    return {
        "x": found.confidence[bins],
        "y": found.accuracy[bins],
        "mode": "lines+markers",
        "line": lines.bold(palette),
        "marker": {"size": 8},
        "cliponaxis": False,
        "name": "ensemble" if many else "the one member",
        "error_y": {
            "array": ends[:, 1] - found.accuracy[bins],
            "symmetric": False,
            "arrayminus": found.accuracy[bins] - ends[:, 0],
            "thickness": 1,
            "width": 3,
        },
        "hovertext": [
            f"{'The ensemble' if many else 'It'}: {point(found, b, noun)}<br>95 %: "
            f"{formats.percents(low, high)}"
            for b, (low, high) in zip(bins, ends, strict=True)
        ],
        "hoverinfo": "text",
    }


def counts(found: Reliability, noun: str) -> dict[str, Any]:
    """How many answers of the ensemble there are in each bin."""
    return {
        "x": (found.edges[:-1] + found.edges[1:]) / 2,
        "y": found.count,
        "marker": {"color": MUTED},
        "showlegend": False,
        "hoverinfo": "text",
        "hovertext": [
            f"{formats.count(int(count), noun)} from {formats.percents(low, high)} sure"
            for count, low, high in zip(found.count, found.edges[:-1], found.edges[1:], strict=True)
        ],
    }


def point(found: Reliability, b: int | np.integer, noun: str) -> str:
    """One bin in words."""
    return (
        f"{formats.count(int(found.count[b]), noun)} with "
        f"{formats.percent(found.confidence[b], places=1)} on average, "
        f"{formats.percent(found.accuracy[b], places=1)} right"
    )


def alt(found: Reliability, noun: str) -> str:
    """The picture in words: where most answers are, and how often they are right."""
    b = int(found.count.argmax())
    return f"Accuracy over confidence in bins. The fullest bin has {point(found, b, noun)}"


def table(ensemble: Reliability, members: Sequence[Reliability]) -> pd.DataFrame:
    """Every bin of the ensemble and of each member: one row each."""
    named = [("ensemble", ensemble)]
    named += [(lines.member(m), one) for m, one in enumerate(members)]
    return pd.concat(
        pd.DataFrame(
            {
                "who": name,
                "above": one.edges[:-1],
                "up_to": one.edges[1:],
                "count": one.count,
                "mean_confidence": one.confidence,
                "accuracy": one.accuracy,
            }
        )
        for name, one in named
    )


def sees(noun: str) -> str:
    """How to read the diagram."""
    return (
        f"A point above the dashed line: {plural(noun)} that it is more often right about than it "
        "says. Below the picture, how many answers there are of each confidence."
    )
