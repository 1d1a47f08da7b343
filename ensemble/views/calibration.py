"""Calibration: whether the ensemble is right as often as it says, and what a temperature saves."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality import temperature_scaling
from ensemble.analysis.quality.brier_parts import BrierParts, decompose_ensemble_brier
from ensemble.analysis.quality.calibration import BINS, ReliabilityBins, reliability_bins
from ensemble.analysis.quality.calibration_noise import CalibrationErrorEstimate, estimate_ensemble_calibration_error
from ensemble.analysis.quality.calibration_test import (
    BINS_LEVEL,
    OVERALL_LEVEL,
    CalibrationBinTest,
    CalibrationTest,
    calibration_test,
)
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.temperature_scaling import (
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    TemperatureComparison,
    TemperatureResult,
)
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Columns, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import TRUST, RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import format_p_value

if TYPE_CHECKING:
    import plotly.graph_objects as go


_DIRECTIONS = {"less sure": "Less sure than it could be", "too sure": "Surer than it should be"}
# The columns of `tabulate_temperatures`, of several members and of one alone.
_TEMPERATURE_COLUMNS = {
    "unscaled": "as it is",
    "scaled_members": "before averaging",
    "scaled_average": "after averaging",
}
_SINGLE_MEMBER_COLUMNS = {"unscaled": "as it is", "scaled_average": "with a temperature"}


def describe_calibration(test: CalibrationTest, noun: str) -> str:
    """Whether it is right as often as it says, in one line of at most 90 characters."""
    whole = test.overall
    if test.verdict in _DIRECTIONS:
        says, right = format_confidence_and_accuracy(whole)
        return f"{_DIRECTIONS[test.verdict]}: {says} sure on average, {right} right."
    if test.verdict == "a bin":
        return f"No difference on average, but {_describe_worst_bin(test.worst_bin[0])}."
    return f"{formats.format_finding_subject(whole.n, noun)} no difference between confidence and accuracy."


def _describe_worst_bin(test: CalibrationBinTest) -> str:
    """A bin that is not right as often as it says; where it helps, by how many."""
    within, right = (formats.format_percent_range(test.low, test.high), formats.format_percent(test.accuracy, places=0))
    if round(100 * test.accuracy) < round(100 * test.low):
        return f"of answers that are {within} sure only {right} are right"
    if round(100 * test.accuracy) > round(100 * test.high):
        return f"of answers that are {within} sure, {right} are right"
    often = "less" if test.z > 0 else "more"
    return f"answers that are {within} sure are wrong {often} often"


def describe_calibration_evidence(test: CalibrationTest, noun: str) -> str:
    """The figures of the verdict: z, the exact p, and of how many."""
    whole = f"{_format_calibration_test(test.overall, noun)}"
    if test.verdict in _DIRECTIONS:
        return f"{whole}."
    if test.verdict == "none":
        return (
            f"{whole}. A difference counts at p < {OVERALL_LEVEL:g}, in one bin {BINS_LEVEL:g}; "
            "not shown does not mean that there is none."
        )
    worst_bin, p = test.worst_bin
    says, right = format_confidence_and_accuracy(worst_bin)
    return (
        f"{formats.format_percent_range(worst_bin.low, worst_bin.high)}: {says} sure on average, {right} right, "
        f"{formats.format_count(worst_bin.n, noun)}, z = {format_z_score(worst_bin.z)}, {format_p_value(p)} "
        f"after Holm's correction for {formats.format_count(len(test.bins), 'bin')}. All: {whole}."
    )


def _format_calibration_test(test: CalibrationBinTest, noun: str) -> str:
    groups = test.groups
    how = "exact, Poisson binomial" if groups is None else f"over {groups:,} groups"
    return (
        f"z = {format_z_score(test.z)}, {format_p_value(test.p)} ({how}), "
        f"{formats.format_count(test.n, noun)}: "
        f"{test.right:,} right, {test.expected:,.1f} expected"
    )


def format_confidence_and_accuracy(test: CalibrationBinTest) -> tuple[str, str]:
    for places in range(formats.count_percent_decimals(test.n), 6):
        says = formats.format_percent(test.confidence, places=places)
        right = formats.format_percent(test.accuracy, places=places)
        if says != right:
            break
    return says, right


def format_z_score(z: float) -> str:
    """A z as "3.1" or "−0.4"; of what was certain and wrong "−∞"."""
    size = "∞" if math.isinf(z) else f"{abs(z):.1f}"
    return f"−{size}" if z < 0 and size != "0.0" else size


def describe_calibration_error(estimate: CalibrationErrorEstimate) -> str:
    return (
        f"ECE {formats.format_significant(estimate.ece)} (95 %: "
        f"{_format_nll_interval(estimate.low, estimate.high)}). "
        f"{describe_chance_error(estimate)}"
    )


def describe_chance_error(estimate: CalibrationErrorEstimate) -> str:
    """What the ECE would be were each right as often as it says; for a help or a caption."""
    mean, draws = (
        formats.format_significant(estimate.chance),
        _format_nll_interval(estimate.chance_low, estimate.chance_high),
    )
    return f"A perfectly calibrated ensemble would show {mean} by chance (95 % of draws: {draws})."


def describe_temperature_gain(scaled: TemperatureComparison, noun: str) -> str:
    """What a temperature after averaging is worth, in one line of at most 90 characters."""
    scaled_average = scaled.scaled_average
    number = formats.format_significant(scaled_average.temperature)
    if not MIN_TEMPERATURE < scaled_average.temperature < MAX_TEMPERATURE:
        ways = "surer" if scaled_average.temperature < 1 else "less sure"
        return (
            f"No temperature from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g} is best: the NLL goes "
            f"on falling the {ways} it gets. Leave it at 1."
        )
    softer = "Making it less sure" if scaled_average.temperature >= 1 else "Making it surer"
    if scaled_average.improves_nll:
        saved = formats.format_significant(scaled_average.saved, 2)
        return f"{softer} (temperature {number}) lowers the NLL by {saved} nats."
    if scaled_average.saved_high < 0:
        return f"The fitted temperature, {number}, makes the NLL worse: leave it at 1."
    these = formats.format_count(scaled.judged, noun)
    return f"{softer} (temperature {number}) is not shown to help on these {these}."


def explain_opposite_temperature(test: CalibrationTest, scaled: TemperatureComparison) -> str:
    """Return why the temperature goes against the mean confidence; "" if it does not."""
    temperature = scaled.scaled_average
    wanted = {"less sure": -1, "too sure": 1}.get(test.verdict, 0)
    if not temperature.improves_nll or wanted * (temperature.temperature - 1) >= 0:
        return ""
    return (
        "This goes against the mean confidence: the NLL is dominated by confident mistakes, and a temperature changes "
        "all probabilities alike."
    )


def describe_temperature_evidence(scaled: TemperatureComparison, noun: str) -> str:
    scaled_average = scaled.scaled_average
    whole = scaled.fitted == scaled.offered
    some = "" if whole else f"{scaled.fitted:,} of "  # the rest would take long
    fitted_on = (
        f"Fitted on {some}one half of the test {pluralize_noun(noun)} ({scaled.offered:,}), judged "
        f"on the other {scaled.judged:,}: figures of all {scaled.offered + scaled.judged:,} differ."
        if scaled.halved
        else f"Fitted on {some}the {scaled.offered:,} validation {pluralize_noun(noun)}, judged on "
        f"the {scaled.judged:,} test {pluralize_noun(noun)}."
    )
    return (
        f"At {formats.format_significant(scaled_average.temperature)} the NLL "
        f"{_format_nll_fall(scaled_average)} (paired 95 % interval). {fitted_on}"
    )


def _format_nll_fall(result: TemperatureResult) -> str:
    """How far the NLL falls: "falls by 0.002 to 0.02 nats"; both ways where 0 lies within."""
    low, high = result.saved_low, result.saved_high
    if low < 0 < high:
        falls, rises = (formats.format_significant(abs(end), 2) for end in (high, low))
        return f"may fall by up to {falls} nats or rise by up to {rises}"
    return f"falls by {_format_saved_nll(result)} nats"


def _format_saved_nll(result: TemperatureResult) -> str:
    return _format_nll_interval(result.saved_low, result.saved_high)


def _format_nll_interval(low: float, high: float) -> str:
    """An interval as "0.0021 to 0.023", with a true minus."""
    return " to ".join(("−" if end < 0 else "") + formats.format_significant(abs(end), 2) for end in (low, high))


def tabulate_temperatures(scaled: TemperatureComparison, named: Mapping[str, str]) -> pd.DataFrame:
    # What a temperature changes: the loss that it is fitted by, and all that looks at confidence.
    metrics = [metric for metric in METRICS if metric.name == "nll" or metric.view == "calibration"]
    terms = [metric.term for metric in metrics]
    columns: dict[str, list[str]] = {"figure": ["temperature", *terms, "NLL saved"]}
    for field, name in named.items():
        temperature_result: TemperatureResult = getattr(scaled, field)
        figures = [temperature_result.temperature, *(temperature_result.quality[metric.name] for metric in metrics)]
        saved = "–" if field == "unscaled" else _format_saved_nll(temperature_result)
        columns[name] = [*(formats.format_significant(value) for value in figures), saved]
    return pd.DataFrame(columns)


def _describe_brier_gain(ensemble: BrierParts, members: BrierParts) -> str:
    gain = members.score - ensemble.score
    resolved = ensemble.resolution - members.resolution
    reliable = members.reliability - ensemble.reliability
    if gain <= 0:
        return (
            f"Averaging does not lower the Brier score: {_format_part(ensemble.score)}, of its "
            f"members {_format_part(members.score)} on average."
        )
    return (
        f"Averaging lowers the Brier score by {_format_part(gain)}, from "
        f"{_format_part(members.score)} of its members on average: resolution gives "
        f"{_format_part(resolved)} of that, reliability {_format_part(reliable)}."
    )


def _format_part(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def compute_reliability_diagrams(predictions: EnsemblePredictions) -> tuple[ReliabilityBins, list[ReliabilityBins]]:
    """The reliability diagram of the ensemble, and of each member; of one member none."""
    each = zip(predictions.member_confidence, predictions.votes, strict=True) if predictions.members > 1 else ()
    members = [reliability_bins(sure, votes == predictions.labels) for sure, votes in each]
    return reliability_bins(predictions.confidence, predictions.right), members


def plot_reliability_diagram(
    ensemble: ReliabilityBins, members: Sequence[ReliabilityBins], noun: str, title: str, palette: Palette
) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, and the count of each bin below.

    Args:
      members: each member's; of one member none.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it
    from plotly.subplots import make_subplots

    chart = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.78, 0.22], vertical_spacing=0.05)
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often right as it says",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    chart.add_traces([go.Scatter(trace) for trace in _build_member_reliability(members, noun)])
    chart.add_scatter(**_build_ensemble_reliability(ensemble, bool(members), noun, palette))
    chart.add_bar(**_build_confidence_counts(ensemble, noun), row=2, col=1)
    chart.update_layout(chart_style.build_chart_layout(title, 560, palette, bargap=0.1))
    chart.update_xaxes(range=[0, 1], **chart_style.build_percent_ticks(), fixedrange=True)
    chart.update_yaxes(
        range=[0, 1.02],
        **chart_style.build_percent_ticks(),
        fixedrange=True,
        title="right",
        automargin=True,
        row=1,
        col=1,
    )
    top = max(10, int(ensemble.count.max()))
    chart.update_yaxes(
        type="log",
        range=[np.log10(0.5), np.log10(2 * top)],
        fixedrange=True,
        title=f"{pluralize_noun(noun)}",
        dtick=2 if top > 999 else 1,
        tickformat=",d",
        automargin=True,
        row=2,
        col=1,
    )
    chart.update_xaxes(title="confidence: the probability of what it says", row=2, col=1)
    return chart


def _build_member_reliability(members: Sequence[ReliabilityBins], noun: str) -> list[dict[str, Any]]:
    kept = [member.count > 0 for member in members]
    hovers = [
        [f"Member {m + 1}: {_describe_reliability_bin(member, b, noun)}" for b in np.flatnonzero(kept[m])]
        for m, member in enumerate(members)
    ]
    return chart_style.build_member_lines(
        [member.confidence[there] for member, there in zip(members, kept, strict=True)],
        [member.accuracy[there] for member, there in zip(members, kept, strict=True)],
        hovers,
    )


def _build_ensemble_reliability(ensemble: ReliabilityBins, many: bool, noun: str, palette: Palette) -> dict[str, Any]:
    """The ensemble's line, with the 95 % interval of each of its points."""
    bins = np.flatnonzero(ensemble.count)
    ends = np.array([wilson_interval(ensemble.accuracy[b] * ensemble.count[b], int(ensemble.count[b])) for b in bins])
    return {
        "x": ensemble.confidence[bins],
        "y": ensemble.accuracy[bins],
        "mode": "lines+markers",
        "line": chart_style.style_ensemble_line(palette),
        "marker": {"size": 8},
        "cliponaxis": False,
        "name": "ensemble" if many else "the one member",
        "error_y": {
            "array": ends[:, 1] - ensemble.accuracy[bins],
            "symmetric": False,
            "arrayminus": ensemble.accuracy[bins] - ends[:, 0],
            "thickness": 1,
            "width": 3,
        },
        "hovertext": [
            f"{'The ensemble' if many else 'It'}: "
            f"{_describe_reliability_bin(ensemble, b, noun)}<br>95 "
            f"%: {formats.format_percent_range(low, high)}"
            for b, (low, high) in zip(bins, ends, strict=True)
        ],
        "hoverinfo": "text",
    }


def _build_confidence_counts(bins: ReliabilityBins, noun: str) -> dict[str, Any]:
    return {
        "x": (bins.edges[:-1] + bins.edges[1:]) / 2,
        "y": bins.count,
        "marker": {"color": MUTED_COLOR},
        "showlegend": False,
        "hoverinfo": "text",
        "hovertext": [
            f"{formats.format_count(int(count), noun)} from {formats.format_percent_range(low, high)} sure"
            for count, low, high in zip(bins.count, bins.edges[:-1], bins.edges[1:], strict=True)
        ],
    }


def _describe_reliability_bin(bins: ReliabilityBins, b: int | np.integer, noun: str) -> str:
    return (
        f"{formats.format_count(int(bins.count[b]), noun)} with "
        f"{formats.format_percent(bins.confidence[b], places=1)} on average, "
        f"{formats.format_percent(bins.accuracy[b], places=1)} right"
    )


def _tabulate_reliability(ensemble: ReliabilityBins, members: Sequence[ReliabilityBins]) -> pd.DataFrame:
    """Every bin of the ensemble and of each member: one row each."""
    named = [("ensemble", ensemble)]
    named += [(chart_style.format_member_name(m), member) for m, member in enumerate(members)]
    return pd.concat(
        pd.DataFrame(
            {
                "who": name,
                "above": bins.edges[:-1],
                "up_to": bins.edges[1:],
                "count": bins.count,
                "mean_confidence": bins.confidence,
                "accuracy": bins.accuracy,
            }
        )
        for name, bins in named
    )


def build_calibration(epoch: EvaluatedEpoch) -> View:
    test = epoch.measure(_judge_calibration)
    yield Paragraph(describe_calibration(test, epoch.noun), "answer")
    yield Paragraph(describe_calibration_evidence(test, epoch.noun), "evidence")
    yield Paragraph(describe_calibration_error(epoch.measure(estimate_ensemble_calibration_error)), "evidence")
    yield Columns((5, 4), (lambda: _reliability_diagram_view(epoch), lambda: _temperature_view(epoch)))
    if epoch.n > 1:
        yield from _brier_parts_view(epoch)


def _brier_parts_view(epoch: EvaluatedEpoch) -> View:
    ensemble, members = epoch.measure(decompose_ensemble_brier)
    if members:
        yield Paragraph(_describe_brier_gain(ensemble, members), "finding")
    rows = [
        {
            "who": who,
            "Brier": _format_part(parts.score),
            "reliability": _format_part(parts.reliability),
            "resolution": _format_part(parts.resolution),
            "uncertainty": _format_part(parts.uncertainty),
        }
        for who, parts in (("ensemble", ensemble), ("mean member", members))
        if parts
    ]
    yield Table(
        "Brier score in parts",
        pd.DataFrame(rows),
        note="Brier = reliability − resolution + uncertainty. Reliability: how far probabilities are "
        "from how often they come true (less is better; without the part that chance makes, so it "
        f"can be a little below 0). Resolution: how well {pluralize_noun(epoch.noun)} are told apart (more is better). "
        f"Uncertainty: of the labels, the same for every network. Over {BINS} bins of each class.",
        key="brier_parts_table",
        narrow=True,
    )


def _reliability_diagram_view(epoch: EvaluatedEpoch) -> View:
    ensemble, members = epoch.measure(compute_reliability_diagrams)
    fullest = _describe_reliability_bin(ensemble, int(ensemble.count.argmax()), epoch.noun)
    title = f"Reliability · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"Accuracy over confidence in bins. The fullest bin has {fullest}",
            explanation=f"A point above the dashed line: {pluralize_noun(epoch.noun)} that it is more often right "
            "about than it says. Below the picture, how many answers there are of each confidence."
            + chart_style.describe_member_lines(len(members)),
            draw=lambda palette: plot_reliability_diagram(ensemble, members, epoch.noun, title, palette),
            key="calibration",
            file="calibration",
            title="Confidence against accuracy",
            table=lambda: _tabulate_reliability(ensemble, members),
            drawn_from=(),
        )
    )


def _temperature_view(epoch: EvaluatedEpoch) -> View:
    # Two halves take twice as many examples.
    least = temperature_scaling.MIN_JUDGED_EXAMPLES if epoch.fit else 2 * temperature_scaling.MIN_JUDGED_EXAMPLES
    if epoch.n < least:
        few = f"Fewer than {least} test {pluralize_noun(epoch.noun)}: too few to say what a temperature gains."
        yield Paragraph(few, "note")
        return
    scaled = epoch.measure(_fit_temperatures, fitted=True)
    yield Paragraph(describe_temperature_gain(scaled, epoch.noun), "finding")
    yield Paragraph(describe_temperature_evidence(scaled, epoch.noun), "evidence")
    if opposite := explain_opposite_temperature(epoch.measure(_judge_calibration), scaled):
        yield Paragraph(opposite, "note")
    columns = _TEMPERATURE_COLUMNS if epoch.members > 1 else _SINGLE_MEMBER_COLUMNS
    fitted = temperature_scaling.count_fitted_members(epoch.members)
    some = f" The temperature before averaging is fitted on {fitted} members." if fitted < epoch.members else ""
    yield Table(
        "What a temperature saves",
        tabulate_temperatures(scaled, columns),
        note=f"A temperature below 1 makes it surer, above 1 less sure; which {pluralize_noun(epoch.noun)} it "
        "gets right hardly changes. NLL: what the label's probability costs, in nats; saved: the "
        "95 % interval of how much lower it gets. ECE: how far confidence and accuracy are apart, "
        "over 15 bins of equal width; adaptive: of equal count; SmoothECE: without bins; MCE: in "
        f"the worst bin, which may hold a single image.{some}",
        key="calibration_table",
    )


def _judge_calibration(predictions: EnsemblePredictions) -> CalibrationTest:
    return calibration_test(predictions.confidence, predictions.right, groups=predictions.groups)


def _fit_temperatures(predictions: EnsemblePredictions, fit: EnsemblePredictions | None) -> TemperatureComparison:
    """The ensemble with and without a temperature, fitted on `fit`, else on one half."""
    held = (fit.probabilities, fit.labels) if fit else None
    return temperature_scaling.compare_fitted_temperatures(
        predictions.probabilities, predictions.labels, held, predictions.groups
    )


VIEW = RegisteredView(
    "calibration",
    "Calibration",
    "Whether confidence matches accuracy, and the effect of temperature scaling",
    build_calibration,
    place=110,
    question=TRUST,
)
