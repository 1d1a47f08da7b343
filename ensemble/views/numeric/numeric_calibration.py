"""Calibration: whether targets fall within what is predicted as often as it says."""

import pandas as pd

from ensemble.analysis.numeric.conformal_intervals import ConformalIntervals
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import measure_mean_error, measure_pit_histogram
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.figures.numeric import calibration_of_numbers as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Columns, Figure, Figures, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant


def build_numeric_calibration(numbers: EvaluatedNumbers) -> View:
    evaluation = numbers.evaluation
    if evaluation.form == "points":
        yield Paragraph(words.NO_SPREAD_SENTENCE, "answer")
    elif isinstance(numbers.predicted, NormalMixture):
        histogram = measure_pit_histogram(numbers.predicted, numbers.targets, numbers.groups)
        yield Paragraph(f"{words.describe_pit(histogram)}.", "answer")
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
    title = f"Where targets fall · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_pit_chart(histogram),
            explanation="Even where predictions are calibrated; chance leaves every bar within the "
            "band in 95 of 100 such pictures. High ends: spreads too small.",
            draw=lambda palette: figures.plot_pit_histogram(histogram, title, palette),
            key="numeric_pit",
            file="pit",
            title="Where targets fall within what is predicted",
            table=lambda: figures.tabulate_pit_histogram(histogram),
        )
    )


def _build_coverage_figure(numbers: EvaluatedNumbers) -> View:
    coverage = numbers.evaluation.coverage
    title = f"Intervals · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_coverage_chart(coverage),
            explanation="Below the dashed line: intervals that hold fewer targets than they promise.",
            draw=lambda palette: figures.plot_interval_coverage(coverage, title, palette),
            key="numeric_coverage",
            file="coverage",
            title="Held against promised",
            table=lambda: figures.tabulate_coverage(coverage),
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
