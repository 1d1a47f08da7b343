"""Runs side by side: a column a group, a row a setting or metric; their members on one map."""

import numpy as np

from ensemble.comparison.comparison_table import ComparisonTable as ComparisonTable
from ensemble.comparison.run_member_map import RunMemberMap
from ensemble.figures.comparison import comparison_table
from ensemble.figures.comparison import run_members as map_figures
from ensemble.views.examples.member_pair import choose_pressed_pair, format_pair_word, parse_pair_word
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording import run_members as map_words
from ensemble.wording.member_map import Pair

_PINNED_WIDTH = 160  # pixels of the column with the names of settings and metrics


def side_by_side_view(comparison: ComparisonTable, *, only_differing: bool = True) -> View:
    if answer := comparison_table.describe_baseline_comparison(comparison):
        yield Paragraph(answer, "answer")
        yield Paragraph(f"The baseline is {_find_baseline_title(comparison)}.", "evidence")
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
        pinned_width=_PINNED_WIDTH,
        numbers=lambda: comparison_table.tabulate_comparison_values(comparison),
        file="compared",
    )
    yield Paragraph(comparison_table.describe_table_basis(comparison), "note")


def _find_baseline_title(comparison: ComparisonTable) -> str:
    return next(column.group.title for column in comparison.columns if column.group.key == comparison.baseline)


def run_members_view(found: RunMemberMap, pair: Pair | None = None) -> View:
    """Yield whether runs stand apart, what it rests on, the map of their members, a row a run.

    Args:
      pair: the two members, by their places on the map, that were chosen last: a press on a point
        then chooses it and the later one of them.
    """
    left_out = map_words.describe_left_out_runs(found)
    if len(found.runs) < 2:
        yield Paragraph(map_words.describe_run_members(found), "unavailable")
        if left_out:
            yield Paragraph(left_out, "note")
        return
    yield Paragraph(map_words.describe_run_members(found), "answer")
    for line in map_words.list_run_member_evidence(found):
        yield Paragraph(line, "evidence")
    if left_out:
        yield Paragraph(left_out, "warning")
    title = f"Where members stand · {formats.format_count(len(found.runs), 'run')}"
    yield Figures.single(
        Figure(
            label="",
            alt=map_words.describe_run_map_alt(found),
            explanation=map_words.explain_run_map(found),
            draw=lambda palette: map_figures.plot_run_members(found, title, palette),
            key="compare_members",
            file="compared-members",
            title="Where members stand",
            table=lambda: map_figures.tabulate_run_map(found),
            of_epoch=False,
            point_choice=offer_run_pairs(found) if pair else None,
            format_point_word=(
                (lambda data: format_pair_word(choose_pressed_pair(pair, int(data[0])))) if pair else None
            ),
        )
    )
    yield Table(
        "How far runs stand apart",
        map_words.tabulate_run_members(found),
        folded=True,
        note="Shares of images that members answer differently, mean over pairs of members.",
        key="compare_members_table",
        from_outside=True,
    )


def offer_run_pairs(found: RunMemberMap) -> Choice:
    """The pairs of members to choose from: the farthest of two runs, and any by its word."""
    default = _select_farthest_run_pair(found)
    return Choice(
        "pair",
        "Two members",
        {format_pair_word(default): map_words.format_run_pair(found, default)},
        format_pair_word(default),
        accepts=lambda word: parse_pair_word(word, len(found.owner)) is not None,
    )


def _select_farthest_run_pair(found: RunMemberMap) -> Pair:
    """The two members of different runs that differ most, by their places; of equals the first."""
    across = np.where(found.owner[:, None] < found.owner, found.disagreement, -1.0)
    first, second = np.unravel_index(int(across.argmax()), across.shape)
    return Pair(int(first), int(second))


def read_run_pair(found: RunMemberMap, word: str) -> Pair:
    """The pair of a word of `offer_run_pairs`."""
    return parse_pair_word(word, len(found.owner)) or _select_farthest_run_pair(found)
