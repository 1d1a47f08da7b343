"""Selective answers: to answer only where it is sure enough, and what is wrong of that."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality import selective
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE
from ensemble.analysis.quality.selective import ERROR_RATE, AnswerConfidences, ConfidenceThreshold, RiskCoverage
from ensemble.analysis.quality.selective import ConfidenceThreshold as Threshold
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import TRUST, RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


def describe_threshold_images(threshold: ConfidenceThreshold, noun: str) -> str:
    if threshold.halved:
        return (
            f"Thresholds are set on one half of the test set ({threshold.fitted:,}); "
            f"answers and mistakes are counted on the other ({threshold.n:,}), where more may be wrong"
        )
    return (
        f"Thresholds are set on the {threshold.fitted:,} validation "
        f"{pluralize_noun(noun)}; answers and mistakes are counted on the "
        f"{threshold.n:,} test {pluralize_noun(noun)}, where more may be wrong"
    )


def describe_selective_answer(threshold: ConfidenceThreshold, rate: float, who: str, noun: str) -> str:
    """What is answered and what is wrong of it, with the threshold for an error rate."""
    if not threshold.is_reached:
        return (
            f"No threshold keeps wrong answers to {_format_accepted_rate(rate)}: even of the "
            f"{pluralize_noun(noun)} that {who} is surest of, more are wrong."
        )
    if not threshold.answered:
        sure = formats.format_confidence_threshold(threshold.threshold)
        of_these = "on the other half" if threshold.halved else f"of the test {pluralize_noun(noun)}"
        return (
            f"The threshold for {_format_accepted_rate(rate)} wrong answers is so high ({sure}) "
            f"that {who} answers none {of_these}."
        )
    errs = f"is wrong on {threshold.wrong:,} of these {threshold.answered:,}, {_format_error_interval(threshold)}"
    accepted = _format_accepted_rate(rate)
    if threshold.is_above(rate):
        errs += f": more than the {accepted} that you accept"
    elif threshold.error > rate:
        errs += f": above the {accepted} that you accept, on too few answers to say that it is more"
    elif threshold.high > rate:
        errs += f": too few answers to show {accepted}"
    if threshold.coverage == 1:
        return f"Answering every {noun}, {who} {errs}."
    sure = formats.format_confidence_threshold(threshold.threshold)
    return (
        f"Answering only where it is at least {sure} sure, "
        f"{who} answers {formats.format_percent(threshold.coverage, threshold.n)} "
        f"of the {pluralize_noun(noun)} and {errs}."
    )


def _format_accepted_rate(rate: float) -> str:
    """An error rate that was chosen: "5 %", "0.5 %"."""
    return formats.format_percent(rate, figures=2)


def _format_error_interval(threshold: ConfidenceThreshold) -> str:
    """The share that is wrong with the ends of its 95 % interval: "0.52 % (0.10 to 2.31 %)"."""
    low, high = threshold.low, threshold.high
    ends = formats.format_percent_range(low, high, places=2)
    return f"{_format_error_rate(threshold.error)} ({ends})"


def _format_error_rate(error: float) -> str:
    """The share of answers that are wrong, to two decimals: there are to be few."""
    return formats.format_percent(error, places=2)


def compute_augrc(curve: RiskCoverage) -> float:
    """Compute the area under the generalized risk-coverage curve, in [0, 1/2]; lower is better.

    The generalized risk is the share of all examples that are answered and wrong: coverage times risk. Its mean over
    all coverages is how many errors are missed on average, whatever the threshold. Unlike AURC it does not weigh
    errors among the few most confident answers more than others. With E of N answers wrong and no ties it is
    (1 − AUROC) · E (N − E) / N² + E (E + 1) / (2 N²), where AUROC is that of confidence for right against wrong
    answers.

    Source: J. Traub, T. J. Bungert, C. T. Lüth and others, "Overcoming common flaws in the evaluation of selective
    classification systems", NeurIPS 2024.
    """
    return float(np.mean(curve.coverage * curve.risk))


def _tabulate_selective_metrics(
    curves: list[RiskCoverage], confidence_thresholds: list[ConfidenceThreshold], shown: Sequence[int], n: int
) -> pd.DataFrame:
    """One row for the ensemble, then each shown member: AURC, AUGRC, and what the threshold gives."""
    names = [chart_style.format_member_name(m) for m in shown]
    rows = zip(["ensemble", *names] if len(names) > 1 else names, curves, confidence_thresholds, strict=True)
    return pd.DataFrame(
        [
            {
                "who": who,
                "AURC": formats.format_significant(curve.aurc),
                "AUGRC": formats.format_significant(compute_augrc(curve)),
                "threshold": formats.format_confidence_threshold(threshold.threshold)
                if threshold.is_reached
                else "none",
                "answered": formats.format_percent(threshold.coverage, n) if threshold.is_reached else "–",
                "of these wrong": _format_error_interval(threshold) if threshold.answered else "–",
            }
            for who, curve, threshold in rows
        ]
    )


def _explain_selective_table(curve: RiskCoverage, threshold: ConfidenceThreshold, who: str, noun: str) -> str:
    """What the columns of `_tabulate_selective_metrics` are, and on what they were counted."""
    return (
        "AURC: the area under the curve, the mean share of wrong answers over all coverages. "
        f"Were every wrong {noun} the least sure, {who}'s would be {formats.format_significant(curve.aurc_best)}. "
        f"AUGRC: the share of all {pluralize_noun(noun)} that is answered and wrong, over all coverages. "
        f"{describe_threshold_images(threshold, noun)}; in brackets the 95 % interval."
    )


# Of the very surest few a single error is a large share: the axis need not reach so high.
_MIN_STEADY_COVERAGE = 0.1
MAX_POINTS = 12_000  # of all curves together
_NEGLIGIBLE_RISK = 0.03  # of the largest risk: what the eye does not tell from none


def compute_risk_coverage_curves(predictions: EnsemblePredictions) -> tuple[RiskCoverage, list[RiskCoverage]]:
    """The curve of the ensemble, and those of its `spread_members`; of one member none."""
    most = max(100, min(chart_style.MAX_LINE_POINTS, MAX_POINTS // (predictions.members + 1)))
    whole, *members = [
        _thin_risk_coverage(selective.risk_coverage(sure, right), most)
        for sure, right in _list_confidences(predictions, predictions)
    ]
    return whole, members


def _thin_risk_coverage(curve: RiskCoverage, most: int) -> RiskCoverage:
    """A curve in as many points as a screen shows: kept for every member, all would be much."""
    kept = chart_style.select_drawn_points(len(curve.risk), most)
    return replace(curve, coverage=curve.coverage[kept], risk=curve.risk[kept], threshold=curve.threshold[kept])


def choose_error_thresholds(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None = None
) -> list[ConfidenceThreshold]:
    """The threshold for an error rate and what comes of it: the ensemble's, then that of each of its `spread_members`.

    Args:
      rate: the share of wrong answers that is accepted, in [0, 1].
      fit: the same members' predictions of other examples, to find it on; None: it is found on
        one half of `predictions` and judged on the other.
    """
    held = _list_confidences(fit, predictions) if fit else [None] * (predictions.members + 1)
    return [
        selective.fit_confidence_threshold(
            sure, right, labels=predictions.labels, error_rate=rate, fitting=apart, groups=predictions.groups
        )
        for (sure, right), apart in zip(_list_confidences(predictions, predictions), held, strict=False)
    ]


def _list_confidences(predictions: EnsemblePredictions, judged: EnsemblePredictions) -> list[AnswerConfidences]:
    """How sure and where right: the ensemble, then each of the `spread_members` of `judged` if there are several."""
    shown = judged.spread_members if predictions.members > 1 else ()
    members = [(predictions.member_confidence[m], predictions.votes[m] == predictions.labels) for m in shown]
    return [(predictions.confidence, predictions.right), *members]


def plot_risk_coverage(
    ensemble: RiskCoverage,
    members: Sequence[RiskCoverage],
    rate: float,
    threshold: ConfidenceThreshold,
    title: str,
    palette: Palette,
    shown: Sequence[int] = (),
) -> "go.Figure":
    """The share that is wrong over the share that is answered, both in percent.

    Args:
      members: each shown member's; of one member none.
      shown: which members these are, from 0; () for all.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    who = "ensemble" if members else "the one member"
    curves = [
        *_build_member_risk_lines(members, shown or range(len(members))),
        _build_ensemble_risk_line(ensemble, who, palette),
    ]
    chart = go.Figure([go.Scatter(curve) for curve in curves])
    chart.add_hline(100 * rate, line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"})
    chart.add_annotation(
        x=0,
        y=100 * rate,
        xref="x domain",
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        text=f"accepted: {formats.format_percent(rate, figures=2)}",
        font={"color": palette.ink, "size": 12},
    )
    if threshold.answered:
        chart.add_scatter(**_build_threshold_marker(threshold, palette))
    chart.update_layout(chart_style.build_chart_layout(title, 440, palette))
    # The largest risk, but for that of the very surest few.
    top = max(
        float(curve.risk[curve.coverage >= _MIN_STEADY_COVERAGE].max(initial=0.0)) for curve in (ensemble, *members)
    )
    start = find_axis_start([ensemble, *members], top)
    chart.update_xaxes(
        title="answered, the surest first",
        ticksuffix=" %",
        nticks=8,
        range=[100 * start, 100 + 2 * (1 - start)],
        fixedrange=True,
    )
    chart.update_yaxes(
        title="of these wrong",
        ticksuffix=" %",
        fixedrange=True,
        automargin=True,
        range=[-3 * max(top, rate), 115 * max(top, rate)],
    )
    return chart


def find_axis_start(curves: Sequence[RiskCoverage], top: float) -> float:
    """Where the axis of coverage begins: a tenth or two before the curves leave the ground."""
    rising = [
        curve.coverage[(curve.risk > _NEGLIGIBLE_RISK * top) & (curve.coverage >= _MIN_STEADY_COVERAGE)]
        for curve in curves
    ]
    first = min((float(coverages[0]) for coverages in rising if len(coverages)), default=1.0)
    return min(0.8, max(0.0, math.floor(10 * first) / 10 - 0.1))


def _build_member_risk_lines(members: Sequence[RiskCoverage], shown: Sequence[int]) -> list[dict[str, Any]]:
    return chart_style.build_member_lines(
        [100 * member.coverage for member in members],
        [100 * member.risk for member in members],
        [_format_risk_hovers(member, f"Member {m + 1}") for m, member in zip(shown, members, strict=False)],
    )


def _build_ensemble_risk_line(curve: RiskCoverage, who: str, palette: Palette) -> dict[str, Any]:
    return {
        "x": 100 * curve.coverage,
        "y": 100 * curve.risk,
        "mode": "lines",
        "name": who,
        "line": chart_style.style_ensemble_line(palette),
        "hoverinfo": "text",
        "hovertext": _format_risk_hovers(curve, who.capitalize()),
    }


def _format_risk_hovers(curve: RiskCoverage, who: str) -> list[str]:
    return [
        f"{who}: answers {formats.format_percent(covered, places=1)}, errs in "
        f"{formats.format_percent(risk, places=2)} of them<br>"
        f"at least {formats.format_confidence_threshold(threshold)} sure"
        for covered, risk, threshold in zip(curve.coverage, curve.risk, curve.threshold, strict=True)
    ]


def _build_threshold_marker(threshold: ConfidenceThreshold, palette: Palette) -> dict[str, Any]:
    return {
        "x": [100 * threshold.coverage],
        "y": [100 * threshold.error],
        "mode": "markers",
        "name": f"with the threshold, {'other half' if threshold.halved else 'found on validation'}",
        "cliponaxis": False,
        "marker": {"symbol": "circle-open", "size": 14, "color": palette.ink, "line": {"width": 2}},
        "error_y": {
            "array": [100 * (threshold.high - threshold.error)],
            "symmetric": False,
            "arrayminus": [100 * (threshold.error - threshold.low)],
            "thickness": 1,
            "width": 4,
        },
        "hovertext": [
            f"At least {formats.format_confidence_threshold(threshold.threshold)} sure: "
            f"answers {formats.format_percent(threshold.coverage, threshold.n)}, "
            f"errs in {formats.format_percent(threshold.error, places=2)}"
        ],
        "hoverinfo": "text",
    }


def mark_image_coverage(chart: "go.Figure", predictions: EnsemblePredictions, number: int, noun: str) -> None:
    share = float((predictions.confidence >= predictions.confidence[number]).mean())
    chart.add_vline(
        100 * share,
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dot"},
        annotation_text=f"this {noun}",
        annotation_position="top left",
    )


def describe_risk_coverage_chart(ensemble: RiskCoverage, n: int) -> str:
    half = int(np.searchsorted(ensemble.coverage, 0.9))
    return (
        f"Share of wrong answers over the share that is answered: "
        f"{formats.format_percent(float(ensemble.risk[-1]), n)} of all answers are wrong, and "
        f"{formats.format_percent(float(ensemble.risk[half]), n)} of the surest 90 %"
    )


def _tabulate_risk_coverage(
    ensemble: RiskCoverage, members: Sequence[RiskCoverage], shown: Sequence[int]
) -> pd.DataFrame:
    named = [("ensemble", ensemble)]
    named += [(chart_style.format_member_name(m), member) for m, member in zip(shown, members, strict=False)]
    return pd.concat(
        pd.DataFrame({"who": name, "coverage": curve.coverage, "risk": curve.risk, "threshold": curve.threshold})
        for name, curve in named
    )


# The error rates to choose from, by their words in an address: percent.
ERROR_RATES = {word: float(word) / 100 for word in ("10", "5", "2", "1", "0.5", "0.2", "0.1")}
ERROR_RATE_CHOICE = Choice(
    name="error",
    label="Wrong answers that you accept",
    values={word: _format_accepted_rate(rate) for word, rate in ERROR_RATES.items()},
    default=next(word for word, rate in ERROR_RATES.items() if rate == ERROR_RATE),
    help="Of the answers that are given, not of all: the others go to a person.",
    form="slider",
    width=340,
    key="selective_rate",
)


def build_selective(epoch: EvaluatedEpoch) -> View:
    """Show the threshold for an error rate, the risk-coverage curve, and every member's metrics."""
    if has_too_few_images(epoch):
        yield explain_too_few_images(epoch)
        return
    rate = ERROR_RATES[(yield ERROR_RATE_CHOICE)]
    ensemble, members = epoch.measure(compute_risk_coverage_curves)
    thresholds = epoch.measure(find_error_thresholds, rate, fitted=True)
    shown = epoch.predictions.spread_members
    who = "the ensemble" if epoch.members > 1 else "the one member"
    yield Paragraph(describe_selective_answer(thresholds[0], rate, who, epoch.noun), "answer")
    title = f"Risk by coverage · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=describe_risk_coverage_chart(ensemble, epoch.n),
            explanation=f"From left to right more {pluralize_noun(epoch.noun)} are answered, the surest first: the "
            "longer a curve stays low, the better wrong answers are told from right ones. With every "
            f"{epoch.noun} answered, {_format_error_rate(float(ensemble.risk[-1]))} of the answers are wrong."
            + chart_style.describe_spread_members(epoch.members),
            draw=lambda palette: plot_risk_coverage(
                ensemble, members, rate=rate, threshold=thresholds[0], title=title, palette=palette, shown=shown
            ),
            key="selective",
            file="selective",
            title="Risk by coverage",
            table=lambda: _tabulate_risk_coverage(ensemble, members, shown),
            drawn_from=(rate,),
        )
    )
    yield Table(
        f"The threshold for {_format_accepted_rate(rate)} wrong answers",
        _tabulate_selective_metrics([ensemble, *members], thresholds, shown, epoch.n),
        note=_explain_selective_table(ensemble, thresholds[0], who, epoch.noun)
        + chart_style.describe_spread_members(epoch.members),
        key="selective_table",
    )


def has_too_few_images(epoch: EvaluatedEpoch) -> bool:
    return epoch.n < MIN_EXAMPLES_TO_HALVE and not epoch.fit


def explain_too_few_images(epoch: EvaluatedEpoch) -> Paragraph:
    return Paragraph(
        f"With fewer than {MIN_EXAMPLES_TO_HALVE} {pluralize_noun(epoch.noun)} "
        "there is nothing to find a threshold on.",
        "unavailable",
        icon=":material/grid_off:",
    )


def find_error_thresholds(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None
) -> list[Threshold]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's."""
    return choose_error_thresholds(predictions, rate, fit)


VIEW = RegisteredView(
    "selective",
    "Answering only where it is sure",
    "Accuracy if it answers only above a confidence threshold",
    build_selective,
    place=120,
    question=TRUST,
    label="Selective",
    part_label="Answer or pass on",
)
