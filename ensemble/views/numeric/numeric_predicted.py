"""Predicted against true, with intervals."""

import numpy as np

from ensemble.analysis.inference.image_groups import grouped_mean_interval
from ensemble.figures.numeric import predicted_numbers as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, View
from ensemble.wording import formats
from ensemble.wording.formats import format_significant
from ensemble.wording.numeric_predictions import format_with_unit


def build_numeric_predicted(numbers: EvaluatedNumbers) -> View:
    """How the predicted follow the true numbers, and the figure."""
    mean, targets = numbers.predicted.compute_mean(), numbers.targets
    varied = np.ptp(mean) > 0 and np.ptp(targets) > 0
    correlation = float(np.corrcoef(mean, targets)[0, 1]) if varied else float("nan")
    bias = float((mean - targets).mean())
    low, high = grouped_mean_interval(mean - targets, None)
    side = "too high" if bias > 0 else "too low"
    lean = (
        "no sign that they are too high or too low on average"
        if low <= 0 <= high
        else f"on average they are {format_with_unit(abs(bias), numbers.unit)} {side}"
    )
    yield Paragraph(
        f"Predicted and true numbers go together with a correlation of "
        f"{format_significant(correlation)}; {lean}.",
        "answer",
    )
    yield Paragraph(
        f"Mean error {format_significant(bias)} ({format_significant(low)} to "
        f"{format_significant(high)}) on {formats.format_count(numbers.n, 'example')}.",
        "evidence",
    )
    interval = numbers.main_interval
    ends = interval[1] if interval else None
    said = (
        f"Lines are intervals of {formats.format_percent(interval[0], figures=2)}. "
        if interval
        else ""
    )
    drawn = len(figures.select_spread_examples(targets))
    some = f" {drawn:,} of them are drawn, evenly by what is true." if drawn < numbers.n else ""
    title = f"Predicted against true · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_predicted_chart(targets, correlation),
            explanation=f"On the dashed line all is right. {said}{some}".strip(),
            draw=lambda palette: figures.plot_predicted_numbers(
                numbers.predicted,
                targets,
                ends,
                numbers.example_names,
                numbers.unit,
                title,
                palette,
            ),
            key="numeric_predicted",
            file="predicted",
            title="Predicted against true",
            table=lambda: figures.tabulate_predicted_numbers(numbers.predicted, targets, ends),
        )
    )
