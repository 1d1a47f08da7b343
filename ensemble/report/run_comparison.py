"""Several runs beside each other: the table, the curves, and each of them in short."""

from collections.abc import Iterator, Sequence

from ensemble import runs
from ensemble.comparison.comparison_table import ComparisonTable, build_comparison_table
from ensemble.comparison.group_curves import compute_group_curves
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.comparison.run_member_map import build_run_member_map
from ensemble.figures.comparison import curves as drawn
from ensemble.figures.comparison.curves import (
    METRIC_TITLES,
    VERDICT_METRICS,
    describe_group_curves_chart,
    explain_group_curves_chart,
)
from ensemble.report import single_run
from ensemble.report.report_content import ReportContent
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Figure, Figures, Section
from ensemble.views.side_by_side import run_members_view, side_by_side_view
from ensemble.wording import formats
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict

_ENSEMBLE_EXPLANATION = (
    "Each run is a deep ensemble: networks that answer as one, by the average of their probabilities."
)


def build_comparison_content(every: Sequence[runs.Run]) -> ReportContent:
    groups = group_runs(every)
    about = ", ".join(dict.fromkeys(run.data.title for run in every))
    title = f"{formats.format_count(len(every), 'run')} compared"
    each = [section for run in every for section in single_run.iterate_short_sections(run)]
    return ReportContent(title, "", about, _ENSEMBLE_EXPLANATION, [*_iterate_comparison_sections(groups, every), *each])


def _iterate_comparison_sections(groups: Sequence[RunGroup], every: Sequence[runs.Run]) -> Iterator[Section]:
    """The table with its warnings, and the curves."""
    comparison_table = build_comparison_table(groups)
    yield Section("Side by side", list(iterate_parts(side_by_side_view(comparison_table))))
    pictures = [figure for what in METRIC_TITLES for figure in _iterate_curve_figures(groups, comparison_table, what)]
    if pictures:
        yield Section("Learning curves", [Figures.several("Figure", pictures)], page_break=True)
    members = build_run_member_map(every)
    if len(members.runs) > 1:
        parts = list(iterate_parts(run_members_view(members)))
        yield Section("Where members stand", parts, page_break=True)


def _iterate_curve_figures(groups: Sequence[RunGroup], table: ComparisonTable, what: str) -> Iterator[Figure]:
    """The ensembles' curves on the test images, a colour a group; none where nothing has begun."""
    curves_by_split = [("test", compute_group_curves(groups, figure=what))]
    if not any(curves.lines for curves in curves_by_split[0][1]):
        return
    title = f"{METRIC_TITLES[what]} of the ensemble · {formats.format_count(len(groups), 'group')}"
    verdict = table.verdicts.get(VERDICT_METRICS[what])
    answer = describe_settings_verdict(verdict) if verdict else ""
    explanation = f"{answer} {explain_group_curves_chart(curves_by_split, 'range', 'ensemble')}".lstrip()
    yield Figure(
        METRIC_TITLES[what],
        describe_group_curves_chart(curves_by_split, what, "ensemble", "epochs"),
        explanation,
        lambda palette: drawn.plot_group_curves(curves_by_split, what=what, x="epochs", title=title, palette=palette),
    )
