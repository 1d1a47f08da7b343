"""Whether the predicted spread follows the error, and how errors fall with more members."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.numeric_committees import NumericCommittee
from ensemble.analysis.numeric.numeric_diagnosis import SpreadSkill
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import formats
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.numeric_predictions import format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go


def plot_spread_skill(skill: SpreadSkill, unit: str, title: str, palette: Palette) -> "go.Figure":
    """The RMSE of examples with a like spread, over that spread.

    Args:
      unit: of the targets; "" where it is not known.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    unit = escape_plotly_text(unit)
    spreads = np.array([each.spread for each in skill.bins])
    errors = np.array([each.rmse for each in skill.bins])
    lows = np.array([each.low for each in skill.bins])
    highs = np.array([each.high for each in skill.bins])
    top = 1.05 * float(spreads.max())
    chart = go.Figure()
    chart.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        name="as far off as predicted",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    chart.add_scatter(
        x=spreads,
        y=errors,
        mode="lines+markers",
        line=chart_style.style_ensemble_line(palette),
        marker={"size": 8},
        name="ensemble",
        error_y={"symmetric": False, "array": highs - errors, "arrayminus": errors - lows, "thickness": 1, "width": 3},
        hoverinfo="text",
        hovertext=[_describe_spread_bin(skill, b, unit) for b in range(len(skill.bins))],
    )
    chart.update_layout(chart_style.build_chart_layout(title, 400, palette))
    of_unit = f", {unit}" if unit else ""
    chart.update_xaxes(title=f"predicted spread{of_unit}", range=[0, top], fixedrange=True)
    chart.update_yaxes(title=f"RMSE{of_unit}", rangemode="tozero", fixedrange=True, automargin=True)
    return chart


def _describe_spread_bin(skill: SpreadSkill, b: int, unit: str) -> str:
    each = skill.bins[b]
    return (
        f"{formats.format_count(each.examples, 'example')} with a predicted spread of "
        f"{format_with_unit(each.spread, unit)}: off by {format_with_unit(each.rmse, unit)} "
        f"({formats.format_significant(each.low)} to {formats.format_significant(each.high)})"
    )


def describe_spread_chart(skill: SpreadSkill, unit: str) -> str:
    ends = (_describe_spread_bin(skill, b, unit) for b in (0, len(skill.bins) - 1))
    return f"Error over predicted spread, in {len(skill.bins)} bins. {'; '.join(ends)}"


def tabulate_spread_skill(skill: SpreadSkill) -> pd.DataFrame:
    return pd.DataFrame([vars(each) for each in skill.bins])


def plot_committee_errors(
    committees: Sequence[NumericCommittee], members: Sequence[float], unit: str, title: str, palette: Palette
) -> "go.Figure":
    """The RMSE of smaller ensembles of these members over their size, and each member's.

    Args:
      committees: of every size from 1.
      members: (M,), the members' RMSE.
      unit: of the targets; "" where it is not known.
    """
    import plotly.graph_objects as go

    unit = escape_plotly_text(unit)
    chart = go.Figure()
    chart.add_scatter(
        x=[1] * len(members),
        y=list(members),
        mode="markers",
        name="each member",
        marker={"color": MUTED_COLOR, "size": 8},
        hoverinfo="text",
        hovertext=[f"Member {m + 1}: {format_with_unit(error, unit)}" for m, error in enumerate(members)],
    )
    errors = [float(np.sqrt(each.squared_error)) for each in committees]
    chart.add_scatter(
        x=[each.members for each in committees],
        y=errors,
        mode="lines+markers",
        line=chart_style.style_ensemble_line(palette),
        marker={"size": 8},
        name="mean of all choices",
        hoverinfo="text",
        hovertext=[
            f"{formats.format_count(each.members, 'member')}: {format_with_unit(error, unit)}"
            for each, error in zip(committees, errors, strict=True)
        ],
    )
    chart.update_layout(chart_style.build_chart_layout(title, 380, palette))
    chart.update_xaxes(title="members", dtick=1 if len(committees) <= 20 else None, fixedrange=True)
    chart.update_yaxes(title=f"RMSE, {unit}" if unit else "RMSE", fixedrange=True, automargin=True)
    return chart


def describe_committee_chart(committees: Sequence[NumericCommittee], unit: str) -> str:
    first, last = committees[0], committees[-1]
    return (
        f"RMSE over the number of members: from {format_with_unit(first.squared_error**0.5, unit)} "
        f"of one to {format_with_unit(last.squared_error**0.5, unit)} of {last.members}"
    )


def tabulate_committee_errors(committees: Sequence[NumericCommittee]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "members": [each.members for each in committees],
            "rmse": [each.squared_error**0.5 for each in committees],
            "crps": [each.crps for each in committees],
        }
    )
