"""One mark's probabilities: the ensemble's as bars in ink, each member's own as dots on them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.figures import chart_style, probability_bars
from ensemble.figures.palette import Palette
from ensemble.wording import escaping, formats
from ensemble.wording import marks as marks_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ensemble.recognition.classifier import Digit

MAX_CLASSES = 20  # classes with a row each
ROW_HEIGHT = 28  # pixels: it stands beside the picture, where there is less room than over the page
# How strongly bars are drawn: of the class said, of the others, and of a verdict that is rejected.
_SAID_OPACITY, _OTHERS_OPACITY, REJECTED_OPACITY = 1.0, 0.4, 0.22


def plot_mark_probabilities(digit: "Digit", names: Sequence[str], title: str, palette: Palette) -> "go.Figure":
    """The chart that test images have, without right and wrong: here nobody knows.

    Args:
      names: the classes' names, C of them; of many the likeliest have a row.
      title: what stands over it, so that a saved picture says what it shows; it may hold the
        name of a file.
    """
    digit, names = _keep_likeliest_classes(digit, names)
    mark_predictions = marks_words.build_mark_predictions(digit)
    chart = probability_bars.plot_probability_bars(mark_predictions, 0, names, "", palette)
    kept = probability_bars.select_likeliest_classes(mark_predictions, 0)
    worded = chart_style.build_chart_layout(title, ROW_HEIGHT * len(kept) + 150, palette)
    chart.update_layout(title=worded["title"], margin_t=worded["margin"]["t"], height=worded["height"])
    opacity = np.full(len(kept), REJECTED_OPACITY if digit.rejected else _OTHERS_OPACITY)
    if not digit.rejected:
        opacity[kept == digit.label] = _SAID_OPACITY
    chart.update_traces(marker={"color": palette.ink, "opacity": opacity.tolist()}, selector={"type": "bar"})
    row_labels = _label_mark_rows(digit, [escaping.escape_plotly_text(name) for name in names])
    chart.update_yaxes(ticktext=[row_labels[c] for c in kept])
    return chart


def _keep_likeliest_classes(digit: "Digit", names: Sequence[str]) -> tuple["Digit", Sequence[str]]:
    if len(names) <= MAX_CLASSES:
        return digit, names
    kept = np.sort(np.argsort(-digit.probabilities, kind="stable")[:MAX_CLASSES])
    few = replace(
        digit,
        label=int(np.flatnonzero(kept == digit.label)[0]),
        probabilities=digit.probabilities[kept],
        members=digit.members[:, kept],
    )
    return few, [names[c] for c in kept]


def _label_mark_rows(digit: "Digit", names: Sequence[str]) -> list[str]:
    """The rows' names; that of the class said in bold, unless it is rejected."""
    return [
        f"<b>{name}</b> " if c == digit.label and not digit.rejected else f"{name} " for c, name in enumerate(names)
    ]


def describe_mark_chart(digit: "Digit", names: Sequence[str]) -> str:
    """The chart in words: the likeliest classes."""
    likeliest = np.argsort(-np.asarray(digit.probabilities), kind="stable")[:3]
    text = ", ".join(f"{names[c]} {formats.format_probability(float(digit.probabilities[c]))}" for c in likeliest)
    rejected = f"{marks_words.describe_mark_rejection(names)}. " if digit.rejected else ""
    return f"{rejected}Averaged probabilities, likeliest first: {text}"


def tabulate_mark_probabilities(digit: "Digit", names: Sequence[str]) -> pd.DataFrame:
    """A row for the ensemble and each member: what it says, and its probabilities."""
    rows = [digit.probabilities, *digit.members]
    who = ["ensemble", *(f"member {m + 1}" for m in range(len(digit.members)))]
    answers = [names[int(np.argmax(row))] for row in rows]
    frame = pd.DataFrame(
        {"who": who, "says": answers, "rejected": digit.rejected, "score": digit.score, "threshold": digit.threshold}
    )
    for c, name in enumerate(names):
        frame[f"p_{name}"] = [float(row[c]) for row in rows]
    return frame
