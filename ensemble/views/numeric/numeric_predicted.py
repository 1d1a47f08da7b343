"""Predicted against true, with intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles
from ensemble.analysis.numeric.numeric_diagnosis import measure_mean_error
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.runs.numeric.numeric_predictions import NumericCurve
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.formats import format_significant
from ensemble.wording.numeric_predictions import describe_mean_error, format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go


BAND = 1.959964  # standard deviations of a band of 95 %


def _plot_predicted_curve(
    curve: NumericCurve, targets: Doubles, target_name: str, title: str, palette: Palette
) -> "go.Figure":
    """Draw the mean, the members' disagreement, the whole predicted spread, and the test rows.

    Args:
      targets: (N,), of the test rows.
    """
    import plotly.graph_objects as go  # here, because it takes a while to import

    table = _tabulate_predicted_curve(curve)
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


def _tabulate_predicted_curve(curve: NumericCurve) -> pd.DataFrame:
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


def _describe_predicted_curve(curve: NumericCurve) -> str:
    spread = curve.predicted.compute_spread()
    inside = (curve.inputs >= curve.low) & (curve.inputs <= curve.high)
    within, beyond = (format_significant(float(np.median(spread[part]))) for part in (inside, ~inside))
    return (
        f"The ensemble’s mean along {curve.name} with bands of 95 %: the predicted standard "
        f"deviation is {within} in the training range and {beyond} outside it (medians)."
    )


MAX_POINTS = 400  # more would be sent and not be told apart


def plot_predicted_numbers(
    ensemble: NumericEnsemble,
    targets: Doubles,
    ends: tuple[Doubles, Doubles] | None,
    names: Sequence[str],
    unit: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The predicted over the true number, with intervals.

    Args:
      targets: (N,).
      ends: (N,) each, of an interval; None without any.
      unit: of the targets; "" where it is not known.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    unit = escape_plotly_text(unit)
    drawn = _select_spread_examples(targets)
    mean = ensemble.compute_mean()
    chart = go.Figure()
    low, high = float(targets.min()), float(targets.max())
    chart.add_scatter(
        x=[low, high],
        y=[low, high],
        mode="lines",
        name="as it is",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    if ends is None:
        groups = [("predicted", drawn, RIGHT_COLOR)]
    else:
        inside = (ends[0] <= targets) & (targets <= ends[1])
        groups = [
            ("✓ interval holds the target", drawn[inside[drawn]], RIGHT_COLOR),
            ("✗ interval misses it", drawn[~inside[drawn]], WRONG_COLOR),
        ]
    for name, chosen, color in groups:
        if not len(chosen):
            continue
        error_y = (
            {}
            if ends is None
            else {
                "error_y": {
                    "symmetric": False,
                    "array": ends[1][chosen] - mean[chosen],
                    "arrayminus": mean[chosen] - ends[0][chosen],
                    "thickness": 0.7,
                    "width": 0,
                }
            }
        )
        chart.add_scatter(
            x=targets[chosen],
            y=mean[chosen],
            mode="markers",
            name=name,
            marker={"color": color, "size": 6, "symbol": "x-thin-open" if color == WRONG_COLOR else "circle"},
            hoverinfo="text",
            hovertext=[
                f"{escape_plotly_text(names[n])}: {format_with_unit(mean[n], unit)}, is "
                f"{format_with_unit(targets[n], unit)}"
                for n in chosen
            ],
            **error_y,
        )
    chart.update_layout(chart_style.build_chart_layout(title, 460, palette))
    of_unit = f", {unit}" if unit else ""
    chart.update_xaxes(title=f"true{of_unit}", fixedrange=True)
    chart.update_yaxes(title=f"predicted{of_unit}", fixedrange=True, automargin=True)
    return chart


def _select_spread_examples(targets: Doubles) -> NDArray[np.intp]:
    order = np.argsort(targets, kind="stable")
    return order[chart_style.select_drawn_points(len(targets), MAX_POINTS)]


def _describe_predicted_chart(targets: Doubles, correlation: float) -> str:
    return (
        f"Predicted over true numbers of {formats.format_count(len(targets), 'example')}, "
        f"{formats.format_significant(float(targets.min()))} to "
        f"{formats.format_significant(float(targets.max()))}; correlation {correlation:.3f}"
    )


def tabulate_predicted_numbers(
    ensemble: NumericEnsemble, targets: Doubles, ends: tuple[Doubles, Doubles] | None
) -> pd.DataFrame:
    """A row an example, numbered from 0."""
    columns = {"example": np.arange(len(targets)), "target": targets, "predicted": ensemble.compute_mean()}
    if ends is not None:
        columns |= {"low": ends[0], "high": ends[1]}
    return pd.DataFrame(columns)


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
        yield Paragraph(_describe_predicted_curve(curve), "evidence")
        yield Figures.single(
            Figure(
                label="",
                alt=_describe_predicted_curve(curve),
                explanation="Dashed lines: the training range. Outside it members extrapolate.",
                draw=lambda palette: _plot_predicted_curve(
                    curve, targets, numbers.target_name, f"Curve · {numbers.source}", palette
                ),
                key="numeric_curve",
                file="curve",
                title=f"Predictions along {curve.name}",
                table=lambda: _tabulate_predicted_curve(curve),
            )
        )
    interval = numbers.main_interval
    ends = interval[1] if interval else None
    said = f"Lines are intervals of {formats.format_percent(interval[0], figures=2)}. " if interval else ""
    drawn = len(_select_spread_examples(targets))
    some = f" {drawn:,} of them are drawn, evenly by what is true." if drawn < numbers.n else ""
    title = f"Predicted against true · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=_describe_predicted_chart(targets, correlation),
            explanation=f"On the dashed line all is right. {said}{some}".strip(),
            draw=lambda palette: plot_predicted_numbers(
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
            table=lambda: tabulate_predicted_numbers(numbers.predicted, targets, ends),
        )
    )


VIEW = RegisteredView(
    "predicted",
    "Predicted against true",
    "Predicted values against true values",
    build_numeric_predicted,
    place=40,
    page_break=False,
    numeric=True,
)
