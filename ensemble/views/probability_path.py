"""One image as training goes on, or as members join: how probable the ensemble finds each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS, EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities, most_likely_classes
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, member_color, member_opacity
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_CLASSES = 3  # that have a line, at most: the label's, and the likeliest others


@dataclass(frozen=True, eq=False)
class ProbabilityPath:
    """What is said of one image at X places: after an epoch each, or with so many members.

    Attributes:
      positions: (X,), the epochs, or how many members are averaged.
      averaged: (X, C), the ensemble's probabilities there.
      members: (X, M), each member's own probability of what it is; NaN where it is not among them.
      label: what it is.
    """

    positions: Ints
    averaged: Floats
    members: Floats
    label: int

    @property
    def predicted_classes(self) -> Ints:
        """(X,), the ensemble's class at each place."""
        return most_likely_classes(self.averaged)


def trace_over_epochs(rows: dict[int, Floats], label: int) -> ProbabilityPath:
    """An image after each epoch.

    Args:
      rows: by epoch, rising, the members' probabilities of the image, (M, C).
    """
    most = max(len(row) for row in rows.values())
    own = np.full((len(rows), most), np.nan)
    for place, row in enumerate(rows.values()):
        own[place, : len(row)] = row[:, label]
    whole = np.concatenate([average_probabilities(row[:, None]) for row in rows.values()])
    return ProbabilityPath(np.array(list(rows)), whole, own, label)


def trace_over_members(predictions: EnsemblePredictions, number: int) -> ProbabilityPath:
    M, label = predictions.members, int(predictions.labels[number])
    probabilities = predictions.probabilities[:, [number]]
    whole = np.concatenate([average_probabilities(probabilities[: k + 1]) for k in range(M)])
    own = np.full((M, M), np.nan)
    own[np.arange(M), np.arange(M)] = probabilities[:, 0, label]
    return ProbabilityPath(np.arange(1, M + 1), whole, own, label)


def _select_traced_classes(curve: ProbabilityPath) -> list[int]:
    """The classes that have a line: what it is first, then the likeliest anywhere."""
    order = np.argsort(-curve.averaged.max(axis=0), kind="stable")
    return [curve.label, *[int(c) for c in order if c != curve.label][: MAX_CLASSES - 1]]


def plot_probability_path(
    curve: ProbabilityPath, what: str, names: Sequence[str], title: str, palette: Palette
) -> "go.Figure":
    """A bold line for what it is, thinner ones for its rivals, the members' own thin below.

    Args:
      what: what the places are, for the axis: "epoch", "member".
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    names = [escaping.escape_plotly_text(name) for name in names]
    whole = [_build_class_path(curve, c, what, names, palette) for c in _select_traced_classes(curve)]
    chart = go.Figure([go.Scatter(trace) for trace in (*_build_member_paths(curve, what, names), *whole)])
    chart.update_layout(**chart_style.build_chart_layout(title, 380, palette))
    axis = {"epoch": "epochs", "member": "members that are averaged"}[what]
    # A word such as 1.5 epochs says nothing.
    step = max(1, -(-len(curve.positions) // 10))
    chart.update_xaxes(title=axis, fixedrange=True, tick0=int(curve.positions[0]), dtick=step)
    chart.update_yaxes(title="probability", range=[-0.03, 1.03], fixedrange=True, **chart_style.build_percent_ticks())
    return chart


def _build_class_path(
    curve: ProbabilityPath, c: int, what: str, names: Sequence[str], palette: Palette
) -> dict[str, Any]:
    is_label = c == curve.label
    line = (
        chart_style.style_ensemble_line(palette)
        if is_label
        else {"color": MUTED_COLOR, "width": 2, "dash": "dot" if c == _select_traced_classes(curve)[-1] else "dash"}
    )
    return {
        "x": curve.positions,
        "y": curve.averaged[:, c],
        "mode": "lines+markers",
        "line": line,
        "name": f"ensemble: {names[c]}{', the label' if is_label else ''}",
        "cliponaxis": False,
        "hovertext": [
            f"{_format_path_position(at, what)}: the ensemble gives {names[c]} {formats.format_probability(p)}"
            for at, p in zip(curve.positions, curve.averaged[:, c], strict=True)
        ],
        "hoverinfo": "text",
    }


def _build_member_paths(curve: ProbabilityPath, what: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each member's own probability of what it is; of one member that is the ensemble's."""
    M = curve.members.shape[1]
    return [
        {
            "x": curve.positions,
            "y": curve.members[:, m],
            "opacity": member_opacity(M),
            "mode": "lines+markers" if what == "epoch" else "markers",
            "showlegend": False,
            "line": chart_style.style_member_line(m, M),
            "marker": {"size": 6, "color": member_color(m, M)},
            "name": chart_style.format_member_name(m),
            "hoverinfo": "text",
            "cliponaxis": False,
            "hovertext": [
                f"Member {m + 1} gives {names[curve.label]} {formats.format_probability(p)}"
                for p in curve.members[:, m]
            ],
        }
        for m in range(0, M, -(-M // MAX_SHOWN_MEMBERS))  # of many an even choice
        if M > 1
    ]


def _format_path_position(at: int, what: str) -> str:
    """A place in words: "Epoch 3", "3 members"."""
    return f"Epoch {at}" if what == "epoch" else formats.format_count(int(at), "member")
