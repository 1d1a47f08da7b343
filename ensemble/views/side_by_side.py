"""Runs side by side: a column a group, a row a setting or metric, and what the baseline says."""

from ensemble.comparison.comparison_table import ComparisonTable as ComparisonTable
from ensemble.figures.comparison import comparison_table
from ensemble.views.parts import Paragraph, Table, View

PINNED_WIDTH = 160  # pixels of the column with the names of settings and metrics


def side_by_side_view(comparison: ComparisonTable, *, only_differing: bool = True) -> View:
    """Yield the verdict against the baseline, warnings, the table, and what it holds for.

    Args:
      comparison: the groups, their metrics with intervals, their differences to the baseline.
      only_differing: whether settings that are the same in all groups are left out.
    """
    if answer := comparison_table.describe_baseline_comparison(comparison):
        yield Paragraph(answer, "answer")
        yield Paragraph(f"The baseline is {find_baseline_title(comparison)}.", "evidence")
        if limit := comparison_table.describe_seed_limit(comparison):
            yield Paragraph(limit, "evidence")
    for warning in comparison.warnings:
        yield Paragraph(warning, "warning")
    yield Table(
        "Settings and figures",
        comparison_table.tabulate_comparison(comparison, only_differing).rename(
            columns={comparison_table.NAME_COLUMN: ""}
        ),
        key="compare_table",
        from_outside=True,
        pinned_width=PINNED_WIDTH,
        numbers=lambda: comparison_table.tabulate_comparison_values(comparison),
        file="compared",
    )
    yield Paragraph(comparison_table.describe_table_basis(comparison), "note")


def find_baseline_title(comparison: ComparisonTable) -> str:
    """The title of the group that the others are held against."""
    return next(
        column.group.title
        for column in comparison.columns
        if column.group.key == comparison.baseline
    )
