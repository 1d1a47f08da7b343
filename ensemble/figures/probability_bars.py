"""One test image's probabilities: the ensemble's as bars, the members' own as dots on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import chart_style
from ensemble.figures.palette import (
    MEMBER_HUES,
    MUTED_COLOR,
    RIGHT_COLOR,
    WRONG_COLOR,
    Palette,
    member_color,
    member_opacity,
)
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW_HEIGHT = 34  # pixels
MAX_CLASSES = 20  # classes with a row each
SHARE_TICKS = (0, 0.25, 0.5, 0.75, 1)
# Under the chart, so that a saved picture says whose dots they are.
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": 0,
    "yref": "container",
    "yanchor": "bottom",
    "title": {"text": "member", "side": "left"},
}


def plot_probability_bars(
    predictions: EnsemblePredictions, number: int, names: Sequence[str], title: str, palette: Palette
) -> "go.Figure":
    """The chart: a row for each class, from 0 to 100 %; of many for the likeliest."""
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    kept = select_likeliest_classes(predictions, number)
    names = [escaping.escape_plotly_text(names[c]) for c in kept]
    traces = [_build_averaged_bars(predictions, number, names, kept)]
    if predictions.members > 1:
        traces += build_member_dots(predictions, number, names, kept, palette)
    rows = list(range(len(names)))
    worded = chart_style.build_chart_layout(title, 0, palette)  # whose it is stands below, where a phone has room
    top = worded["margin"]["t"]
    chart = go.Figure([go.Bar(traces[0]), *[go.Scatter(trace) for trace in traces[1:]]])
    chart.update_layout(
        title=worded["title"],
        height=ROW_HEIGHT * len(names) + 80 + top,
        margin={"l": 8, "r": 70, "t": top, "b": 80},
        showlegend=1 < predictions.members <= len(MEMBER_HUES),
        legend=_LEGEND,
        bargap=0.28,
        hovermode="closest",
        dragmode=False,
        annotations=_build_probability_labels(predictions, number, kept),
        template=chart_style.build_plotly_template(palette),
    )
    chart.update_xaxes(
        range=[0, 1], **chart_style.build_percent_ticks(SHARE_TICKS), title="probability", fixedrange=True
    )
    chart.update_yaxes(
        tickvals=rows,
        ticktext=_label_class_rows(predictions, number, names, kept),
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        automargin=True,
        zeroline=False,
    )
    return chart


def build_chart_toolbar(title: str) -> dict[str, Any]:
    """What the chart's toolbar offers: the picture as a file, sharp enough to print."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": 3, "filename": escaping.sanitize_file_name(title)},
    }


def select_likeliest_classes(predictions: EnsemblePredictions, number: int, most: int = MAX_CLASSES) -> Ints:
    """The classes that have a row: all in their order, or the likeliest first and what it is."""
    averaged, label = predictions.averaged[number], predictions.labels[number]
    if len(averaged) <= most:
        return np.arange(len(averaged))
    order = np.argsort(-averaged, kind="stable")[:most]
    return order if label in order else np.append(order[:-1], label)


def _build_averaged_bars(
    predictions: EnsemblePredictions, number: int, names: Sequence[str], kept: Ints
) -> dict[str, Any]:
    """The averaged probabilities; the class said is blue when right and orange when wrong."""
    answer_row = int(np.flatnonzero(kept == predictions.said[number])[0])
    colors = [MUTED_COLOR] * len(names)
    colors[answer_row] = RIGHT_COLOR if predictions.right[number] else WRONG_COLOR
    who = "The ensemble" if predictions.members > 1 else "It"
    hover = [
        f"{who} gives {name} {formats.format_probability(p)}"
        for name, p in zip(names, predictions.averaged[number, kept], strict=True)
    ]
    return {
        "x": predictions.averaged[number, kept],
        "y": list(range(len(names))),
        "orientation": "h",
        "marker": {"color": colors, "opacity": [1.0 if c == answer_row else 0.55 for c in range(len(names))]},
        "hovertext": hover,
        "hoverinfo": "text",
        "name": "ensemble",
        "showlegend": False,
    }


def build_member_dots(
    predictions: EnsemblePredictions, number: int, names: Sequence[str], kept: Ints, palette: Palette
) -> list[dict[str, Any]]:
    """The probabilities of each of the `spread_members`, one below the other within a row so that none hides."""
    offsets = np.linspace(-0.3, 0.3, len(predictions.spread_members))
    return [
        {
            "x": predictions.probabilities[m, number, kept],
            "y": np.arange(len(names)) + offset,
            "mode": "markers",
            "name": str(m + 1),
            "cliponaxis": False,
            "marker": {
                "color": member_color(m, predictions.members),
                "size": 7 if predictions.members < 12 else 5,
                "opacity": max(0.7, member_opacity(predictions.members)),
                "line": {"color": palette.ground, "width": 1},
            },
            "hovertext": [
                f"Member {m + 1} gives {name} {formats.format_probability(p)}"
                for name, p in zip(names, predictions.probabilities[m, number, kept], strict=True)
            ],
            "hoverinfo": "text",
        }
        for m, offset in zip(predictions.spread_members, offsets, strict=True)
    ]


def _build_probability_labels(predictions: EnsemblePredictions, number: int, kept: Ints) -> list[dict[str, Any]]:
    return [
        {
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 6,
            "y": row,
            "showarrow": False,
            "text": formats.format_probability(p) if p >= 0.0005 else "–",
            "font": {"size": 12},
        }
        for row, p in enumerate(predictions.averaged[number, kept])
    ]


def _label_class_rows(predictions: EnsemblePredictions, number: int, names: Sequence[str], kept: Ints) -> list[str]:
    """The rows' names; what it is, and what the ensemble says, in words."""
    texts = []
    for row, name in zip(kept, names, strict=True):
        marks = [
            word
            for word, true in (("says", row == predictions.said[number]), ("is", row == predictions.labels[number]))
            if true
        ]
        text = "says and is " if len(marks) == 2 else f"{marks[0]} " if marks else ""
        texts.append(f"<b>{text}{name}</b> " if marks else f"{name} ")
    return texts


def describe_probability_chart(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """The chart in words: the likeliest classes, then each of a few members' own."""
    likeliest = np.argsort(-predictions.averaged[number], kind="stable")[:3]
    text = ", ".join(f"{names[c]} {formats.format_probability(predictions.averaged[number, c])}" for c in likeliest)
    return f"Averaged probabilities, likeliest first: {text}"
