"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import CombinationComparison, CombinationResult
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.analysis.predictions import EnsemblePredictions, sort_examples
from ensemble.analysis.quality.calibration_noise import (
    CalibrationErrorEstimate,
    estimate_calibration_error,
    estimate_ensemble_calibration_error,
)
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE, split_halves
from ensemble.analysis.quality.metrics import MAIN_METRICS, ClassifierAnswers
from ensemble.analysis.quality.quality import Quality, measure_answer_quality
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, member_color
from ensemble.views.calibration import describe_chance_error
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.how_many_members import METRIC_CHOICE
from ensemble.views.parts import Choice, Figure, Figures, Images, Paragraph, Table, View
from ensemble.views.registry import BETTER, RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import ensemble_gain as inspect_words

if TYPE_CHECKING:
    import plotly.graph_objects as go


# The four ways by their names in `CombinationComparison`.
_RULE_NAMES = {
    "arithmetic": "arithmetic mean",
    "geometric": "geometric mean",
    "majority": "majority vote",
    "weighted": "fitted weights",
}
_COMBINATION_NOTES = (
    "± is half the 95 % interval of the accuracy; both ends stand where it is lopsided. Corrected "
    "and spoilt: against the arithmetic mean. Votes are not probabilities: a label that nobody "
    "votes for costs the majority vote up to 87 nats, so its NLL is high."
)


def describe_best_combination(combined: CombinationComparison, noun: str) -> str:
    """Whether some way is shown to be better or worse than the mean: one claim."""
    n = combined.arithmetic.quality.n
    ways = {name: getattr(combined, name).gain for name in combining.OTHER_RULES}
    significant_ways = {
        name: ways[name] for name, (p, _) in combined.adjusted_p_values.items() if p < SIGNIFICANCE_LEVEL
    }
    alike = not any(way.won + way.lost for way in ways.values())
    nll = ", ".join(
        f"{_RULE_NAMES[name]} {'lower' if ways[name].nll > 0 else 'higher'}"
        for name, (_, p) in combined.adjusted_p_values.items()
        if p < SIGNIFICANCE_LEVEL
    )
    if nll and not significant_ways:
        lead = (
            f"All four ways get the same {pluralize_noun(noun)} right"
            if alike
            else ("No way is shown to get more right")
        )
        return f"{lead}; NLL: {nll}."
    if alike:
        return f"All four ways of combining get the same of {formats.format_count(n, noun)} right."
    if not significant_ways:
        return f"On these {n:,} {pluralize_noun(noun)} no way of combining is shown to beat the mean."
    text = ", ".join(
        f"{_RULE_NAMES[name]} {abs(way.digits):,} {'more' if way.digits > 0 else 'fewer'} right"
        for name, way in significant_ways.items()
    )
    return f"Against the mean, on {formats.format_count(n, noun)}: {text}."


def describe_combination_evidence(combined: CombinationComparison, noun: str) -> str:
    parts = []
    for name, (p, nll_p) in combined.adjusted_p_values.items():
        gain = getattr(combined, name).gain
        nll = (
            ""
            if np.isnan(nll_p) or not (gain.nll_low or gain.nll_high)
            else (f", NLL {inspect_words.format_nll_change(gain)}, {inspect_words.format_p_value(nll_p)}")
        )
        parts.append(
            f"{_RULE_NAMES[name]} {formats.format_image_difference(gain.digits, noun)} "
            f"{inspect_words.format_gain_interval(gain)}, {inspect_words.format_p_value(p)}{nll}"
        )
    return (
        f"Against the mean: {'; '.join(parts)}. Each p is adjusted for all of these tests (Holm), "
        "each interval is for one test alone; from p = 0.05 on a difference is not shown, which "
        "does not mean that there is none."
    )


def explain_combinations_chart(combined: CombinationComparison) -> str:
    judged = combined.arithmetic.quality.n
    where = (
        f"one half of the test images ({combined.fitted:,}), all four ways are judged on the other ({judged:,})"
        if combined.uses_held_out_half
        else f"the validation images ({combined.fitted:,}), all four ways are judged on the test images ({judged:,})"
    )
    return (
        "The arithmetic mean, in bold, is the ensemble's answer on every other screen. Weights "
        f"are fitted on {where}. Below: each member's weight; the dashed line is equal weights."
    )


def tabulate_combination_gains(combined: CombinationComparison, noun: str) -> pd.DataFrame:
    """One row a way: its figures, and what it wins and loses against the mean."""
    rows = []
    adjusted = combined.adjusted_p_values
    for name, words in _RULE_NAMES.items():
        combination = getattr(combined, name)
        quality, gained = combination.quality, combination.gain
        versus = (
            ""
            if name not in adjusted
            else (
                f"{formats.format_image_difference(gained.digits, noun)} ({gained.won:,} "
                f"corrected, {gained.lost:,} spoilt, "
                f"{inspect_words.format_p_value(adjusted[name][0])})"
            )
        )
        rows.append(
            {
                "rule": words,
                "accuracy": f"{formats.format_percent(quality.accuracy, quality.n)} "
                f"{inspect_words.format_accuracy_interval(quality)}",
                "against the mean": versus,
                **{
                    metric.term: formats.format_significant(quality[metric.name])
                    for metric in MAIN_METRICS
                    if metric.name != "accuracy"
                },
            }
        )
    return pd.DataFrame(rows)


METRIC_NAMES = {metric.name: metric.capitalized_term for metric in MAIN_METRICS}
METRIC_AXES = {metric.name: metric.axis_title for metric in MAIN_METRICS}
_MAX_RELATIVE_REACH = 2.0  # so many times as far as all others, and a rule is drawn at the edge


def _list_combinations(combined: CombinationComparison) -> dict[str, CombinationResult]:
    return {words: getattr(combined, name) for name, words in _RULE_NAMES.items()}


def compare_rules_and_members(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> tuple[CombinationComparison, list[Quality]]:
    """The four ways, and the main metrics of each member alone on the examples that they are judged on.

    Args:
      fit: what the weights are fitted on; see `combining.compare_combining_rules`.
    """
    combined = combining.compare_combining_rules(predictions, fit)
    rows = np.flatnonzero(combined.judged)
    labels, confidence = predictions.labels[rows], predictions.member_confidence
    answers = (
        ClassifierAnswers(member[rows], labels, sure[rows].astype(np.float64), votes[rows] == labels)
        for member, sure, votes in zip(predictions.probabilities, confidence, predictions.votes, strict=True)
    )
    return combined, [measure_answer_quality(answer, metrics=MAIN_METRICS) for answer in answers]


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
    rows = [*_RULE_NAMES.values(), "each member"]
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
    kept = [
        combination for rule, combination in _list_combinations(combined).items() if rule != _RULE_NAMES["majority"]
    ]
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
            [[scale * member[name]] for member in members], [[len(_RULE_NAMES)]] * M, hovers
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


def _tabulate_combinations(combined: CombinationComparison) -> pd.DataFrame:
    """One row a way: its figures, how many verdicts it changes, the members' weights in it."""
    M = len(combined.weights)
    weights = {"arithmetic": [1 / M] * M, "weighted": combined.weights.tolist()}
    rows = []
    for name, words in _RULE_NAMES.items():
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


_RULE_SHORT_NAMES = {"geometric": "geometric", "majority": "majority", "weighted": "weights"}
_RULE_CHOICES = {
    "any": "Any rule",
    "geometric": "Geometric mean",
    "majority": "Majority vote",
    "weighted": "Fitted weights",
}


def build_combining(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "One member has nothing to be combined with: train two or more to see which way of combining them is best.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    if epoch.n < MIN_EXAMPLES_TO_HALVE and not epoch.fit:
        yield Paragraph(
            f"Fewer than {MIN_EXAMPLES_TO_HALVE} {pluralize_noun(epoch.noun)} are too few to fit weights on.",
            "unavailable",
            icon=":material/grid_off:",
        )
        return
    combined, members = epoch.measure(combine_members, fitted=True)
    yield Paragraph(describe_best_combination(combined, epoch.noun), "answer")
    yield Paragraph(describe_combination_evidence(combined, epoch.noun), "evidence")
    yield Figures(
        METRIC_CHOICE,
        lambda name: _build_combinations_figure(epoch, combined, members, name),
        {"ece": lambda: describe_chance_error(epoch.measure(_measure_mean_calibration, fitted=True))},
    )
    yield Table(
        "Four ways of combining",
        tabulate_combination_gains(combined, epoch.noun),
        note=_COMBINATION_NOTES,
        key="combining_table",
    )
    yield from _changed_verdicts_view(epoch, combined)


def _build_combinations_figure(
    epoch: EvaluatedEpoch, combined: CombinationComparison, members: Sequence[Quality], name: str
) -> Figure:
    listing = ", ".join(
        f"{words} {_format_combination_metric(combination.quality[name], name, combination.quality.n)}"
        for words, combination in _list_combinations(combined).items()
    )
    title = f"Ways of combining, {METRIC_NAMES[name]} · {epoch.source}"
    return Figure(
        label=METRIC_NAMES[name],
        alt=f"{METRIC_NAMES[name]} of four ways of combining: {listing}",
        explanation=explain_combinations_chart(combined),
        draw=lambda palette: plot_combinations(combined, list(members), name, title, palette),
        key="combining",
        file=f"combining-{name}",
        title="Four ways of combining",
        table=lambda: _tabulate_combinations(combined),
        drawn_from=(name,),
    )


def _changed_verdicts_view(epoch: EvaluatedEpoch, combined: CombinationComparison) -> View:
    noun = epoch.noun
    rule = yield Choice("rule", f"{noun.capitalize()}s whose verdict changes", _RULE_CHOICES, "any")
    rules = _RULE_SHORT_NAMES if rule == "any" else (rule,)
    changed = np.unique(np.concatenate([getattr(combined, name).changed_examples for name in rules]))
    numbers = sort_examples(epoch.predictions, changed, "unsure")
    by = "any other way of combining" if rule == "any" else f"the {_RULE_NAMES[rule]}"
    yield Images(
        numbers,
        f"combining_{rule}",
        f"{formats.format_count(len(numbers), noun)} of the whole test set would get another "
        f"answer by {by}; the least sure first.",
        list_lines_below=lambda number: _list_rule_answers(combined, number, epoch.class_names),
        empty=f"By {by}, no {noun} of the whole test set is answered differently.",
    )


def combine_members(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> tuple[CombinationComparison, list[Quality]]:
    return compare_rules_and_members(predictions, fit)


def _measure_mean_calibration(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None
) -> CalibrationErrorEstimate:
    if fit:
        return estimate_ensemble_calibration_error(predictions)
    judged = split_halves(predictions.labels, predictions.groups)[1]
    return estimate_calibration_error(
        predictions.confidence[judged], predictions.right[judged], groups=select_groups(predictions.groups, judged)
    )


def _list_rule_answers(combined: CombinationComparison, number: int, names: Sequence[str]) -> list[str]:
    return [f"{word} {names[getattr(combined, name).said[number]]}" for name, word in _RULE_SHORT_NAMES.items()]


VIEW = RegisteredView(
    "combining",
    "Combining",
    "Whether another rule beats the mean of the members",
    build_combining,
    place=70,
    question=BETTER,
    needs_several=True,
)
