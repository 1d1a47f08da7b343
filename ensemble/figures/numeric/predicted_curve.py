"""The predicted curve along the one input of a table, with its bands."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.normal_mixture import Doubles
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, Palette
from ensemble.numeric.numeric_predictions import NumericCurve
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.formats import format_significant

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_POINTS = 400
BAND = 1.959964  # standard deviations of a band of 95 %


def plot_predicted_curve(
    curve: NumericCurve, targets: Doubles, target_name: str, title: str, palette: Palette
) -> "go.Figure":
    """Draw the mean, the members' disagreement, the whole predicted spread, and the test rows.

    Args:
      targets: (N,), of the test rows.
    """
    import plotly.graph_objects as go  # here, because it takes a while to import

    table = tabulate_predicted_curve(curve)
    inputs, mean = table[curve.name], table["mean"]
    chart = go.Figure()
    for name, spread, opacity in (
        ("all predicted uncertainty (95 %)", table["sd"], 0.18),
        ("members’ disagreement (95 %)", table["epistemic sd"], 0.35),
    ):
        chart.add_scatter(
            x=np.concatenate([inputs, inputs[::-1]]),
            y=np.concatenate([mean + BAND * spread, (mean - BAND * spread)[::-1]]),
            fill="toself",
            mode="lines",
            name=name,
            line={"width": 0},
            fillcolor=f"rgba(102, 153, 204, {opacity})",
            hoverinfo="skip",
        )
    chart.add_scatter(x=inputs, y=mean, mode="lines", name="ensemble", line={"color": palette.ink, "width": 3})
    drawn = np.linspace(0, len(targets) - 1, min(MAX_POINTS, len(targets))).astype(int)
    chart.add_scatter(
        x=curve.test_inputs[drawn],
        y=targets[drawn],
        mode="markers",
        name="test rows",
        marker={"color": RIGHT_COLOR, "size": 5},
    )
    for end in (curve.low, curve.high):
        chart.add_vline(x=end, line={"color": MUTED_COLOR, "width": 1, "dash": "dash"})
    chart.update_layout(chart_style.build_chart_layout(title, 460, palette))
    chart.update_xaxes(title=escape_plotly_text(curve.name), fixedrange=True)
    chart.update_yaxes(title=escape_plotly_text(target_name or "target"), fixedrange=True, automargin=True)
    return chart


def tabulate_predicted_curve(curve: NumericCurve) -> pd.DataFrame:
    """Tabulate the curve: a row for each input."""
    predicted = curve.predicted
    return pd.DataFrame(
        {
            curve.name: curve.inputs,
            "mean": predicted.compute_mean(),
            "sd": predicted.compute_spread(),
            "epistemic sd": np.sqrt(predicted.compute_epistemic_variance()),
        }
    )


def describe_predicted_curve(curve: NumericCurve) -> str:
    spread = curve.predicted.compute_spread()
    inside = (curve.inputs >= curve.low) & (curve.inputs <= curve.high)
    within, beyond = (format_significant(float(np.median(spread[part]))) for part in (inside, ~inside))
    return (
        f"The ensemble’s mean along {curve.name} with bands of 95 %: the predicted standard "
        f"deviation is {within} in the training range and {beyond} outside it (medians)."
    )
