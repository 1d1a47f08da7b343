"""Figures against the strength of a corruption: four small pictures over one axis."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.shift import StressResults
from ensemble.shift.corruptions import Corruption
from ensemble.shift.shift_metrics import ERROR_RATE
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go

_CorruptionMetrics = dict[str, Any]

# What is drawn: its name in the results, its title, and whether it is a share of images.
_PANELS = (
    ("accuracy", "accuracy", True),
    ("nll", "NLL (nats)", False),
    ("ece", "calibration error (ECE)", False),
    ("information", "mutual information (nats)", False),
)


_PANEL_TITLE_HEIGHT = 24  # pixels
_USEFUL_AUROC = 0.7  # from which on an uncertainty is said to tell wrong answers from right ones


def build_panel_layout(title: str, height: int, palette: Palette) -> dict[str, Any]:
    chart_layout = chart_style.build_chart_layout(title, height + _PANEL_TITLE_HEIGHT, palette)
    chart_layout["margin"]["t"] += _PANEL_TITLE_HEIGHT
    return chart_layout


def format_corruption_amount(kind: Corruption, value: float) -> str:
    """An amount with its unit: "30°", "4 px", "σ 0.3"."""
    before = "σ " if kind.name in ("noise", "blur") else ""
    return f"{before}{value:g}{kind.unit}".replace("-", "−")


def plot_corruption_metrics(
    curve: Sequence[_CorruptionMetrics], kind: Corruption, n: int, title: str, palette: Palette
) -> "go.Figure":
    """Accuracy, NLL, ECE and mutual information against the amount.

    Args:
      curve: the figures of each amount, as `StressResults.list_corruption_steps` gives them.
    """
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    chart = make_subplots(
        2, 2, subplot_titles=[panel[1] for panel in _PANELS], vertical_spacing=0.2, horizontal_spacing=0.12
    )
    for place, (name, words, share) in enumerate(_PANELS):
        row, column = place // 2 + 1, place % 2 + 1
        counted = n if share else 0
        for trace in _build_panel_traces(
            curve, kind, name=name, words=words, n=counted, palette=palette, first=not place
        ):
            chart.add_scatter(**trace, row=row, col=column)
        axis: dict[str, Any] = {"rangemode": "tozero"}
        if share:
            axis = {**chart_style.build_percent_ticks(), "range": [0, 1.02]}
        chart.update_yaxes(**axis, fixedrange=True, automargin=True, row=row, col=column)
    chart.update_layout(**build_panel_layout(title, 600, palette))
    chart.update_xaxes(fixedrange=True, tickvals=list(kind.amounts), ticktext=[f"{value:g}" for value in kind.amounts])
    if kind.amounts[0] > kind.amounts[-1]:
        chart.update_xaxes(autorange="reversed")
    for column in (1, 2):
        chart.update_xaxes(title=kind.measure, row=2, col=column)
    chart.update_annotations(font_size=13)
    return chart


def _build_panel_traces(
    curve: Sequence[_CorruptionMetrics],
    kind: Corruption,
    name: str,
    words: str,
    n: int,
    palette: Palette,
    *,
    first: bool,
) -> list[dict[str, Any]]:
    """One panel's lines: the members thin, the ensemble bold and last."""
    xs = [metrics["amount"] for metrics in curve]
    members = [list(values) for values in zip(*(metrics.get(f"member_{name}", []) for metrics in curve), strict=True)]
    whole = [metrics[f"ensemble_{name}" if name != "information" else "mean_information"] for metrics in curve]

    def format_hovers(who: str, values: Sequence[float]) -> list[str]:
        return [
            f"{who} at {format_corruption_amount(kind, x)}: {_format_panel_value(value, n)} {words}"
            for x, value in zip(xs, values, strict=True)
        ]

    thin = (
        chart_style.build_member_lines(
            [xs] * len(members),
            members,
            [format_hovers(chart_style.format_member_name(m).capitalize(), ys) for m, ys in enumerate(members)],
        )
        if len(members) > 1
        else []
    )
    alone = len(curve[0]["member_accuracy"]) == 1
    bold = {
        "x": xs,
        "y": whole,
        "mode": "lines+markers",
        "name": "the one member" if alone else "ensemble",
        "line": chart_style.style_ensemble_line(palette),
        "marker": {"size": 7, "color": palette.ink},
        "hovertext": format_hovers("It" if alone else "The ensemble", whole),
        "hoverinfo": "text",
        "legendgroup": "ensemble",
    }
    return [{**trace, "showlegend": first and trace.get("showlegend", True)} for trace in [*thin, bold]]


def _format_panel_value(value: float, n: int) -> str:
    """A share of `n` images in percent; any other figure, where n is 0, as it is."""
    return formats.format_percent(value, n) if n else formats.format_significant(value)


def describe_corruption_chart(curve: Sequence[_CorruptionMetrics], kind: Corruption, n: int) -> str:
    """The picture in words: the ensemble's accuracy at both ends."""
    ends = [
        f"{formats.format_percent(metrics['ensemble_accuracy'], n)} at "
        f"{format_corruption_amount(kind, metrics['amount'])}"
        for metrics in (curve[0], curve[-1])
    ]
    return (
        f"Accuracy, NLL, calibration error and mutual information by {kind.title.lower()}: the "
        f"ensemble's accuracy is {' and '.join(ends)}"
    )


def tabulate_corruption_metrics(curves: Sequence[Sequence[_CorruptionMetrics]]) -> pd.DataFrame:
    """Every kind's figures: a row for each amount and member, and for the ensemble."""
    rows: list[dict[str, Any]] = []
    for metrics in (amount_metrics for curve in curves for amount_metrics in curve):
        base = {"corruption": metrics["kind"], "amount": metrics["amount"]}
        names = ("accuracy", "nll", "ece")
        rows.append(
            {
                **base,
                "who": "ensemble",
                **{n: metrics[f"ensemble_{n}"] for n in names},
                "entropy": metrics["mean_predictive_entropy"],
                "mutual_information": metrics["mean_information"],
            }
        )
        for m in range(len(metrics["member_accuracy"])):
            figures = {name: metrics[f"member_{name}"][m] for name in names}
            rows.append({**base, "who": chart_style.format_member_name(m), **figures})
    return pd.DataFrame(rows)


def describe_corruption_effect(curve: Sequence[_CorruptionMetrics], kind: Corruption, n: int, noun: str) -> str:
    clean, worst = curve[0], curve[-1]
    many = len(clean["member_accuracy"]) > 1
    who = "the ensemble's" if many else "the one member's"
    before = f"from {formats.format_percent(clean['ensemble_accuracy'], n)} on the {pluralize_noun(noun)} as they are"
    sentence = f"At {format_corruption_amount(kind, worst['amount'])} {who} accuracy is "
    sentence += f"**{formats.format_percent(worst['ensemble_accuracy'], n)}**, "
    nll = f"Its NLL is {_format_nats(worst['ensemble_nll'])}"
    if not many:
        return f"{sentence}{before}. {nll}, from {_format_nats(clean['ensemble_nll'])}."
    gain = (worst["ensemble_accuracy"] - fmean(worst["member_accuracy"])) * n
    digits = formats.round_half_away(gain)
    count = formats.format_count(abs(digits), noun)
    than = f"{count} {'more' if digits > 0 else 'fewer'} than" if digits else "as many right as"
    sentence += f"{than} the average member, {before}. "
    sentence += f"{nll}, the average member's {_format_nats(fmean(worst['member_nll']))}. "
    return sentence + " ".join(describe_shift_trust(clean, worst, n, noun))


def describe_shift_trust(clean: _CorruptionMetrics, worst: _CorruptionMetrics, n: int, noun: str) -> list[str]:
    """Whether the ensemble's confidence can be relied on where the images have changed.

    Three sentences: confidence against accuracy, whether uncertainty tells wrong answers from right
    ones, and what a threshold set on the images as they are would let through. Results of an
    earlier version, which measured none of it, say how far the members disagree.
    """
    if "mean_confidence" not in worst:
        return [
            f"Mutual information goes from {_format_nats(clean['mean_information'])} to "
            f"{_format_nats(worst['mean_information'])} nats; measure again to see whether the "
            "uncertainty can be relied on."
        ]
    return [
        _describe_confidence_gap(worst),
        _describe_error_detection(worst["error_auroc"]),
        _describe_answered_errors(clean, worst, n, noun),
    ]


def _describe_confidence_gap(worst: _CorruptionMetrics) -> str:
    low, high = worst["confidence_gap"]
    sure = formats.format_percent(worst["mean_confidence"], places=0)
    ends = sorted((abs(100 * low), abs(100 * high)))
    points = f"{ends[0]:.0f} to {ends[1]:.0f} points"
    if low > 0:
        return f"It is {sure} sure on average: **too sure** by {points} (95 %)."
    if high < 0:
        return f"It is {sure} sure on average: less sure than right, by {points} (95 %)."
    return (
        f"It is {sure} sure on average, which is not shown to differ from its accuracy "
        f"({100 * low:+.0f} to {100 * high:+.0f} points, 95 %)."
    ).replace("-", "\N{MINUS SIGN}")


def _describe_error_detection(auroc: Sequence[float] | None) -> str:
    if auroc is None:
        return "Too few answers are wrong, or right, to say whether uncertainty tells which."
    value, low, high = auroc
    figures = f"AUROC {value:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    if low <= 0.5:
        return f"Its uncertainty is not shown to tell wrong answers from right ones ({figures})."
    if low >= _USEFUL_AUROC:
        return f"Its uncertainty tells wrong answers from right ones ({figures})."
    return f"Its uncertainty tells little of which answers are wrong ({figures})."


def _describe_answered_errors(clean: _CorruptionMetrics, worst: _CorruptionMetrics, n: int, noun: str) -> str:
    """What a threshold that lets 1 % errors through on the images as they are does here."""
    rate = formats.format_percent(ERROR_RATE, figures=2)
    if clean.get("answer_threshold") is None:
        return f"No threshold keeps errors to {rate} on the {pluralize_noun(noun)} as they are."
    answered, wrong = worst["answered"], worst["answered_wrong"]
    text = f"The threshold that lets {rate} errors through on the {pluralize_noun(noun)} as they"
    if not answered:
        return f"{text} are answers none of these."
    # Results of earlier versions have no interval of their own.
    ends = worst.get("answered_error") or wilson_interval(wrong, answered)
    low, high = (formats.format_percent(end, answered) for end in ends)
    return (
        f"{text} are answers {formats.format_percent(answered / n, n)} of these, "
        f"{formats.format_percent(wrong / answered, answered)} of them wrongly ({low} to {high})."
    )


def _format_nats(value: float) -> str:
    """A figure in nats, to three significant figures."""
    return formats.format_significant(value)


def describe_measured_members(results: StressResults) -> str:
    """Which members were measured: "epoch 4", or "epoch 4 and 12 steps"."""
    more = f" and {formats.format_count(results.steps_after, 'step')}" if results.steps_after else ""
    return f"epoch {results.epoch}{more}"
