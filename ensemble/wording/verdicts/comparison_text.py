"""Runs held against each other in lines of text, as a terminal shows them."""

from collections.abc import Callable, Sequence

from ensemble.comparison.comparison_table import ComparisonTable, GroupColumn
from ensemble.comparison.differences import GroupDifference
from ensemble.comparison.group_metrics import MetricEstimate
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import describe_compared_digits_caution, format_p_value, format_signed
from ensemble.wording.verdicts.settings_verdict import (
    describe_baseline,
    describe_settings_verdict,
    list_settings_evidence,
)

_NO_DIFFERENCE_REASONS = {
    "other images": "tested on other images: no difference to the baseline can be told",
    "no predictions": "no predictions to compare",
}


def describe_comparison(table: ComparisonTable) -> tuple[str, list[str]]:
    """Return the answer of the verdict by NLL, and its evidence with the answer by accuracy; "" and [] without one."""
    if (verdict := table.verdicts.get("nll")) is None:
        return "", []
    groups = [column.group for column in table.columns]
    so_far = any(run.active for group in groups for run in group.runs)
    evidence = list_settings_evidence(verdict, groups[0].runs[0].data.noun)
    if verdict.is_about_settings:
        evidence.append(describe_settings_verdict(table.verdicts["accuracy"]))
    return describe_settings_verdict(verdict, so_far=so_far), [*evidence, *filter(None, [describe_baseline(verdict)])]


def format_comparison_lines(table: ComparisonTable, noun: str) -> list[str]:
    """The table, a group a line; what each is better by than the baseline; what it all rests on."""
    answer, evidence = describe_comparison(table)
    head = ["group", "runs", "accuracy", "NLL", "ECE", f"gain, {pluralize_noun(noun)}", "time"]
    lines = [*filter(None, [answer]), *evidence, *[""] * bool(answer)]
    lines += _align_columns([head, *(_format_comparison_cells(column) for column in table.columns)])
    base = next((column for column in table.columns if column.group.key == table.baseline), None)
    if base:
        lines += ["", f"Against “{base.group.title}”:"]
        width = max(len(column.group.title) for column in table.columns)
        lines += [
            f"  {column.group.title:<{width}}  {_describe_baseline_gain(column, noun)}"
            for column in table.columns
            if column is not base
        ]
    return [*lines, "", *filter(None, [table.note, describe_comparison_basis(table)])]


def _align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _format_comparison_cells(column: GroupColumn) -> list[str]:
    figures, n = column.metrics, column.group.runs[0].data.test_size
    places = formats.count_percent_decimals(n)
    return [
        column.group.title,
        f"{len(column.run_ids):,}",
        _format_with_interval(figures["accuracy"], lambda share: f"{100 * share:.{places}f}", " %"),
        _format_with_interval(figures["nll"], formats.format_significant),
        formats.format_significant(figures["ece"].value),
        _format_with_interval(figures["gain"], lambda gain: format_signed(gain, 0)),
        formats.format_duration(figures["seconds"].value),
    ]


def _format_with_interval(figure: MetricEstimate, write: Callable[[float], str], unit: str = "") -> str:
    """A figure with its interval: "97.1 % (95.2 to 98.3)"; what is not known is a dash."""
    if figure.value is None:
        return "–"
    text = f"{write(figure.value)}{unit}"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} ({write(figure.low)} to {write(figure.high)})"


def _describe_baseline_gain(column: GroupColumn, noun: str) -> str:
    difference = column.difference
    if difference is None:
        return _NO_DIFFERENCE_REASONS.get(column.no_difference_reason, column.no_difference_reason)
    ends = f"{format_signed(difference.digits_low, 0)} to {format_signed(difference.digits_high, 0)}"
    nll = f"{format_signed(-difference.nll_high)} to {format_signed(-difference.nll_low)}"
    return (
        f"{formats.format_image_difference(difference.digits, noun)} ({ends}; "
        f"{difference.won:,.{_count_mean_decimals(difference)}f} right only here, "
        f"{difference.lost:,.{_count_mean_decimals(difference)}f} only there), "
        f"{format_p_value(difference.adjusted_p)}; NLL {format_signed(-difference.nll)} ({nll}), "
        f"{format_p_value(difference.adjusted_nll_p)}: "
        f"{format_shown_differences(difference)}"
    )


def _count_mean_decimals(difference: GroupDifference) -> int:
    """Decimals of won and lost: a mean over pairs of runs may be a fraction."""
    return int(difference.won % 1 > 0 or difference.lost % 1 > 0)


def format_shown_differences(difference: GroupDifference) -> str:
    """What is shown of accuracy and NLL: "more right", "in these runs higher NLL".

    What is shown of these runs alone, as their seeds may be the reason, says so.
    """
    settings = _name_differences(difference.settings_accuracy_sign, difference.settings_nll_sign)
    in_runs = _name_differences(
        difference.accuracy_sign * (not difference.settings_accuracy_sign),
        difference.nll_sign * (not difference.settings_nll_sign),
    )
    parts = [settings, f"in these runs {in_runs}" if in_runs else ""]
    return "; ".join(filter(None, parts)) or "no difference shown"


def _name_differences(accuracy_sign: int, nll_sign: int) -> str:
    accuracy = {1: "more right", -1: "fewer right", 0: ""}[accuracy_sign]
    nll = {1: "lower NLL", -1: "higher NLL", 0: ""}[nll_sign]
    return ", ".join(filter(None, [accuracy, nll]))


def describe_comparison_basis(table: ComparisonTable) -> str:
    counts = [len(column.run_ids) for column in table.columns if column.run_ids]
    many = "hold for other seeds and new images"
    if max(counts, default=0) < 2:
        many = "hold for these trained runs on new images: another seed may differ"
    elif min(counts) < 2:
        many += "; those of a single run hold for that trained run on new images"
    digits = describe_compared_digits_caution(table.datasets)
    text = " ".join(filter(None, [f"95 % intervals {many}.", digits]))
    if table.tests:
        text += (
            f" Each p is adjusted for all {table.tests} tests, accuracy and NLL of all pairs (Holm); “no "
            "difference shown” does not mean equal."
        )
    return text
