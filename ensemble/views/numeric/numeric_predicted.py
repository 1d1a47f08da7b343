"""Predicted against true, with intervals."""

import numpy as np

from ensemble.analysis.numeric.numeric_diagnosis import measure_mean_error
from ensemble.figures.numeric import predicted_curve as curves
from ensemble.figures.numeric import predicted_numbers as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, View
from ensemble.wording import formats
from ensemble.wording.formats import format_significant
from ensemble.wording.numeric_predictions import describe_mean_error, format_with_unit


def build_numeric_predicted(numbers: EvaluatedNumbers) -> View:
    mean, targets = numbers.predicted.compute_mean(), numbers.targets
    varied = np.ptp(mean) > 0 and np.ptp(targets) > 0
    correlation = float(np.corrcoef(mean, targets)[0, 1]) if varied else float("nan")
    error = measure_mean_error(numbers.predicted, targets, numbers.groups)
    side = "too low" if error.low > 0 else "too high"
    lean = (
        "no sign that they are too high or too low on average"
        if error.low <= 0 <= error.high
        else f"on average they are {format_with_unit(abs(error.mean), numbers.unit)} {side}"
    )
    yield Paragraph(
        f"Predicted and true numbers have a correlation of {format_significant(correlation)}; {lean}.", "answer"
    )
    yield Paragraph(describe_mean_error(error, numbers.unit), "evidence")
    if curve := numbers.curve:
        yield Paragraph(curves.describe_predicted_curve(curve), "evidence")
        yield Figures.single(
            Figure(
                label="",
                alt=curves.describe_predicted_curve(curve),
                explanation="Dashed lines: the training range. Outside it members extrapolate.",
                draw=lambda palette: curves.plot_predicted_curve(
                    curve, targets, numbers.target_name, f"Curve · {numbers.source}", palette
                ),
                key="numeric_curve",
                file="curve",
                title=f"Predictions along {curve.name}",
                table=lambda: curves.tabulate_predicted_curve(curve),
            )
        )
    interval = numbers.main_interval
    ends = interval[1] if interval else None
    said = f"Lines are intervals of {formats.format_percent(interval[0], figures=2)}. " if interval else ""
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
                ends=ends,
                names=numbers.example_names,
                unit=numbers.unit,
                title=title,
                palette=palette,
            ),
            key="numeric_predicted",
            file="predicted",
            title="Predicted against true",
            table=lambda: figures.tabulate_predicted_numbers(numbers.predicted, targets, ends),
        )
    )
