"""What one run gets right and another does not, class by class."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


def find_won_and_lost(predictions: EnsemblePredictions, other_predictions: EnsemblePredictions) -> tuple[Ints, Ints]:
    """The numbers of the images that only ours, and that only theirs has right; surest first."""
    pair = [
        np.flatnonzero(a & ~b)
        for a, b in ((predictions.right, other_predictions.right), (other_predictions.right, predictions.right))
    ]
    won, lost = (numbers[np.argsort(-predictions.confidence[numbers], kind="stable")] for numbers in pair)
    return won, lost


def count_wins_by_class(labels: Ints, won: Ints, lost: Ints, classes: int) -> tuple[Ints, Ints]:
    """How many of each class were won, and lost: (C,) and (C,)."""
    first, second = (np.bincount(labels[numbers], minlength=classes) for numbers in (won, lost))
    return first, second


MAX_CLASSES = 30  # classes in the picture


def select_most_changed_classes(counts: tuple[Ints, Ints], most: int = MAX_CLASSES) -> Ints:
    """The classes of the picture, rising: all, or those with the most won and lost."""
    order = np.argsort(-(counts[0] + counts[1]), kind="stable")
    return np.sort(order[:most])


def plot_wins_by_class(
    counts: tuple[Ints, Ints], names: Sequence[str], noun: str, title: str, palette: Palette
) -> "go.Figure":
    """Bars of what was won up, and of what was lost down, one pair a class.

    Of more than `MAX_CLASSES` classes those with the most of both.

    Args:
      counts: (C,) won and (C,) lost.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    kept = select_most_changed_classes(counts)
    names = [escaping.escape_plotly_text(names[c]) for c in kept]
    counts = counts[0][kept], counts[1][kept]
    sides = (("won", 1, RIGHT_COLOR), ("lost", -1, WRONG_COLOR))
    bars: list[dict[str, Any]] = [
        {
            "x": list(range(len(names))),
            "y": sign * count,
            "name": name,
            "marker": {"color": color},
            "hoverinfo": "text",
            "hovertext": [f"{names[c]}: {formats.format_count(int(count[c]), noun)} {name}" for c in range(len(names))],
            "text": [f"{number:,}" if number else "" for number in count],
            "textposition": "outside",
            "cliponaxis": False,
        }
        for (name, sign, color), count in zip(sides, counts, strict=True)
    ]
    chart = go.Figure([go.Bar(bar) for bar in bars])
    chart.update_layout(chart_style.build_chart_layout(title, 400, palette, barmode="relative", bargap=0.35))
    low, high = (-1.2 * counts[1].max(), 1.2 * counts[0].max())
    room = 0.08 * max(1.0, high - low)
    ticks = compute_whole_ticks(low, high)
    chart.update_xaxes(
        tickvals=list(range(len(names))), ticktext=list(names), fixedrange=True, title=f"what the {noun} is"
    )
    chart.update_yaxes(
        range=[low - room, high + room],
        tickvals=ticks,
        title=f"{pluralize_noun(noun)}",
        fixedrange=True,
        ticktext=[f"{abs(tick):,}" for tick in ticks],
        automargin=True,
        zerolinecolor=MUTED_COLOR,
    )
    return chart


def compute_whole_ticks(low: float, high: float) -> list[int]:
    """Whole round numbers from `low` to `high`, about five."""
    rough = max(1.0, (high - low) / 5)
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(lead * power for lead in (1, 2, 5, 10) if lead * power >= rough))
    return list(range(math.ceil(low / step) * step, math.floor(high / step) * step + 1, step))


def tabulate_won_and_lost(
    predictions: EnsemblePredictions, other_predictions: EnsemblePredictions, names: Sequence[str]
) -> pd.DataFrame:
    """Every image that only one of the two has right: what it is, and what either says."""
    won, lost = find_won_and_lost(predictions, other_predictions)
    numbers, named = np.concatenate([won, lost]), np.asarray(names, object)
    return pd.DataFrame(
        {
            "number": numbers,
            "outcome": ["won"] * len(won) + ["lost"] * len(lost),
            "label": named[predictions.labels[numbers]],
            "says": named[predictions.said[numbers]],
            "confidence": predictions.confidence[numbers],
            "other_says": named[other_predictions.said[numbers]],
            "other_confidence": other_predictions.confidence[numbers],
        }
    )
