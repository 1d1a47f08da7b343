"""Calibration: whether targets lie within the predicted intervals as often as promised."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.conformal_intervals import ConformalIntervals
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import PitHistogram, measure_mean_error, measure_pit_histogram
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette, build_band_color
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Columns, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant

if TYPE_CHECKING:
    import plotly.graph_objects as go


def _plot_pit_histogram(histogram: PitHistogram, title: str, palette: Palette) -> "go.Figure":
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


def _tabulate_pit_histogram(histogram: PitHistogram) -> pd.DataFrame:
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


def _plot_interval_coverage(coverage: Sequence[IntervalCoverage], title: str, palette: Palette) -> "go.Figure":
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


def build_numeric_calibration(numbers: EvaluatedNumbers) -> View:
    evaluation = numbers.evaluation
    if evaluation.form == "points":
        yield Paragraph(words.NO_SPREAD_SENTENCE, "answer")
    elif isinstance(numbers.predicted, NormalMixture):
        histogram = measure_pit_histogram(numbers.predicted, numbers.targets, numbers.groups)
        yield Paragraph(f"{words.PIT_SHAPES[histogram.shape]}.", "answer")
        yield Paragraph(words.describe_pit_evidence(histogram, numbers.n), "evidence")
    elif coverage := evaluation.main_coverage:
        clause = words.describe_coverage(coverage)
        yield Paragraph(f"{clause[0].upper()}{clause[1:]}.", "answer")
        yield Paragraph(
            "Nothing is assumed between the levels that were given: coverage is counted between "
            f"them, on {formats.format_count(numbers.n, 'example')}.",
            "evidence",
        )
    else:
        yield Paragraph("No two levels lie evenly on both sides of 0.5: no central interval can be counted.", "answer")
    error = measure_mean_error(numbers.predicted, numbers.targets, numbers.groups)
    yield Paragraph(words.describe_mean_error(error, numbers.unit), "evidence")
    if evaluation.coverage and isinstance(numbers.predicted, NormalMixture):
        yield Columns((1, 1), (lambda: _build_pit_figure(numbers), lambda: _build_coverage_figure(numbers)))
    elif evaluation.coverage:
        yield from _build_coverage_figure(numbers)
    if evaluation.conformal:
        yield Paragraph(words.describe_conformal_intervals(evaluation), "finding")
    if evaluation.coverage or evaluation.conformal:
        yield Table(
            "Intervals: what they promise, and what they hold",
            _tabulate_intervals(numbers),
            note="Width is the mean over examples, in the targets’ unit. The intervals of “held” "
            "are at 98.3 %, so that coverage, histogram and mean error are at 95 % together. The "
            "conformal ones were set on one half and counted on the other (95 %).",
            key="numeric_intervals",
        )


def _build_pit_figure(numbers: EvaluatedNumbers) -> View:
    assert isinstance(numbers.predicted, NormalMixture)
    histogram = measure_pit_histogram(numbers.predicted, numbers.targets, numbers.groups)
    counts = ", ".join(f"{count:,}" for count in histogram.counts)
    title = f"Where targets fall · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"Targets in {len(histogram.counts)} even bins of what is predicted, from its low end to its high end: "
            f"{counts}; chance leaves all between {histogram.low:,.0f} and {histogram.high:,.0f}",
            explanation="Even where predictions are calibrated; chance leaves every bar within the "
            "band in 95 of 100 such pictures. High ends: spreads too small.",
            draw=lambda palette: _plot_pit_histogram(histogram, title, palette),
            key="numeric_pit",
            file="pit",
            title="Where targets fall within what is predicted",
            table=lambda: _tabulate_pit_histogram(histogram),
        )
    )


def _build_coverage_figure(numbers: EvaluatedNumbers) -> View:
    coverage = numbers.evaluation.coverage
    parts = [
        f"{formats.format_percent(each.level, figures=2)} promised, {formats.format_percent(each.held, figures=3)} held"
        for each in coverage
    ]
    title = f"Intervals · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"Intervals: {'; '.join(parts)}",
            explanation="Below the dashed line: intervals that hold fewer targets than they promise.",
            draw=lambda palette: _plot_interval_coverage(coverage, title, palette),
            key="numeric_coverage",
            file="coverage",
            title="Held against promised",
            table=lambda: pd.DataFrame([vars(each) for each in coverage]),
        )
    )


def _tabulate_intervals(numbers: EvaluatedNumbers) -> pd.DataFrame:
    evaluation = numbers.evaluation
    named: list[tuple[str, IntervalCoverage | ConformalIntervals]] = [
        ("predicted", each) for each in evaluation.coverage
    ]
    if evaluation.conformal:
        named.append(("conformal", evaluation.conformal))
    return pd.DataFrame(
        [
            {
                "intervals": kind,
                "promised": formats.format_percent(each.level, figures=2),
                "held": f"{formats.format_percent(each.held, figures=3)} "
                f"({formats.format_percent_range(each.low, each.high, 1)})",
                "width": format_significant(each.width),
            }
            for kind, each in named
        ]
    )


VIEW = RegisteredView(
    "calibration",
    "Calibration",
    "Whether targets fall inside the predicted intervals as often as promised",
    build_numeric_calibration,
    place=20,
    page_break=False,
    numeric=True,
)
