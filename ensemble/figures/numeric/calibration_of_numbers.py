"""Where targets fall within what is predicted, and how often intervals hold them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.numeric_diagnosis import PitHistogram
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette, build_band_color
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go


def plot_pit_histogram(histogram: PitHistogram, title: str, palette: Palette) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    counts = np.array(histogram.counts)
    edges = np.linspace(0, 1, len(counts) + 1)
    outside = (counts < histogram.low) | (counts > histogram.high)
    chart = go.Figure()
    for name, chosen, color in (("within chance", ~outside, RIGHT_COLOR), ("beyond chance", outside, WRONG_COLOR)):
        bins = np.flatnonzero(chosen)
        if not len(bins):
            continue
        chart.add_bar(
            x=(edges[bins] + edges[bins + 1]) / 2,
            y=counts[bins],
            width=1 / len(counts),
            name=name,
            marker={"color": color, "line": {"color": palette.ground, "width": 1}},
            hoverinfo="text",
            hovertext=[
                f"{formats.format_count(int(counts[b]), 'target')} between "
                f"{formats.format_percent_range(edges[b], edges[b + 1])} of what is predicted; {name}"
                for b in bins
            ],
        )
    chart.add_hrect(histogram.low, histogram.high, fillcolor=build_band_color(), line_width=0, layer="above")
    chart.add_hline(counts.sum() / len(counts), line={"color": palette.ink, "dash": "dash"})
    chart.update_layout(chart_style.build_chart_layout(title, 380, palette))
    chart.update_xaxes(
        title="share of what is predicted that lies below the target",
        range=[0, 1],
        **chart_style.build_percent_ticks(),
        fixedrange=True,
    )
    chart.update_yaxes(title="examples", rangemode="tozero", fixedrange=True, automargin=True, tickformat=",d")
    return chart


def describe_pit_chart(histogram: PitHistogram) -> str:
    counts = ", ".join(f"{count:,}" for count in histogram.counts)
    return (
        f"Targets in {len(histogram.counts)} even bins of what is predicted, from its low end to its high end: "
        f"{counts}; chance leaves all between {histogram.low:,.0f} and {histogram.high:,.0f}"
    )


def tabulate_pit_histogram(histogram: PitHistogram) -> pd.DataFrame:
    edges = np.linspace(0, 1, len(histogram.counts) + 1)
    return pd.DataFrame(
        {
            "above": edges[:-1],
            "up_to": edges[1:],
            "examples": histogram.counts,
            "chance_low": histogram.low,
            "chance_high": histogram.high,
        }
    )


def plot_interval_coverage(coverage: Sequence[IntervalCoverage], title: str, palette: Palette) -> "go.Figure":
    """The share that intervals hold over the share that they promise.

    Args:
      coverage: of each level, rising; at least one.
    """
    import plotly.graph_objects as go

    chart = go.Figure()
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often as they promise",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    held = [each.held for each in coverage]
    chart.add_scatter(
        x=[each.level for each in coverage],
        y=held,
        mode="lines+markers",
        line=chart_style.style_ensemble_line(palette),
        marker={"size": 8},
        cliponaxis=False,
        name="ensemble",
        error_y={
            "symmetric": False,
            "array": [each.high - each.held for each in coverage],
            "arrayminus": [each.held - each.low for each in coverage],
            "thickness": 1,
            "width": 3,
        },
        hoverinfo="text",
        hovertext=[
            f"Intervals of {formats.format_percent(each.level, figures=2)} hold "
            f"{formats.format_percent(each.held, figures=3)} "
            f"({formats.format_percent_range(each.low, each.high, 1)})"
            for each in coverage
        ],
    )
    chart.update_layout(chart_style.build_chart_layout(title, 380, palette))
    ticks = chart_style.build_percent_ticks()
    chart.update_xaxes(title="promised", range=[0, 1], **ticks, fixedrange=True)
    chart.update_yaxes(title="held", range=[0, 1.02], **ticks, fixedrange=True, automargin=True)
    return chart


def describe_coverage_chart(coverage: Sequence[IntervalCoverage]) -> str:
    parts = [
        f"{formats.format_percent(each.level, figures=2)} promised, {formats.format_percent(each.held, figures=3)} held"
        for each in coverage
    ]
    return f"Intervals: {'; '.join(parts)}"


def tabulate_coverage(coverage: Sequence[IntervalCoverage]) -> pd.DataFrame:
    return pd.DataFrame([vars(each) for each in coverage])
