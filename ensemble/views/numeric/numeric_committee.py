"""Committees: how good an ensemble with fewer of these members would be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.numeric_committees import NumericCommittee
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.numeric_predictions import format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ENOUGH_SHARE = 0.9  # of what all members save, from which on members are called enough


def build_numeric_committee(numbers: EvaluatedNumbers) -> View:
    committees = numbers.evaluation.committees
    if len(committees) == 1:
        yield Paragraph("Of one member there are no smaller ensembles.", "unavailable")
        return
    errors = [each.squared_error for each in committees]
    saved = errors[0] - errors[-1]
    enough = next(each.members for each in committees if errors[0] - each.squared_error >= _ENOUGH_SHARE * saved)
    one, every = (format_with_unit(errors[at] ** 0.5, numbers.unit) for at in (0, -1))
    share = formats.format_percent(_ENOUGH_SHARE, figures=2)
    yield Paragraph(
        f"{formats.format_count(enough, 'member')} of {numbers.members} save {share} of what all of them save."
        if saved > 0
        else "All members predict the same: more of them save nothing.",
        "answer",
    )
    yield Paragraph(
        f"Of the squared error, on {formats.format_count(numbers.n, 'example')}: the RMSE is {one} "
        f"of one member and {every} of all {numbers.members}. The mean over all choices of so many "
        "members, computed exactly.",
        "evidence",
    )
    title = f"Fewer members · {numbers.source}"
    unit = numbers.unit
    members = [each.rmse for each in numbers.evaluation.members]
    yield Figures.single(
        Figure(
            label="",
            alt=f"RMSE over the number of members: from {one} of one to {every} of {numbers.members}",
            explanation="Where the line is flat, more members save little.",
            draw=lambda palette: _plot_committee_errors(committees, members, unit, title, palette),
            key="numeric_committee",
            file="committee",
            title="RMSE by the number of members",
            table=lambda: _tabulate_committee_errors(committees),
        )
    )


def _plot_committee_errors(
    committees: Sequence[NumericCommittee], members: Sequence[float], unit: str, title: str, palette: Palette
) -> "go.Figure":
    """Plot the RMSE of smaller ensembles of these members by their size, and each member's RMSE.

    Args:
      committees: one of every size from 1.
      members: (M,), the members' RMSE.
      unit: the targets' unit; "" if unknown.
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


def _tabulate_committee_errors(committees: Sequence[NumericCommittee]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "members": [each.members for each in committees],
            "rmse": [each.squared_error**0.5 for each in committees],
            "crps": [each.crps for each in committees],
        }
    )


VIEW = RegisteredView(
    "committee",
    "Committee",
    "How good smaller ensembles of these members are",
    build_numeric_committee,
    place=50,
    page_break=False,
    numeric=True,
)
