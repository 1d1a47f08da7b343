"""Risk by coverage: how many answers are wrong, the more of them are given, surest first."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality import selective
from ensemble.analysis.quality.averaging import prediction_confidence
from ensemble.analysis.quality.selective import AnswerConfidences, ConfidenceThreshold, RiskCoverage
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Of the very surest few a single error is a large share: the axis need not reach so high.
_MIN_STEADY_COVERAGE = 0.1
MAX_POINTS = 12_000  # of all curves together
_NEGLIGIBLE_RISK = 0.03  # of the largest risk: what the eye does not tell from none


def compute_risk_coverage_curves(predictions: EnsemblePredictions) -> tuple[RiskCoverage, list[RiskCoverage]]:
    each = zip(predictions.probabilities, predictions.votes, strict=True) if predictions.members > 1 else ()
    most = max(100, min(chart_style.MAX_LINE_POINTS, MAX_POINTS // (predictions.members + 1)))
    whole = selective.risk_coverage(predictions.confidence, predictions.right)
    return _thin_risk_coverage(whole, most), [
        _thin_risk_coverage(selective.risk_coverage(prediction_confidence(p), votes == predictions.labels), most)
        for p, votes in each
    ]


def _thin_risk_coverage(curve: RiskCoverage, most: int) -> RiskCoverage:
    """A curve in as many points as a screen shows: kept for every member, all would be much."""
    kept = chart_style.select_drawn_points(len(curve.risk), most)
    return replace(curve, coverage=curve.coverage[kept], risk=curve.risk[kept], threshold=curve.threshold[kept])


def choose_error_thresholds(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None = None
) -> list[ConfidenceThreshold]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's.

    Args:
      rate: the share of wrong answers that is accepted, in [0, 1].
      fit: the same members' predictions of other examples, to find it on; None: it is found on
        one half of `predictions` and judged on the other.
    """
    held = _list_confidences(fit) if fit else [None] * (predictions.members + 1)
    return [
        selective.fit_confidence_threshold(
            sure, right, labels=predictions.labels, error_rate=rate, fitting=apart, groups=predictions.groups
        )
        for (sure, right), apart in zip(_list_confidences(predictions), held, strict=False)
    ]


def _list_confidences(predictions: EnsemblePredictions) -> list[AnswerConfidences]:
    """How sure and where right: the ensemble, then each member where there are several."""
    each = zip(predictions.probabilities, predictions.votes, strict=True) if predictions.members > 1 else ()
    members = [(prediction_confidence(p), votes == predictions.labels) for p, votes in each]
    return [(predictions.confidence, predictions.right), *members]


def plot_risk_coverage(
    ensemble: RiskCoverage,
    members: Sequence[RiskCoverage],
    rate: float,
    threshold: ConfidenceThreshold,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The share that is wrong over the share that is answered, both in percent.

    Args:
      members: each member's; of one member none.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    who = "ensemble" if members else "the one member"
    curves = [*_build_member_risk_lines(members), _build_ensemble_risk_line(ensemble, who, palette)]
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


def _build_member_risk_lines(members: Sequence[RiskCoverage]) -> list[dict[str, Any]]:
    return chart_style.build_member_lines(
        [100 * member.coverage for member in members],
        [100 * member.risk for member in members],
        [_format_risk_hovers(member, f"Member {m + 1}") for m, member in enumerate(members)],
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


def tabulate_risk_coverage(ensemble: RiskCoverage, members: Sequence[RiskCoverage]) -> pd.DataFrame:
    named = [("ensemble", ensemble)]
    named += [(chart_style.format_member_name(m), member) for m, member in enumerate(members)]
    return pd.concat(
        pd.DataFrame({"who": name, "coverage": curve.coverage, "risk": curve.risk, "threshold": curve.threshold})
        for name, curve in named
    )
