"""Spread: how much of it is noise and how much disagreement, and whether it follows the error."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.numeric_diagnosis import SpreadSkill, measure_spread_skill
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.formats import format_significant
from ensemble.wording.numeric_predictions import format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go


def _plot_spread_skill(skill: SpreadSkill, unit: str, title: str, palette: Palette) -> "go.Figure":
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


_SPREAD_NAMES = {
    "normal": "The predicted spread is the mixture’s standard deviation.",
    "quantiles": "The predicted spread is half the width of the widest central interval.",
    "points": "Members give no spread: their disagreement stands for it, and noise is not in it.",
}


def build_numeric_spread(numbers: EvaluatedNumbers) -> View:
    skill = measure_spread_skill(numbers.predicted, numbers.targets, numbers.groups)
    if skill is None:
        why = (
            "One member that gives a number alone has no spread."
            if numbers.predicted.compute_spread() is None
            else "Too few examples to tell whether the spread follows the error."
        )
        yield Paragraph(why, "answer")
    else:
        noun = "disagreement" if numbers.evaluation.form == "points" else "predicted spread"
        yield Paragraph(f"{words.describe_spread_skill(skill, numbers.unit, noun)}.", "answer")
        yield Paragraph(words.describe_spread_evidence(skill), "evidence")
        yield Paragraph(_SPREAD_NAMES[numbers.predicted.form], "evidence")
        yield from _build_spread_figure(numbers, skill)
    yield Paragraph(words.describe_variance_parts(numbers.evaluation), "finding")
    aleatoric, epistemic = numbers.evaluation.aleatoric, numbers.evaluation.epistemic
    if numbers.members > 1 and aleatoric is not None:
        rows = [("aleatoric", aleatoric), ("epistemic", epistemic), ("both", aleatoric + epistemic)]
        yield Table(
            "Both parts, as the root of the mean variance",
            pd.DataFrame([{"part": name, "spread": format_significant(variance**0.5)} for name, variance in rows]),
            note="Aleatoric is the noise that each member expects: more members do not take it "
            "away. Epistemic is what the members disagree on: more data would.",
            key="numeric_parts",
            narrow=True,
        )


def _build_spread_figure(numbers: EvaluatedNumbers, skill: SpreadSkill) -> View:
    """Show the error of examples with a similar spread, by that spread."""
    ends = (_describe_spread_bin(skill, b, numbers.unit) for b in (0, len(skill.bins) - 1))
    title = f"Spread and error · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"Error over predicted spread, in {len(skill.bins)} bins. {'; '.join(ends)}",
            explanation="Each point is an even share of the examples. Above the dashed line: "
            "further off than predicted.",
            draw=lambda palette: _plot_spread_skill(skill, numbers.unit, title, palette),
            key="numeric_spread",
            file="spread",
            title="Error by predicted spread",
            table=lambda: pd.DataFrame([vars(each) for each in skill.bins]),
        )
    )


VIEW = RegisteredView(
    "spread",
    "Spread and error",
    "How much of the spread is noise and how much disagreement",
    build_numeric_spread,
    place=30,
    page_break=False,
    numeric=True,
)
