"""Runs held against each other in lines of text, as a terminal shows them."""

from collections.abc import Callable, Sequence

from ensemble.comparison.differences import Difference
from ensemble.comparison.metrics import Figure
from ensemble.comparison.table import Column, Table
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts.inspect import p_value, signed

WHY = {
    "other images": "tested on other images: no difference to the baseline can be told",
    "no predictions": "no predictions to compare",
}


def lines(found: Table, noun: str) -> list[str]:
    """The table, a group a line; what each is better by than the baseline; what it all rests on.

    Args:
      found: the groups.
      noun: what a test image is called.
    """
    head = ["group", "runs", "accuracy", "NLL", "ECE", f"gain, {plural(noun)}", "time"]
    said = columns([head, *(cells(column) for column in found.columns)])
    base = next((one for one in found.columns if one.group.key == found.baseline), None)
    if base:
        said += ["", f"Against “{base.group.title}”:"]
        width = max(len(one.group.title) for one in found.columns)
        said += [
            f"  {one.group.title:<{width}}  {against(one, noun)}"
            for one in found.columns
            if one is not base
        ]
    return [*said, "", *filter(None, [found.note, basis(found)])]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells under each other, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cells(column: Column) -> list[str]:
    """A group's line."""
    figures, n = column.figures, column.group.runs[0].data.test_size
    places = formats.decimals(n)
    return [
        column.group.title,
        f"{len(column.counted):,}",
        with_ends(figures["accuracy"], lambda share: f"{100 * share:.{places}f}", " %"),
        with_ends(figures["nll"], formats.significant),
        formats.significant(figures["ece"].value),
        with_ends(figures["gain"], lambda gain: signed(gain, 0)),
        formats.duration(figures["seconds"].value),
    ]


def with_ends(figure: Figure, write: Callable[[float], str], unit: str = "") -> str:
    """A figure with its interval: "97.1 % (95.2 to 98.3)"; what is not known is a dash."""
    if figure.value is None:
        return "–"
    said = f"{write(figure.value)}{unit}"
    if figure.low is None or figure.high is None:
        return said
    return f"{said} ({write(figure.low)} to {write(figure.high)})"


def against(column: Column, noun: str) -> str:
    """What a group is better by than the baseline, in a line."""
    found = column.difference
    if found is None:
        return WHY.get(column.why, column.why)
    ends = f"{signed(found.digits_low, 0)} to {signed(found.digits_high, 0)}"
    nll = f"{signed(-found.nll_high)} to {signed(-found.nll_low)}"
    return (
        f"{formats.digits(found.digits, noun)} ({ends}; {found.won:,.{places(found)}f} won, "
        f"{found.lost:,.{places(found)}f} lost), {p_value(found.adjusted)}; NLL "
        f"{signed(-found.nll)} ({nll}), {p_value(found.nll_adjusted)}: {verdict(found)}"
    )


def places(found: Difference) -> int:
    """Decimals of won and lost: a mean over pairs of runs may be a fraction."""
    return int(found.won % 1 > 0 or found.lost % 1 > 0)


def verdict(found: Difference) -> str:
    """What is shown of accuracy and NLL: "more right", "higher NLL", "no difference shown"."""
    accuracy = {1: "more right", -1: "fewer right", 0: ""}[found.in_digits]
    nll = {1: "lower NLL", -1: "higher NLL", 0: ""}[found.in_nll]
    return ", ".join(filter(None, [accuracy, nll])) or "no difference shown"


def basis(found: Table) -> str:
    """What the intervals hold for, and for how many tests the p are adjusted."""
    counts = [len(column.counted) for column in found.columns if column.counted]
    many = "are for other seeds on new images"
    if max(counts, default=0) < 2:
        many = "are for these trained runs on new images: another seed may differ"
    elif min(counts) < 2:
        many += "; the figures of one run alone are for that trained run on new images"
    said = f"95 % intervals {many}."
    if found.tests:
        said += (
            f" Each p is adjusted for all {found.tests} tests (Holm); “no difference shown” does "
            "not mean equal."
        )
    return said
