"""Runs side by side: a column a group, a row a setting or metric; their members on one map."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.comparison.comparison_table import ComparisonTable as ComparisonTable
from ensemble.comparison.run_member_map import RunMemberMap
from ensemble.figures import chart_style
from ensemble.figures.comparison import comparison_table
from ensemble.figures.comparison.colors import assign_group_colors
from ensemble.figures.palette import Palette
from ensemble.views.examples.member_map import hide_map_axes
from ensemble.views.examples.member_pair import choose_pressed_pair, format_pair_word, parse_pair_word
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.wording import escaping, formats
from ensemble.wording.formats import format_percent, pluralize_noun
from ensemble.wording.member_map import Pair, describe_stress, format_images, format_stress
from ensemble.wording.run_names import format_unique_run_name
from ensemble.wording.verdicts.comparison_text import describe_comparison

if TYPE_CHECKING:
    import plotly.graph_objects as go


_MAX_LISTED_REASONS = 5
DIFFERING_TITLE = "What two members answer differently"


def describe_run_members(found: RunMemberMap) -> str:
    if not found.runs:
        return "None of these runs has predictions that can be read: there is no map."
    if len(found.runs) == 1:
        return "No two of these runs were tested on the same images: there is no map of several."
    images = pluralize_noun(found.noun)
    assert found.between is not None
    between = format_percent(found.between, found.n)
    if found.within is None or found.difference is None:
        return f"Two runs differ on {between} of the {images} on average."
    within = format_percent(found.within, found.n)
    low, high = found.difference
    if low <= 0 <= high:
        return (
            f"Runs are not shown to stand apart: members of two differ on {between} of the "
            f"{images}, of one on {within}."
        )
    return f"Members of two runs differ on {between} of the {images}, of one on {within}."


def list_run_member_evidence(found: RunMemberMap) -> list[str]:
    images = pluralize_noun(found.noun)
    lines = [describe_stress(found.scaling)]
    if found.difference is not None and found.between is not None and found.within is not None:
        places = formats.count_percent_decimals(found.n)
        apart, low, high = (100 * value for value in (found.between - found.within, *found.difference))
        lines.append(
            f"The difference is {apart:+.{places}f} points "
            f"({low:.{places}f} to {high:.{places}f}) of disagreement.".replace("-", "−")
        )
    lines.append(
        f"On {formats.format_count(found.n, f'test {found.noun}')}, of these members; intervals are for other {images}."
    )
    return [line.replace("+0.00 points", "0.00 points") for line in lines]


def describe_left_out_runs(found: RunMemberMap) -> str:
    """Which runs are not on the map, and why; "" where all are."""
    if not found.left_out:
        return ""
    listed = " ".join(
        f"{format_unique_run_name(run)}: {why}"
        if why
        else f"{format_unique_run_name(run)} was tested on other images than {format_unique_run_name(found.runs[0])}."
        for run, why in found.left_out[:_MAX_LISTED_REASONS]
    )
    more = len(found.left_out) - _MAX_LISTED_REASONS
    rest = f" And {formats.format_count(more, 'run')} more." if more > 0 else ""
    return f"Not on the map: {listed}{rest}"


def explain_run_map(found: RunMemberMap) -> str:
    text = (
        "The nearer two points, the more alike what two members answer "
        f"(stress {format_stress(found.scaling)}). A colour is a run."
    )
    if found.thinned:
        text += " Of runs with many members the first are shown."
    return text


def _describe_run_map_alt(found: RunMemberMap) -> str:
    return (
        f"{formats.format_count(len(found.owner), 'member')} "
        f"of {formats.format_count(len(found.runs), 'run')} as points, the nearer the more alike their answers"
    )


def _describe_run_point(found: RunMemberMap, place: int) -> list[str]:
    run = int(found.owner[place])
    accuracy = format_percent(float(found.accuracy[place]), found.n)
    lines = [
        format_unique_run_name(found.runs[run]),
        f"Member {int(found.members[place]) + 1}, epoch {found.epochs[run]}: {accuracy} right",
    ]
    apart = found.disagreement[place]
    for what, chosen in (
        ("members of its run", (found.owner == run) & (np.arange(len(apart)) != place)),
        ("members of other runs", found.owner != run),
    ):
        if chosen.any():
            mean = format_images(float(apart[chosen].mean()), found.n, found.noun)
            lines.append(f"differs from {what} on {mean} on average")
    return lines


def tabulate_run_members(found: RunMemberMap) -> pd.DataFrame:
    """A row a run: how far its members are apart, and how far from those of other runs."""
    apart = average_run_disagreement(found)
    rows = []
    for place, run in enumerate(found.runs):
        own = float(apart[place, place])
        others = np.where(np.arange(len(found.runs)) == place, np.nan, apart[place])
        near = int(np.nanargmin(others))
        row = {
            "run": format_unique_run_name(run),
            "members": f"{int((found.owner == place).sum())}",
            "epoch": f"{found.epochs[place]}",
            "apart from each other": format_percent(None if np.isnan(own) else own, found.n),
            "from other runs": format_percent(float(np.nanmean(others)), found.n),
        }
        if len(found.runs) > 2:
            name, share = format_unique_run_name(found.runs[near]), float(others[near])
            row["nearest run"] = f"{name} · {format_percent(share, found.n)}"
        rows.append(row)
    return pd.DataFrame(rows)


def average_run_disagreement(found: RunMemberMap) -> "np.ndarray":
    """(R, R), the mean disagreement of members of two runs; of one run's own pairs on the diagonal.

    NaN of a run with one member.
    """
    inside = (found.owner == np.arange(len(found.runs))[:, None]).astype(float)
    sizes = inside.sum(axis=1)
    sums = inside @ found.disagreement @ inside.T
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    return np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)


def _format_run_member(found: RunMemberMap, place: int) -> str:
    """A member by its run: "member 2 of 4 members · rate 0.1"."""
    run = found.runs[int(found.owner[place])]
    return f"member {int(found.members[place]) + 1} of {format_unique_run_name(run)}"


def _format_run_pair(found: RunMemberMap, pair: Pair) -> str:
    return " and ".join(_format_run_member(found, place) for place in sorted(pair))


def describe_run_pair(found: RunMemberMap, pair: Pair) -> str:
    first, second = sorted(pair)
    differ = found.votes[first] != found.votes[second]
    right = [int((differ & (found.votes[place] == found.labels)).sum()) for place in (first, second)]
    count = int(differ.sum())
    begin = f"{_format_run_pair(found, pair)} answer "
    begin = begin[0].upper() + begin[1:]
    if not count:
        return f"{begin}every {found.noun} alike."
    return (
        f"{begin}{formats.format_count(count, found.noun)} differently: {right[0]:,} the first has "
        f"right, {right[1]:,} the second, {count - sum(right):,} neither."
    )


HEIGHT = 480
ROW_HEIGHT_PX = 22  # of the legend, a row a run
_MAX_LEGEND_RUNS = 10  # of more, the pointer says which is which
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")


def plot_run_members(found: RunMemberMap, title: str, palette: Palette) -> "go.Figure":
    """Every member where it stands.

    Args:
      found: the map; of at least two runs.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    colors = assign_group_colors(len(found.runs))
    chart = go.Figure()
    for place, run in enumerate(found.runs):
        own = np.flatnonzero(found.owner == place)
        chart.add_scatter(
            x=found.scaling.points[own, 0],
            y=found.scaling.points[own, 1],
            mode="markers",
            name=escaping.escape_plotly_text(format_unique_run_name(run)),
            marker={
                "size": 11,
                "symbol": SYMBOLS[place % len(SYMBOLS)],
                "color": colors[place],
                "line": {"color": palette.ground, "width": 1},
            },
            hovertext=[
                "<br>".join(map(escaping.escape_plotly_text, _describe_run_point(found, int(number)))) for number in own
            ],
            hoverinfo="text",
            customdata=own[:, None].tolist(),  # as an array it comes back as none
            cliponaxis=False,
        )
    few = len(found.runs) <= _MAX_LEGEND_RUNS
    legend_height = ROW_HEIGHT_PX * len(found.runs) if few else 0
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT + legend_height, palette, showlegend=few))
    hide_map_axes(chart)
    chart.update_layout(legend_orientation="v", margin_b=16 + legend_height)
    return chart


def tabulate_run_map(found: RunMemberMap) -> pd.DataFrame:
    """A row a member: its run, its number, where it is drawn, its accuracy."""
    return pd.DataFrame(
        {
            "run": [found.runs[place].id for place in found.owner],
            "member": found.members + 1,
            "epoch": [found.epochs[place] for place in found.owner],
            "x": found.scaling.points[: len(found.owner), 0],
            "y": found.scaling.points[: len(found.owner), 1],
            "accuracy": found.accuracy,
        }
    )


_PINNED_WIDTH = 160  # pixels of the column with the names of settings and metrics


def side_by_side_view(comparison: ComparisonTable, *, only_differing: bool = True) -> View:
    answer, evidence = describe_comparison(comparison)
    if answer:
        yield Paragraph(answer, "answer")
    for sentence in evidence:
        yield Paragraph(sentence, "evidence")
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


def run_members_view(found: RunMemberMap, pair: Pair | None = None) -> View:
    """Yield whether runs stand apart, what it rests on, the map of their members, a row a run.

    Args:
      pair: the two members, by their places on the map, that were chosen last: a press on a point
        then chooses it and the later one of them.
    """
    left_out = describe_left_out_runs(found)
    if len(found.runs) < 2:
        yield Paragraph(describe_run_members(found), "unavailable")
        if left_out:
            yield Paragraph(left_out, "note")
        return
    yield Paragraph(describe_run_members(found), "answer")
    for line in list_run_member_evidence(found):
        yield Paragraph(line, "evidence")
    if left_out:
        yield Paragraph(left_out, "warning")
    title = f"Where members stand · {formats.format_count(len(found.runs), 'run')}"
    yield Figures.single(
        Figure(
            label="",
            alt=_describe_run_map_alt(found),
            explanation=explain_run_map(found),
            draw=lambda palette: plot_run_members(found, title, palette),
            key="compare_members",
            file="compared-members",
            title="Where members stand",
            table=lambda: tabulate_run_map(found),
            of_epoch=False,
            point_choice=offer_run_pairs(found) if pair else None,
            format_point_word=(
                (lambda data: format_pair_word(choose_pressed_pair(pair, int(data[0])))) if pair else None
            ),
        )
    )
    yield Table(
        "How far runs stand apart",
        tabulate_run_members(found),
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
        {format_pair_word(default): _format_run_pair(found, default)},
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
