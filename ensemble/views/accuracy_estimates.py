"""Accuracy estimated without labels against the true one, by corruption and amount."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.unlabelled.accuracy_estimate import ESTIMATORS, EstimatedShare, widen_range
from ensemble.analysis.unlabelled.distribution_test import LEVEL
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RAMP_COLORS, Palette
from ensemble.shift import StressResults
from ensemble.shift.corruptions import scale_corruptions
from ensemble.wording import formats
from ensemble.wording.accuracy_estimates import ESTIMATOR_NAMES, ESTIMATOR_TITLES, MEASURE_NAMES
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


_CorruptionMetrics = dict[str, Any]

# What is drawn: its name in the results, its title, and whether it is a share of images.
HEIGHT = 520
_MARKERS = {
    "agreement": ("circle", RAMP_COLORS[0]),
    "confidence": ("square", RAMP_COLORS[2]),
    "threshold": ("diamond", RAMP_COLORS[4]),
}


@dataclass(frozen=True)
class EstimatedStep:
    """What is estimated of the images of one corruption at one amount, and what is true.

    Attributes:
      kind: the corruption's name; "" for the images as they are.
      amount: its amount; None likewise.
      title: both in words: "Noise σ 0.3".
      accuracy: the share that is right, in [0, 1].
      estimates: by `ESTIMATORS`, value, low and high; without those that could not be made.
      refused: whether one of the two checks fails, so that only `range` would be shown.
      measure: what of the members' answers differs most from the labelled images.
      p: of that difference, corrected for all that was compared.
      range: (low, high), the range of lower trust.
    """

    kind: str
    amount: float | None
    title: str
    accuracy: float
    estimates: dict[str, tuple[float, float, float]]
    refused: bool
    measure: str
    p: float
    range: tuple[float, float] = (0.0, 1.0)

    def find_largest_error(self) -> tuple[str, float]:
        """The estimate that is furthest off, and by how much: above 0 where it promises more."""
        errors = {name: share[0] - self.accuracy for name, share in self.estimates.items()}
        name = max(errors, key=lambda estimator: abs(errors[estimator]))
        return name, errors[name]

    def find_worst_promise(self) -> tuple[str, float]:
        name = max(self.estimates, key=lambda estimator: self.estimates[estimator][0])
        return name, self.estimates[name][0] - self.accuracy


def collect_estimated_steps(results: StressResults) -> list[EstimatedStep]:
    """The images as they are, then every corruption from weak to strong; [] where none is known."""
    clean = results.clean or {}
    fit, estimate = clean.get("accuracy_fit"), clean.get("accuracy_estimate")
    if not fit or not estimate:
        return []
    steps = [_build_estimated_step("", None, "As they are", estimate, fit)]
    for name, kind in scale_corruptions((results.side, results.side)).items():
        for step in results.list_corruption_steps(name):
            found = step.get("accuracy_estimate")
            if step["amount"] != kind.neutral_amount and found:
                title = f"{kind.title} {kind.format_amount(step['amount'])}"
                steps.append(_build_estimated_step(name, step["amount"], title, found, fit))
    return steps


def _build_estimated_step(
    kind: str, amount: float | None, title: str, found: dict[str, Any], fit: dict[str, Any]
) -> EstimatedStep:
    estimates = {name: tuple(found[name]) for name in ESTIMATORS if found[name]}
    return EstimatedStep(
        kind=kind,
        amount=amount,
        title=title,
        accuracy=found["accuracy"],
        estimates=estimates,
        refused=found["unlike_p"] < LEVEL or fit["calibration"] != "none",
        measure=found["unlike_measure"],
        p=found["unlike_p"],
        range=widen_range([EstimatedShare(*share) for share in estimates.values()], fit["accuracy"]),
    )


def plot_estimated_steps(steps: Sequence[EstimatedStep], noun: str, title: str, palette: Palette) -> "go.Figure":
    """Plot the true accuracy over each estimate, hollow if a check fails.

    Args:
      steps: at least one.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure()
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="right as often as estimated",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    for name in ESTIMATORS:
        having = [step for step in steps if name in step.estimates]
        if not having:
            continue
        symbol, color = _MARKERS[name]
        chart.add_scatter(
            x=[step.estimates[name][0] for step in having],
            y=[step.accuracy for step in having],
            mode="markers",
            name=ESTIMATOR_TITLES[name],
            marker={
                "symbol": [symbol + ("-open" if step.refused else "") for step in having],
                "color": color,
                "size": 9,
                "line": {"width": 1.5, "color": color},
            },
            cliponaxis=False,
            hovertext=[_describe_estimated_step(step, name) for step in having],
            hoverinfo="text",
        )
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    axis = {**chart_style.build_percent_ticks(), "range": [0, 1.02], "fixedrange": True}
    chart.update_xaxes(**axis, title="estimated without labels")
    chart.update_yaxes(**axis, title=f"{pluralize_noun(noun)} that are right", automargin=True)
    return chart


def _describe_estimated_step(step: EstimatedStep, name: str) -> str:
    value, low, high = step.estimates[name]
    checked = (
        f"<br>lower trust: {MEASURE_NAMES.get(step.measure, 'what they say')} differs"
        if step.refused
        else "<br>no check speaks against it"
    )
    return (
        f"{step.title}: {ESTIMATOR_NAMES[name]} says {formats.format_percent(value, places=0)} "
        f"({formats.format_percent_range(low, high)}),<br>"
        f"{formats.format_percent(step.accuracy, places=0)} are right{checked}"
    )


def tabulate_estimated_steps(steps: Sequence[EstimatedStep]) -> pd.DataFrame:
    """A row for each corruption, amount and estimate; the images as they are have no kind."""
    return pd.DataFrame(
        [
            {
                "corruption": step.kind or None,
                "amount": step.amount,
                "estimate": name,
                "estimated": value,
                "low": low,
                "high": high,
                "right": step.accuracy,
                "kept_back": step.refused,
                "p_alike": step.p,
            }
            for step in steps
            for name, (value, low, high) in step.estimates.items()
        ]
    )


def describe_estimated_steps(steps: Sequence[EstimatedStep], noun: str) -> str:
    clean, *changed = steps
    sentences = [
        f"On the {pluralize_noun(noun)} as they are, all estimates are within "
        f"{_format_points(clean.find_largest_error()[1])} of the accuracy."
    ]
    if not changed:
        return sentences[0]
    worst = max(changed, key=lambda step: step.find_worst_promise()[1])
    name, error = worst.find_worst_promise()
    value = formats.format_percent(worst.accuracy + error, places=0)
    right = formats.format_percent(worst.accuracy, places=0)
    sentences.append(
        f"At {worst.title[0].lower()}{worst.title[1:]}, {ESTIMATOR_NAMES[name]} says that "
        f"**{value}** are right; **{right}** are."
    )
    refused = [step for step in changed if step.refused]
    shown = [step for step in changed if not step.refused]
    held = sum(step.range[0] <= step.accuracy <= step.range[1] for step in refused)
    sentences.append(
        f"For {len(refused)} of the {formats.format_count(len(changed), 'corruption')} a check fails"
        + (f"; the range of lower trust holds the accuracy of {held} of them" if refused else "")
        + (
            f"; for the other {'one' if len(shown) == 1 else len(shown)} the estimates are at most "
            f"{_format_points(max(abs(step.find_largest_error()[1]) for step in shown))} off."
            if shown
            else "."
        )
    )
    return " ".join(sentences)


def _format_points(difference: float) -> str:
    """A difference of shares, "1.2 points"."""
    return f"{abs(100 * difference):.1f} points"


def describe_estimated_steps_chart(steps: Sequence[EstimatedStep]) -> str:
    return (
        "True accuracy over the accuracy that is estimated without labels, of "
        f"{formats.format_count(len(steps) - 1, 'corruption')} and the images as they are; points "
        "below the diagonal promise too much"
    )
