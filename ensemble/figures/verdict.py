"""One mark's probabilities: the ensemble's as bars in ink, each member's own as dots on them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.figures import bars, lines
from ensemble.figures.palette import Palette
from ensemble.wording import escaping, formats
from ensemble.wording import marks as marks_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ensemble.recognition.classifier import Digit

MOST = 20  # classes with a row each
ROW = 28  # pixels: it stands beside the picture, where there is less room than over the page
# How strongly bars are drawn: of the class said, of the others, and of a verdict that is rejected.
SAID, OTHERS, REJECTED = 1.0, 0.4, 0.22


def figure(digit: "Digit", names: Sequence[str], title: str, palette: Palette) -> "go.Figure":
    """The chart that test images have, without right and wrong: here nobody knows.

    Args:
      digit: what is said of the mark.
      names: the classes' names, C of them; of many the likeliest have a row.
      title: what stands over it, so that a saved picture says what it shows; it may hold the
        name of a file.
      palette: the page's colours.
    """
    digit, names = likeliest(digit, names)
    made = marks_words.predictions(digit)
    chart = bars.figure(made, 0, names, "", palette)
    kept = bars.likeliest(made, 0)
    worded = lines.layout(title, ROW * len(kept) + 150, palette)
    chart.update_layout(
        title=worded["title"], margin_t=worded["margin"]["t"], height=worded["height"]
    )
    opacity = np.full(len(kept), REJECTED if digit.rejected else OTHERS)
    if not digit.rejected:
        opacity[kept == digit.label] = SAID
    chart.update_traces(
        marker={"color": palette.ink, "opacity": opacity.tolist()}, selector={"type": "bar"}
    )
    told = labels(digit, [escaping.figure(name) for name in names])
    chart.update_yaxes(ticktext=[told[c] for c in kept])
    return chart


def likeliest(digit: "Digit", names: Sequence[str]) -> tuple["Digit", Sequence[str]]:
    """Of many classes those that have a row, in their order, and their names."""
    if len(names) <= MOST:
        return digit, names
    kept = np.sort(np.argsort(-digit.probabilities, kind="stable")[:MOST])
    few = replace(
        digit,
        label=int(np.flatnonzero(kept == digit.label)[0]),
        probabilities=digit.probabilities[kept],
        members=digit.members[:, kept],
    )
    return few, [names[c] for c in kept]


def labels(digit: "Digit", names: Sequence[str]) -> list[str]:
    """The rows' names; that of the class said in bold, unless it is rejected."""
    return [
        f"<b>{name}</b> " if c == digit.label and not digit.rejected else f"{name} "
        for c, name in enumerate(names)
    ]


def alt(digit: "Digit", names: Sequence[str]) -> str:
    """The chart in words: the likeliest classes."""
    likeliest = np.argsort(-np.asarray(digit.probabilities), kind="stable")[:3]
    told = ", ".join(
        f"{names[c]} {formats.chance(float(digit.probabilities[c]))}" for c in likeliest
    )
    rejected = f"{marks_words.rejection(names)}. " if digit.rejected else ""
    return f"{rejected}Averaged probabilities, likeliest first: {told}"


def table(digit: "Digit", names: Sequence[str]) -> pd.DataFrame:
    """A row for the ensemble and each member: what it says, and its probabilities."""
    rows = [digit.probabilities, *digit.members]
    who = ["ensemble", *(f"member {m + 1}" for m in range(len(digit.members)))]
    told = [names[int(np.argmax(row))] for row in rows]
    frame = pd.DataFrame(
        {
            "who": who,
            "says": told,
            "rejected": digit.rejected,
            "score": digit.score,
            "threshold": digit.threshold,
        }
    )
    for c, name in enumerate(names):
        frame[f"p_{name}"] = [float(row[c]) for row in rows]
    return frame
