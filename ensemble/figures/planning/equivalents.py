"""What independent members come to, and how many of them other predictions are worth."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.planning.equivalents import LikelihoodCurve, MemberEquivalent
from ensemble.figures import chart_style
from ensemble.figures.palette import MEMBER_HUES, Palette
from ensemble.wording import escaping
from ensemble.wording.verdicts import plan as words

if TYPE_CHECKING:
    import plotly.graph_objects as go


def plot_member_equivalents(
    likelihood_curve: LikelihoodCurve,
    candidates: Mapping[str, tuple[float, MemberEquivalent]],
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The calibrated log-likelihood over the members, and each candidate at its height.

    Args:
      likelihood_curve: of the independent members.
      candidates: by what each is called, its own mean log-likelihood and what it is worth.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure()
    chart.add_scatter(
        x=likelihood_curve.sizes,
        y=likelihood_curve.mean,
        mode="lines+markers",
        line=chart_style.style_ensemble_line(palette),
        name="independent members",
        cliponaxis=False,
        hovertemplate="%{x} members: %{y:.4f} nats<extra></extra>",
    )
    for number, (name, (height, equivalent)) in enumerate(candidates.items()):
        at, (low, high) = (
            clip_to_axis(equivalent.value, equivalent),
            (clip_to_axis(equivalent.low, equivalent), clip_to_axis(equivalent.high, equivalent)),
        )
        color = MEMBER_HUES[number % len(MEMBER_HUES)]
        chart.add_scatter(
            x=[at],
            y=[height],
            mode="markers",
            name=escaping.escape_plotly_text(name),
            cliponaxis=False,
            marker={"color": color, "size": 11, "symbol": "diamond"},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - at],
                "arrayminus": [at - low],
                "color": color,
                "thickness": 2,
            },
            hoverinfo="text",
            hovertext=f"{escaping.escape_plotly_text(name)}: worth {words.format_member_equivalent(equivalent)}",
        )
    last = int(likelihood_curve.sizes[-1])
    chart.update_layout(chart_style.build_chart_layout(title, 400, palette))
    chart.update_xaxes(title="independent members", range=[0.4, last + 1], fixedrange=True)
    chart.update_yaxes(title="calibrated log-likelihood, nats", fixedrange=True, automargin=True)
    return chart


def clip_to_axis(value: float, equivalent: MemberEquivalent) -> float:
    """Where a number of members stands on the axis: beyond the last, or before the first."""
    return float(np.clip(value, 0.5, equivalent.members + 0.5))


def tabulate_member_equivalents(candidates: Mapping[str, tuple[float, MemberEquivalent]]) -> pd.DataFrame:
    """Each candidate: its log-likelihood, what it is worth and the ends of the interval."""
    return pd.DataFrame(
        [
            {
                "predictions": name,
                "calibrated_log_likelihood": height,
                "members": equivalent.value,
                "low_95": equivalent.low,
                "high_95": equivalent.high,
            }
            for name, (height, equivalent) in candidates.items()
        ]
    )
