"""Runs side by side: a column a group, a row a setting or metric, and what the baseline says."""

from ensemble.comparison.table import Table as ComparisonTable
from ensemble.figures.comparison import rows
from ensemble.views.parts import Paragraph, Table, View

PINNED_WIDTH = 160  # pixels of the column with the names of settings and metrics


def compare_side_by_side(comparison: ComparisonTable, *, only_differing: bool = True) -> View:
    """Yield the verdict against the baseline, warnings, the table, and what it holds for.

    Args:
      comparison: the groups, their metrics with intervals, their differences to the baseline.
      only_differing: whether settings that are the same in all groups are left out.
    """
    if answer := rows.headline(comparison):
        yield Paragraph(answer, "answer")
        yield Paragraph(f"The baseline is {baseline_title(comparison)}.", "evidence")
    for warning in comparison.warnings:
        yield Paragraph(warning, "warning")
    yield Table(
        "Settings and figures",
        rows.frame(comparison, only_differing).rename(columns={rows.FIRST: ""}),
        key="compare_table",
        from_outside=True,
        pinned=PINNED_WIDTH,
        numbers=lambda: rows.numbers(comparison),
        file="compared",
    )
    yield Paragraph(rows.notes(comparison), "note")


def baseline_title(comparison: ComparisonTable) -> str:
    """The title of the group that the others are held against."""
    return next(
        column.group.title
        for column in comparison.columns
        if column.group.key == comparison.baseline
    )
