"""The reliability diagram: accuracy over confidence, and how many answers there are of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import prediction_confidence
from ensemble.analysis.quality.calibration import ReliabilityBins, reliability_bins
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


def compute_reliability_diagrams(predictions: EnsemblePredictions) -> tuple[ReliabilityBins, list[ReliabilityBins]]:
    """The reliability diagram of the ensemble, and of each member; of one member none."""
    each = zip(predictions.probabilities, predictions.votes, strict=True) if predictions.members > 1 else ()
    members = [reliability_bins(prediction_confidence(p), votes == predictions.labels) for p, votes in each]
    return reliability_bins(predictions.confidence, predictions.right), members


def plot_reliability_diagram(
    ensemble: ReliabilityBins, members: Sequence[ReliabilityBins], noun: str, title: str, palette: Palette
) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, and the count of each bin below.

    Args:
      members: each member's; of one member none.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it
    from plotly.subplots import make_subplots

    chart = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.78, 0.22], vertical_spacing=0.05)
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often right as it says",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    chart.add_traces([go.Scatter(trace) for trace in _build_member_reliability(members, noun)])
    chart.add_scatter(**_build_ensemble_reliability(ensemble, bool(members), noun, palette))
    chart.add_bar(**_build_confidence_counts(ensemble, noun), row=2, col=1)
    chart.update_layout(chart_style.build_chart_layout(title, 560, palette, bargap=0.1))
    chart.update_xaxes(range=[0, 1], **chart_style.build_percent_ticks(), fixedrange=True)
    chart.update_yaxes(
        range=[0, 1.02],
        **chart_style.build_percent_ticks(),
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
        title=f"{pluralize_noun(noun)}",
        dtick=2 if top > 999 else 1,
        tickformat=",d",
        automargin=True,
        row=2,
        col=1,
    )
    chart.update_xaxes(title="confidence: the probability of what it says", row=2, col=1)
    return chart


def _build_member_reliability(members: Sequence[ReliabilityBins], noun: str) -> list[dict[str, Any]]:
    kept = [member.count > 0 for member in members]
    hovers = [
        [f"Member {m + 1}: {_describe_reliability_bin(member, b, noun)}" for b in np.flatnonzero(kept[m])]
        for m, member in enumerate(members)
    ]
    return chart_style.build_member_lines(
        [member.confidence[there] for member, there in zip(members, kept, strict=True)],
        [member.accuracy[there] for member, there in zip(members, kept, strict=True)],
        hovers,
    )


def _build_ensemble_reliability(ensemble: ReliabilityBins, many: bool, noun: str, palette: Palette) -> dict[str, Any]:
    """The ensemble's line, with the 95 % interval of each of its points."""
    bins = np.flatnonzero(ensemble.count)
    ends = np.array([wilson_interval(ensemble.accuracy[b] * ensemble.count[b], int(ensemble.count[b])) for b in bins])
    return {
        "x": ensemble.confidence[bins],
        "y": ensemble.accuracy[bins],
        "mode": "lines+markers",
        "line": chart_style.style_ensemble_line(palette),
        "marker": {"size": 8},
        "cliponaxis": False,
        "name": "ensemble" if many else "the one member",
        "error_y": {
            "array": ends[:, 1] - ensemble.accuracy[bins],
            "symmetric": False,
            "arrayminus": ensemble.accuracy[bins] - ends[:, 0],
            "thickness": 1,
            "width": 3,
        },
        "hovertext": [
            f"{'The ensemble' if many else 'It'}: "
            f"{_describe_reliability_bin(ensemble, b, noun)}<br>95 "
            f"%: {formats.format_percent_range(low, high)}"
            for b, (low, high) in zip(bins, ends, strict=True)
        ],
        "hoverinfo": "text",
    }


def _build_confidence_counts(bins: ReliabilityBins, noun: str) -> dict[str, Any]:
    return {
        "x": (bins.edges[:-1] + bins.edges[1:]) / 2,
        "y": bins.count,
        "marker": {"color": MUTED_COLOR},
        "showlegend": False,
        "hoverinfo": "text",
        "hovertext": [
            f"{formats.format_count(int(count), noun)} from {formats.format_percent_range(low, high)} sure"
            for count, low, high in zip(bins.count, bins.edges[:-1], bins.edges[1:], strict=True)
        ],
    }


def _describe_reliability_bin(bins: ReliabilityBins, b: int | np.integer, noun: str) -> str:
    return (
        f"{formats.format_count(int(bins.count[b]), noun)} with "
        f"{formats.format_percent(bins.confidence[b], places=1)} on average, "
        f"{formats.format_percent(bins.accuracy[b], places=1)} right"
    )


def describe_reliability_chart(bins: ReliabilityBins, noun: str) -> str:
    """The picture in words: where most answers are, and how often they are right."""
    b = int(bins.count.argmax())
    return f"Accuracy over confidence in bins. The fullest bin has {_describe_reliability_bin(bins, b, noun)}"


def tabulate_reliability(ensemble: ReliabilityBins, members: Sequence[ReliabilityBins]) -> pd.DataFrame:
    """Every bin of the ensemble and of each member: one row each."""
    named = [("ensemble", ensemble)]
    named += [(chart_style.format_member_name(m), member) for m, member in enumerate(members)]
    return pd.concat(
        pd.DataFrame(
            {
                "who": name,
                "above": bins.edges[:-1],
                "up_to": bins.edges[1:],
                "count": bins.count,
                "mean_confidence": bins.confidence,
                "accuracy": bins.accuracy,
            }
        )
        for name, bins in named
    )


def explain_reliability_chart(noun: str) -> str:
    return (
        f"A point above the dashed line: {pluralize_noun(noun)} that it is more often right about "
        "than it says. Below the picture, how many answers there are of each confidence."
    )
