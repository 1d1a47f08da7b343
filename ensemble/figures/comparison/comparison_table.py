"""The table of Compare in words: settings, figures with their intervals, what is shown of each."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ensemble.analysis.quality.metrics import Metric
from ensemble.comparison.comparison_table import ComparisonTable, GroupColumn
from ensemble.comparison.differences import GroupDifference
from ensemble.comparison.group_metrics import COMPARISON_METRICS, MetricEstimate
from ensemble.wording import formats
from ensemble.wording.verdicts.ensemble_gain import describe_compared_digits_caution, format_p_value, format_signed

NAME_COLUMN = "what"  # the first column, which stays in sight
_ROUNDING_TOLERANCE = 1e-6  # from a whole number: what rounding leaves
# Where a metric's own title is too long to stay in sight, or says no unit.
METRIC_TITLES = {"nll": "NLL, nats", "gain": "Gain, images", "member_accuracy": "Mean member"}
# Why a column is not held against the baseline.
_NO_DIFFERENCE_REASONS = {
    "baseline": "baseline",
    "no baseline": "–",
    "other images": "other images",
    "no predictions": "no predictions",
    "": "–",
}

# What an interval holds for, by what it is over.
_INTERVAL_SCOPES = {
    "images": "of one run for other test images",
    "seeds and images": "of several for other seeds and test images",
    "seeds": "of their ECE, time and speed for other seeds",
}


def tabulate_comparison(table: ComparisonTable, differ: bool) -> pd.DataFrame:
    """Return one row per setting or metric and one column per group, all as text.

    Args:
      differ: whether to leave out settings that are the same in all groups; they come last.
    """
    rows = {"Runs": [f"{len(column.group.runs):,}" for column in table.columns]}
    rows |= _format_setting_rows(table, True)
    for metric in COMPARISON_METRICS:
        texts = [
            _format_metric_with_interval(metric, column.metrics[metric.name], column.group.runs[0].data.test_size)
            for column in table.columns
        ]
        if any(text != "–" for text in texts):
            rows[METRIC_TITLES.get(metric.name, metric.title)] = texts
    if table.baseline and len(table.columns) > 1:
        rows |= {
            label: [_format_baseline_cell(column, say) for column in table.columns]
            for label, say in _DIFFERENCE_ROWS.items()
        }
    if not differ:
        rows |= _format_setting_rows(table, False)
    titles = [column.group.title for column in table.columns]
    return pd.DataFrame.from_dict(rows, orient="index", columns=titles).reset_index(names=NAME_COLUMN)


def _format_setting_rows(table: ComparisonTable, differ: bool) -> dict[str, list[str]]:
    """The settings that differ, or those that do not; none that nobody has set."""
    return {
        setting.label.capitalize(): [text or "–" for text in setting.texts]
        for setting in table.settings
        if setting.differs == differ and any(setting.texts)
    }


def _format_metric_with_interval(metric: Metric, figure: MetricEstimate, n: int) -> str:
    """A figure and its 95 % interval: "97.8 % (96.9 to 98.5)"."""
    if figure.value is None:
        return "–"
    value_text = _format_metric(metric.unit, figure.value, n)
    if figure.low is None or figure.high is None:
        return value_text
    low, high = (_format_interval_end(metric.unit, end, n) for end in (figure.low, figure.high))
    return f"{value_text} ({low} to {high})"


def _format_metric(unit: str, value: float, n: int) -> str:
    if unit == "share":
        return formats.format_percent(value, n)
    if unit == "images":
        return format_signed(value, 1)
    if unit == "s":
        return formats.format_duration(value)
    return formats.format_throughput(value) if unit == "img·member/s" else formats.format_significant(value)


def _format_interval_end(unit: str, value: float, n: int) -> str:
    if unit == "img·member/s":
        return formats.format_significant(value, 2)
    return _format_metric(unit, value, n).removesuffix(" %")


def _format_baseline_cell(column: GroupColumn, says: Callable[[GroupDifference], str]) -> str:
    return (
        says(column.difference)
        if column.difference
        else _NO_DIFFERENCE_REASONS.get(column.no_difference_reason, column.no_difference_reason)
    )


def _format_difference_interval(mean: float, low: float, high: float, decimals: int | None) -> str:
    """A difference with its ends: "+18 (+5 to +31)"."""
    value, first, last = (
        format_signed(end, decimals) if decimals is not None else format_signed(end)
        for end in (mean, *sorted((low, high)))
    )
    return f"{value} ({first} to {last})"


def _count_fraction_decimals(*counts: float) -> int:
    """Decimals of counts of images: of single runs they are whole, of means over runs not."""
    return int(any(abs(count - round(count)) > _ROUNDING_TOLERANCE for count in counts))


def _format_difference_verdict(settings_sign: int, runs_sign: int, better: str, worse: str) -> str:
    """What is shown: better, worse, or that nothing is; of the settings, else of these runs.

    Args:
      settings_sign: 1 or −1 where it holds for runs of other seeds too, else 0.
      runs_sign: 1 or −1 where it holds for the runs that are compared, else 0.
      better: what is better, "more right".
      worse: what is worse, "fewer right".
    """
    if settings_sign:
        return f"better: {better}" if settings_sign > 0 else f"worse: {worse}"
    return f"in these runs {better if runs_sign > 0 else worse}" if runs_sign else "not shown"


def _format_p_value_cell(p: float) -> str:
    """A p for a row of its own: "0.004"."""
    text = format_p_value(p).replace("\N{NO-BREAK SPACE}", " ")
    return text.removeprefix("p ").removeprefix("= ")


_DIFFERENCE_ROWS: dict[str, Callable[[GroupDifference], str]] = {
    "Accuracy, verdict": lambda d: _format_difference_verdict(
        d.settings_accuracy_sign, d.accuracy_sign, "more right", "fewer right"
    ),
    "More right, images": lambda d: _format_difference_interval(
        d.digits, d.digits_low, d.digits_high, _count_fraction_decimals(d.won, d.lost)
    ),
    "Won and lost, images": lambda d: (
        f"{d.won:,.{_count_fraction_decimals(d.won, d.lost)}f} won, "
        f"{d.lost:,.{_count_fraction_decimals(d.won, d.lost)}f} lost"
    ),
    "p of accuracy, adjusted": lambda d: _format_p_value_cell(d.adjusted_p),
    "NLL, verdict": lambda d: _format_difference_verdict(d.settings_nll_sign, d.nll_sign, "lower", "higher"),
    "Change of NLL, nats": lambda d: _format_difference_interval(-d.nll, -d.nll_high, -d.nll_low, None),
    "p of NLL, adjusted": lambda d: _format_p_value_cell(d.adjusted_nll_p),
}


def describe_table_basis(table: ComparisonTable) -> str:
    over = {column.difference.over for column in table.columns if column.difference}
    over |= {figure.over for column in table.columns for figure in column.metrics.values()}
    sentences = [table.note]
    if over - {""}:
        parts = "; ".join(words for name, words in _INTERVAL_SCOPES.items() if name in over)
        sentences.append(f"Intervals are 95 %, each of one figure alone: {parts}.")
    sentences.append(describe_compared_digits_caution(table.datasets))
    if table.tests:
        sentences.append(
            f"Every p is adjusted for all {table.tests} tests, accuracy and NLL of all pairs (Holm): the chance "
            "of any wrong claim is at most 5 %. “Not shown” does not mean equal."
        )
    return " ".join(filter(None, sentences))


def tabulate_comparison_values(table: ComparisonTable) -> pd.DataFrame:
    """The same for a program: a row a group and figure, with value, ends and what they hold for."""
    rows: list[dict[str, Any]] = []
    for column in table.columns:
        place = {"group": column.group.title, "runs": " ".join(run.id for run in column.group.runs)}
        for setting, texts in ((setting, setting.texts) for setting in table.settings):
            text = texts[table.columns.index(column)]
            rows.append({**place, "kind": "setting", "name": setting.name, "text": text})
        for name, figure in column.metrics.items():
            rows.append(
                {
                    **place,
                    "kind": "figure",
                    "name": name,
                    "value": figure.value,
                    "low": figure.low,
                    "high": figure.high,
                    "over": figure.over,
                }
            )
        if d := column.difference:
            rows += [
                {
                    **place,
                    "kind": "difference",
                    "name": "digits",
                    "value": d.digits,
                    "low": d.digits_low,
                    "high": d.digits_high,
                    "over": d.over,
                    "p": d.adjusted_p,
                    "settings_p": d.adjusted_settings_p,
                },
                {
                    **place,
                    "kind": "difference",
                    "name": "nll",
                    "value": -d.nll,
                    "low": -d.nll_high,
                    "high": -d.nll_low,
                    "over": d.over,
                    "p": d.adjusted_nll_p,
                    "settings_p": d.adjusted_settings_nll_p,
                },
                {**place, "kind": "difference", "name": "won", "value": d.won},
                {**place, "kind": "difference", "name": "lost", "value": d.lost},
            ]
    return pd.DataFrame(rows)
