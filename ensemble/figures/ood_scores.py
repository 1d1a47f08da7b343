"""OOD scores of real digits and of out-of-distribution images, with the rejection threshold."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ensemble.recognition.rejection_threshold import RejectionThreshold

ROW_HEIGHT = 36  # pixels
# Dots of a row are spread evenly over its height by this step, which never comes back to itself.
_GOLDEN_RATIO, _DOT_SPREAD = (5**0.5 - 1) / 2, 0.56


def plot_ood_scores(
    threshold: "RejectionThreshold", score: float, dataset_title: str, title: str, palette: Palette
) -> "go.Figure":
    """A row of dots for each kind of image, one a dot, with the threshold as a line through all.

    Args:
      dataset_title: what the real digits are called: "MNIST".
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    named = [
        (escaping.escape_plotly_text(name), scores) for name, scores in _list_image_kinds(threshold, dataset_title)
    ]
    chart = go.Figure([go.Scatter(_build_score_dots(kind, place, threshold)) for place, kind in enumerate(named, 1)])
    chart.add_scatter(**_build_mark_point(score, threshold, palette))
    chart.update_layout(**chart_style.build_chart_layout(title, ROW_HEIGHT * (len(named) + 1) + 190, palette))
    top = chart.layout.margin.t + 20  # room for words over the line, under the title
    chart.update_layout(showlegend=False, margin={"t": top, "r": 72, "b": 60})
    if isfinite(threshold.value):  # else too few digits were held out, and none is rejected
        chart.add_vline(threshold.value, line={"color": palette.ink, "width": 2})
        chart.add_annotation(
            x=threshold.value,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="left",
            showarrow=False,
            text="rejected →",
            font={"size": 12, "color": palette.ink},
        )
    for place, (_, scores) in enumerate(named, 1):
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=8,
            y=place,
            showarrow=False,
            text=formats.format_percent(_compute_rejected_share(scores, threshold), 500),
            font={"size": 12},
        )
    chart.update_xaxes(title="OOD score: how strange to the members", fixedrange=True, zeroline=False)
    chart.update_yaxes(
        tickvals=list(range(len(named) + 1)),
        ticktext=["<b>this one</b> ", *(f"{name} " for name, _ in named)],
        range=[len(named) + 0.5, -0.5],
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    return chart


def _list_image_kinds(threshold: "RejectionThreshold", dataset_title: str) -> list[tuple[str, Floats]]:
    """The kinds of images by name, with their OOD scores: the real digits first."""
    return [
        (dataset_title, threshold.held_out_scores),
        *((non_digit.title, non_digit.scores) for non_digit in threshold.non_digits),
    ]


def _compute_rejected_share(scores: Floats, threshold: "RejectionThreshold") -> float:
    return float(np.mean(np.asarray(scores) > threshold.value))


def _build_score_dots(row: tuple[str, Floats], place: int, threshold: "RejectionThreshold") -> dict[str, Any]:
    """One row: a dot for each image; they overlap only where scores are equal."""
    name, scores = row
    rejected = np.asarray(scores) > threshold.value
    # Rejecting one of the real digits, the first row, is a mistake; so is accepting another image.
    right = ~rejected if place == 1 else rejected
    hover = [
        f"{name}: {formats.format_significant(float(score))}, "
        f"{'rejected' if gone else 'accepted'}, {'✓ rightly' if good else '✗ wrongly'}"
        for score, gone, good in zip(scores, rejected, right, strict=True)
    ]
    return {
        "x": scores,
        "y": place + _spread_dots(len(scores)),
        "mode": "markers",
        "name": name,
        "marker": {"color": np.where(right, RIGHT_COLOR, WRONG_COLOR).tolist(), "size": 5, "opacity": 0.7},
        "hovertext": hover,
        "hoverinfo": "text",
    }


def _spread_dots(count: int) -> NDArray[np.float64]:
    """Heights of the dots of a row around its middle: evenly spread, no chance in it."""
    return np.asarray(_DOT_SPREAD * (np.arange(count) * _GOLDEN_RATIO % 1 - 0.5))


def _build_mark_point(score: float, threshold: "RejectionThreshold", palette: Palette) -> dict[str, Any]:
    done = "rejected" if score > threshold.value else "accepted"
    return {
        "x": [score],
        "y": [0],
        "mode": "markers",
        "name": "this one",
        "marker": {"color": palette.ink, "size": 13, "symbol": "diamond"},
        "hoverinfo": "text",
        "hovertext": [f"This one: {formats.format_significant(score)}, {done}"],
        "cliponaxis": False,
    }


def describe_ood_scores_chart(threshold: "RejectionThreshold", dataset_title: str) -> str:
    """The picture in words: what share of each kind is rejected."""
    text = ", ".join(
        f"{name} {formats.format_percent(_compute_rejected_share(scores, threshold), 500)}"
        for name, scores in _list_image_kinds(threshold, dataset_title)
    )
    return f"OOD scores of each kind of images, with the rejection threshold; rejected: {text}"


def tabulate_ood_scores(threshold: "RejectionThreshold", dataset_title: str, score: float) -> pd.DataFrame:
    """A row for each image: its kind, its OOD score, and whether it is rejected."""
    frames = [pd.DataFrame({"images": ["this one"], "score": [score]})]
    frames += [
        pd.DataFrame({"images": name, "score": scores}) for name, scores in _list_image_kinds(threshold, dataset_title)
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame["threshold"] = threshold.value
    frame["rejected"] = frame["score"] > threshold.value
    return frame


def tabulate_rejection_rates(threshold: "RejectionThreshold", dataset_title: str, noun: str) -> pd.DataFrame:
    """The table on the screen: of each kind, how many were shown, and the share rejected."""
    kinds: Sequence[tuple[str, int, float]] = [
        (f"{dataset_title}, other {pluralize_noun(noun)}", threshold.judged_count, 1 - threshold.coverage),
        *((non_digit.title, non_digit.n, non_digit.share) for non_digit in threshold.non_digits),
    ]
    return pd.DataFrame(
        [
            {"shown": name, "rejected": formats.format_percent(share, 500), "of images": f"{n:,}"}
            for name, n, share in kinds
        ]
    )
