"""Risk by coverage: how many answers are wrong, the more of them are given, surest first."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality import selective
from ensemble.analysis.quality.averaging import confidence
from ensemble.analysis.quality.selective import Answers, Choice, RiskCoverage
from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Of the very surest few a single error is a large share: the axis need not reach so high.
STEADY = 0.1
POINTS = 12_000  # of all curves together
NOTHING = 0.03  # of the largest risk: what the eye does not tell from none


def curves(made: Predictions) -> tuple[RiskCoverage, list[RiskCoverage]]:
    """Risk by coverage of the ensemble and of each member, in the points that are drawn."""
    each = zip(made.probabilities, made.votes, strict=True) if made.members > 1 else ()
    most = max(100, min(lines.POINTS, POINTS // (made.members + 1)))
    whole = selective.risk_coverage(made.confidence, made.right)
    return drawn(whole, most), [
        drawn(selective.risk_coverage(confidence(p), votes == made.labels), most)
        for p, votes in each
    ]


def drawn(curve: RiskCoverage, most: int) -> RiskCoverage:
    """A curve in as many points as a screen shows: kept for every member, all would be much."""
    kept = lines.thinned(len(curve.risk), most)
    return replace(
        curve, coverage=curve.coverage[kept], risk=curve.risk[kept], threshold=curve.threshold[kept]
    )


def thresholds(made: Predictions, rate: float, fit: Predictions | None = None) -> list[Choice]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's.

    Args:
      made: what it is judged on.
      rate: the share of wrong answers that is accepted, in [0, 1].
      fit: the same members' predictions of other examples, to find it on; None: it is found on
        one half of `made` and judged on the other.
    """
    held = answered(fit) if fit else [None] * (made.members + 1)
    return [
        selective.choose(sure, right, made.labels, rate, apart)
        for (sure, right), apart in zip(answered(made), held, strict=False)
    ]


def answered(made: Predictions) -> list[Answers]:
    """How sure and where right: the ensemble, then each member where there are several."""
    each = zip(made.probabilities, made.votes, strict=True) if made.members > 1 else ()
    members = [(confidence(p), votes == made.labels) for p, votes in each]
    return [(made.confidence, made.right), *members]


def figure(
    ensemble: RiskCoverage,
    members: Sequence[RiskCoverage],
    rate: float,
    found: Choice,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The share that is wrong over the share that is answered, both in percent.

    Args:
      ensemble: the ensemble's curve.
      members: each member's; of one member none.
      rate: the error rate that is accepted.
      found: the threshold for it, and where it puts the ensemble.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    who = "ensemble" if members else "the one member"
    curves = [*thin(members), bold(ensemble, who, palette)]
    chart = go.Figure([go.Scatter(one) for one in curves])
    chart.add_hline(100 * rate, line={"color": MUTED, "width": 1.5, "dash": "dash"})
    chart.add_annotation(
        x=0,
        y=100 * rate,
        xref="x domain",
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        text=f"accepted: {formats.percent(rate, figures=2)}",
        font={"color": palette.ink, "size": 12},
    )
    if found.kept:
        chart.add_scatter(**mark(found, palette))
    chart.update_layout(lines.layout(title, 440, palette))
    top = max(highest(one) for one in (ensemble, *members))
    start = begin([ensemble, *members], top)
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


def highest(curve: RiskCoverage) -> float:
    """The largest risk, but for that of the very surest few."""
    return float(curve.risk[curve.coverage >= STEADY].max(initial=0.0))


def begin(curves: Sequence[RiskCoverage], top: float) -> float:
    """Where the axis of coverage begins: a tenth or two before the curves leave the ground."""
    rising = [one.coverage[(one.risk > NOTHING * top) & (one.coverage >= STEADY)] for one in curves]
    first = min((float(found[0]) for found in rising if len(found)), default=1.0)
    return min(0.8, max(0.0, math.floor(10 * first) / 10 - 0.1))


def thin(members: Sequence[RiskCoverage]) -> list[dict[str, Any]]:
    """The members' curves."""
    return lines.lines(
        [100 * one.coverage for one in members],
        [100 * one.risk for one in members],
        [hovers(one, f"Member {m + 1}") for m, one in enumerate(members)],
    )


def bold(curve: RiskCoverage, who: str, palette: Palette) -> dict[str, Any]:
    """The ensemble's curve."""
    return {
        "x": 100 * curve.coverage,
        "y": 100 * curve.risk,
        "mode": "lines",
        "name": who,
        "line": lines.bold(palette),
        "hoverinfo": "text",
        "hovertext": hovers(curve, who.capitalize()),
    }


def hovers(curve: RiskCoverage, who: str) -> list[str]:
    """What is said at each point of a curve."""
    return [
        f"{who}: answers {formats.percent(covered, places=1)}, errs in "
        f"{formats.percent(risk, places=2)} of them<br>"
        f"at least {formats.certainty(threshold)} sure"
        for covered, risk, threshold in zip(
            curve.coverage, curve.risk, curve.threshold, strict=True
        )
    ]


def mark(found: Choice, palette: Palette) -> dict[str, Any]:
    """Where the threshold puts the ensemble on what it is judged on, with its interval."""
    return {
        "x": [100 * found.coverage],
        "y": [100 * found.error],
        "mode": "markers",
        "name": f"with the threshold, {'other half' if found.halved else 'found on validation'}",
        "cliponaxis": False,
        "marker": {"symbol": "circle-open", "size": 14, "color": palette.ink, "line": {"width": 2}},
        "error_y": {
            "array": [100 * (found.high - found.error)],
            "symmetric": False,
            "arrayminus": [100 * (found.error - found.low)],
            "thickness": 1,
            "width": 4,
        },
        "hovertext": [
            f"At least {formats.certainty(found.threshold)} sure: answers "
            f"{formats.percent(found.coverage, found.n)}, errs in "
            f"{formats.percent(found.error, places=2)}"
        ],
        "hoverinfo": "text",
    }


def point_out(chart: "go.Figure", made: Predictions, number: int, noun: str) -> None:
    """Mark how many are answered by the time that one image is."""
    share = float((made.confidence >= made.confidence[number]).mean())
    chart.add_vline(
        100 * share,
        line={"color": MUTED, "width": 1.5, "dash": "dot"},
        annotation_text=f"this {noun}",
        annotation_position="top left",
    )


def alt(ensemble: RiskCoverage, n: int) -> str:
    """The picture in words."""
    half = int(np.searchsorted(ensemble.coverage, 0.9))
    return (
        f"Share of wrong answers over the share that is answered: "
        f"{formats.percent(float(ensemble.risk[-1]), n)} of all answers are wrong, and "
        f"{formats.percent(float(ensemble.risk[half]), n)} of the surest 90 %"
    )


def table(ensemble: RiskCoverage, members: Sequence[RiskCoverage]) -> pd.DataFrame:
    """The points that are drawn, of the ensemble and of each member."""
    named = [("ensemble", ensemble)]
    named += [(lines.member(m), one) for m, one in enumerate(members)]
    return pd.concat(
        pd.DataFrame(
            {"who": name, "coverage": one.coverage, "risk": one.risk, "threshold": one.threshold}
        )
        for name, one in named
    )
