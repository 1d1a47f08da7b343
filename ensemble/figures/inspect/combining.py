"""Four ways of combining the members side by side, and the weights of the fitted one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import CombinationComparison, CombinationResult
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.metrics import MAIN_METRICS
from ensemble.analysis.quality.quality import Quality, measure_quality
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, member_color
from ensemble.wording import formats
from ensemble.wording.verdicts.combining import RULE_NAMES

if TYPE_CHECKING:
    import plotly.graph_objects as go

METRIC_NAMES = {metric.name: metric.capitalized_term for metric in MAIN_METRICS}
METRIC_AXES = {metric.name: metric.axis_title for metric in MAIN_METRICS}
_MAX_RELATIVE_REACH = 2.0  # so many times as far as all others, and a rule is drawn at the edge


def _list_combinations(combined: CombinationComparison) -> dict[str, CombinationResult]:
    return {words: getattr(combined, name) for name, words in RULE_NAMES.items()}


def compare_rules_and_members(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> tuple[CombinationComparison, list[Quality]]:
    """The four ways, and each member alone on the examples that they are judged on.

    Args:
      fit: what the weights are fitted on; see `combining.compare_combining_rules`.
    """
    combined = combining.compare_combining_rules(predictions, fit)
    half = combined.judged
    return combined, [measure_quality(member[half], predictions.labels[half]) for member in predictions.probabilities]


def _format_combination_metric(value: float, name: str, n: int) -> str:
    return formats.format_percent(value, n) if name == "accuracy" else formats.format_significant(value)


def plot_combinations(
    combined: CombinationComparison, members: Sequence[Quality], name: str, title: str, palette: Palette
) -> "go.Figure":
    """One figure of every rule and of the single members in rows; the weights as bars below.

    Args:
      name: "accuracy", "nll", "brier" or "ece".
    """
    from plotly.subplots import make_subplots  # here, for it takes a while

    chart = make_subplots(2, 1, row_heights=[0.62, 0.38], vertical_spacing=0.24)
    scale = 100 if name == "accuracy" else 1
    low, high = _compute_metric_span(combined, members, name)
    for trace in (
        *_build_single_member_dots(members, name, palette),
        *(
            _build_combination_dot(rule.quality, words, place=place, name=name, high=high, palette=palette)
            for place, (words, rule) in enumerate(_list_combinations(combined).items())
        ),
    ):
        chart.add_scatter(**trace, row=1, col=1)
    chart.add_bar(**_build_weight_bars(combined), row=2, col=1)
    chart.add_hline(1 / len(members), line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"}, row=2, col=1)
    chart.update_layout(chart_style.build_chart_layout(title, 540, palette, showlegend=False, bargap=0.35))
    chart.update_layout(margin={"b": 50})
    rows = [*RULE_NAMES.values(), "each member"]
    chart.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=rows,
        fixedrange=True,
        range=[len(rows) - 0.5, -0.9],
        automargin=True,
        showgrid=True,
        zeroline=False,
        row=1,
        col=1,
    )
    room = 0.08 * (high - low)
    chart.update_xaxes(
        title=METRIC_AXES[name],
        range=[scale * (low - room), scale * (high + 2 * room)],
        ticksuffix=" %" if name == "accuracy" else "",
        fixedrange=True,
        nticks=6,
        row=1,
        col=1,
    )
    chart.update_xaxes(title="member", fixedrange=True, tick0=1, row=2, col=1, dtick=1 if len(members) <= 16 else 8)
    chart.update_yaxes(
        title="fitted weight", fixedrange=True, automargin=True, nticks=4, rangemode="tozero", row=2, col=1
    )
    return chart


def _compute_metric_span(combined: CombinationComparison, members: Sequence[Quality], name: str) -> tuple[float, float]:
    """The ends of the axis: of all that is shown but a rule that lies far beyond."""
    kept = [combination for rule, combination in _list_combinations(combined).items() if rule != RULE_NAMES["majority"]]
    values = [combination.quality[name] for combination in kept]
    values += [member[name] for member in members]
    if name == "accuracy":
        values += [end for combination in kept for end in (combination.quality.low, combination.quality.high)]
    low, high = min(values), max(values)
    reach = _MAX_RELATIVE_REACH * max(high - low, 1e-6)
    vote = combined.majority.quality[name]
    if low - reach <= vote <= high + reach:
        low, high = min(low, vote), max(high, vote)
    return (low, high) if high > low else (low - 1e-3, high + 1e-3)


def _build_combination_dot(
    quality: Quality, words: str, place: int, name: str, high: float, palette: Palette
) -> dict[str, Any]:
    """One rule's figure, accuracy with its interval; one beyond the axis is an arrow at its end."""
    scale, value = 100 if name == "accuracy" else 1, quality[name]
    beyond = value > high
    text = _format_combination_metric(value, name, quality.n)
    trace: dict[str, Any] = {
        "x": [scale * min(value, high)],
        "y": [place],
        "mode": "markers+text",
        "name": words,
        "marker": {
            "size": 12,
            "color": MUTED_COLOR if place else palette.ink,
            "symbol": "triangle-right" if beyond else "circle",
        },
        "text": [text],
        "textposition": "top center" if not beyond else "middle left",
        "hovertext": [f"{words}: {text}"],
        "hoverinfo": "text",
        "cliponaxis": False,
    }
    if name == "accuracy":
        trace["error_x"] = {
            "array": [100 * (quality.high - value)],
            "arrayminus": [100 * (value - quality.low)],
            "symmetric": False,
            "thickness": 1.5,
            "width": 4,
        }
    return trace


def _build_single_member_dots(members: Sequence[Quality], name: str, palette: Palette) -> list[dict[str, Any]]:
    M, scale = len(members), 100 if name == "accuracy" else 1
    hovers = [
        [f"Member {m + 1}: {_format_combination_metric(member[name], name, member.n)}"]
        for m, member in enumerate(members)
    ]
    return [
        {
            **trace,
            "mode": "markers",
            "opacity": max(0.6, trace["opacity"]),
            "marker": {"color": trace["line"]["color"], "size": 9, "line": {"color": palette.ground, "width": 1}},
        }
        for trace in chart_style.build_member_lines(
            [[scale * member[name]] for member in members], [[len(RULE_NAMES)]] * M, hovers
        )
    ]


def _build_weight_bars(combined: CombinationComparison) -> dict[str, Any]:
    M = len(combined.weights)
    return {
        "x": list(range(1, M + 1)),
        "y": combined.weights,
        "hoverinfo": "text",
        "name": "weight",
        "marker": {"color": [member_color(m, M) for m in range(M)]},
        "hovertext": [
            f"Member {m + 1} weighs {formats.format_percent(weight, places=1)}"
            for m, weight in enumerate(combined.weights)
        ],
    }


def describe_combinations_chart(combined: CombinationComparison, name: str) -> str:
    listing = ", ".join(
        f"{words} {_format_combination_metric(combination.quality[name], name, combination.quality.n)}"
        for words, combination in _list_combinations(combined).items()
    )
    return f"{METRIC_NAMES[name]} of four ways of combining: {listing}"


def tabulate_combinations(combined: CombinationComparison) -> pd.DataFrame:
    """One row a way: its figures, how many verdicts it changes, the members' weights in it."""
    M = len(combined.weights)
    weights = {"arithmetic": [1 / M] * M, "weighted": combined.weights.tolist()}
    rows = []
    for name, words in RULE_NAMES.items():
        combination_result: CombinationResult = getattr(combined, name)
        rows.append(
            {
                "rule": words,
                **combination_result.quality.as_row(),
                "verdicts_changed": len(combination_result.changed_examples),
            }
            | {f"weight_{m + 1}": weight for m, weight in enumerate(weights.get(name, ()))}
        )
    return pd.DataFrame(rows)
