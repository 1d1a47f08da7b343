"""Each image by its two uncertainties: what members are unsure of, and what they differ in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.analysis.members.uncertainty import Uncertainty
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import lines
from ensemble.figures.palette import RIGHT, WRONG, Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 1_500  # points that a browser draws and lets one choose from without a wait


def points(made: Predictions, measures: Uncertainty) -> Ints:
    """The images to draw: every wrong one, and of the right ones the surest thinned out."""
    wrong, right = np.flatnonzero(~made.right), np.flatnonzero(made.right)
    by_doubt = right[np.argsort(-measures.predictive[right], kind="stable")]
    room = max(MOST - len(wrong), MOST // 2)
    if len(by_doubt) <= room:
        return np.arange(len(made.labels))
    unsure, sure = by_doubt[: room // 2], by_doubt[room // 2 :]
    return np.concatenate([wrong, unsure, sure[:: thinning(made)]])


def thinning(made: Predictions) -> int:
    """Of how many sure images one is drawn."""
    wrong = int((~made.right).sum())
    room = max(MOST - wrong, MOST // 2)
    return -(-(len(made.labels) - wrong - room // 2) // (room - room // 2))


def figure(
    made: Predictions,
    measures: Uncertainty,
    drawn: Ints,
    names: Sequence[str],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """Right ones as blue circles, wrong ones as orange crosses over them.

    Args:
      made: the predictions.
      measures: how unsure the ensemble is of each image.
      drawn: the numbers of the images that are drawn.
      names: the classes' names, C of them.
      noun: what one image is called.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    names = [escaping.figure(name) for name in names]
    traces = []
    for name, kept, mark in (
        ("right", made.right, {"color": RIGHT, "symbol": "circle", "opacity": 0.6}),
        ("wrong", ~made.right, {"color": WRONG, "symbol": "x", "opacity": 0.9}),
    ):
        numbers = drawn[kept[drawn]]
        traces.append(go.Scatter(
            x=measures.expected[numbers], y=measures.information[numbers], mode="markers",
            name=f"{name} {int(kept.sum()):,}", marker={"size": 7, **mark},
            customdata=facts(made, numbers, names), hovertemplate=hover(noun),
        ))  # fmt: skip
    chart = go.Figure(traces)
    chart.update_layout(**lines.layout(title, 480, palette))
    chart.update_xaxes(title="aleatoric (nats)", rangemode="tozero", zeroline=False)
    chart.update_yaxes(title="epistemic (nats)", rangemode="tozero", zeroline=False)
    return chart


def facts(made: Predictions, numbers: Ints, names: Sequence[str]) -> list[list[Any]]:
    """For each image its number, what the ensemble says and what it is."""
    return [[int(n), names[made.said[n]], names[made.labels[n]]] for n in numbers]


def hover(noun: str) -> str:
    """What is said at a point."""
    return (
        f"{noun.capitalize()} %{{customdata[0]}}: says %{{customdata[1]}}, is %{{customdata[2]}}"
        "<br>aleatoric %{x:.3f} nats, epistemic %{y:.3f} nats<extra></extra>"
    )
