"""Each image by its two uncertainties: what members are unsure of, and what they differ in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ensemble.analysis.members.uncertainty import UncertaintyMeasures
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.terms import SPLIT_LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_POINTS = 1_500  # points that a browser draws and lets one choose from without a wait


def select_drawn_images(predictions: EnsemblePredictions, measures: UncertaintyMeasures) -> Ints:
    """The images to draw: every wrong one, and of the right ones the surest thinned out."""
    wrong, right = (np.flatnonzero(~predictions.right), np.flatnonzero(predictions.right))
    by_doubt = right[np.argsort(-measures.predictive[right], kind="stable")]
    room = max(MAX_POINTS - len(wrong), MAX_POINTS // 2)
    if len(by_doubt) <= room:
        return np.arange(len(predictions.labels))
    unsure, sure = by_doubt[: room // 2], by_doubt[room // 2 :]
    return np.concatenate([wrong, unsure, sure[:: compute_thinning_factor(predictions)]])


def compute_thinning_factor(predictions: EnsemblePredictions) -> int:
    wrong = int((~predictions.right).sum())
    room = max(MAX_POINTS - wrong, MAX_POINTS // 2)
    return -(-(len(predictions.labels) - wrong - room // 2) // (room - room // 2))


def plot_uncertainty_scatter(
    predictions: EnsemblePredictions,
    measures: UncertaintyMeasures,
    drawn: Ints,
    names: Sequence[str],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    names = [escaping.escape_plotly_text(name) for name in names]
    traces = []
    for name, kept, mark in (
        ("right", predictions.right, {"color": RIGHT_COLOR, "symbol": "circle", "opacity": 0.6}),
        ("wrong", ~predictions.right, {"color": WRONG_COLOR, "symbol": "x", "opacity": 0.9}),
    ):
        numbers = drawn[kept[drawn]]
        traces.append(
            go.Scatter(
                x=measures.expected[numbers],
                y=measures.information[numbers],
                mode="markers",
                name=f"{name} {int(kept.sum()):,}",
                marker={"size": 7, **mark},
                customdata=[
                    [int(number), names[predictions.said[number]], names[predictions.labels[number]]]
                    for number in numbers
                ],
                hovertemplate=_build_hover_template(noun),
            )
        )
    chart = go.Figure(traces)
    chart.update_layout(**chart_style.build_chart_layout(title, 480, palette))
    chart.update_xaxes(title="aleatoric (nats)", rangemode="tozero", zeroline=False)
    chart.update_yaxes(title="epistemic (nats)", rangemode="tozero", zeroline=False)
    return chart


def _build_hover_template(noun: str) -> str:
    return (
        f"{noun.capitalize()} %{{customdata[0]}}: says %{{customdata[1]}}, is %{{customdata[2]}}"
        "<br>aleatoric %{x:.3f} nats, epistemic %{y:.3f} nats<extra></extra>"
    )


UNCERTAINTY_GLOSS = (
    "Aleatoric: each member is unsure by itself, as with an image that is hard to read (the mean "
    "of the members' entropies). Epistemic: the members disagree (mutual information). Their sum "
    f"is the entropy of the averaged probabilities; 0 nats is sure. {SPLIT_LIMIT}"
)


def explain_uncertainty_chart(predictions: EnsemblePredictions, measures: UncertaintyMeasures, noun: str) -> str:
    right = predictions.right
    if right.all():
        return f"The ensemble gets every {noun} right: no cross stands here."
    if not right.any():
        return f"The ensemble gets no {noun} right: every point is a cross."
    median = np.median(measures.predictive[~right])
    share = float((measures.predictive[right] < median).mean())
    surer = formats.format_percent(share, len(right))
    sentence = (
        f"For half of its mistakes the ensemble was less sure than for {surer} of the "
        f"{pluralize_noun(noun)} it gets right"
    )
    part = float(measures.information[~right].sum() / (measures.predictive[~right].sum() or 1))
    doubt = formats.format_percent(part, places=0)
    return f"{sentence}; {doubt} of its doubt about those it gets wrong is the members' disagreement."


def mark_image_uncertainty(
    chart: "go.Figure", measures: UncertaintyMeasures, number: int, noun: str, palette: Palette
) -> None:
    chart.add_scatter(
        x=measures.expected[[number]],
        y=measures.information[[number]],
        mode="markers",
        name=f"this {noun}",
        hoverinfo="skip",
        cliponaxis=False,
        marker={"symbol": "circle-open", "size": 18, "color": palette.ink, "line": {"width": 3}},
    )
