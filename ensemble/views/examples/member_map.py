"""Where members stand: a map of their answers, their way there, and diversity against accuracy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.positions.diversity_plane import (
    PairDiversity,
    compare_pair_diversity,
    limit_independent,
    limit_perturbed,
    normalize_disagreement,
)
from ensemble.analysis.positions.member_groups import MemberGroups, find_member_groups
from ensemble.analysis.positions.member_map import MemberMap
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS, EnsemblePredictions
from ensemble.figures import chart_style
from ensemble.figures.palette import ENSEMBLE_WIDTH, MEMBER_HUES, MUTED_COLOR, Palette, member_color, member_opacity
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.member_pair import (
    choose_pressed_pair,
    format_pair_word,
    list_differing_images,
    offer_pairs,
    parse_pair_word,
    select_farthest_pair,
)
from ensemble.views.member_faults import repeat_member_faults
from ensemble.views.parts import Choice, Columns, DeferredChoice, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import member_map as words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.member_map import Pair

if TYPE_CHECKING:
    import plotly.graph_objects as go


HEIGHT = 480
_MAX_NUMBERED_MEMBERS = 10  # members whose numbers stand at their points
_END_SIZE, _PATH_SIZE, _SNAPSHOT_SIZE = 13, 5, 9
_LIMIT_POINTS = 101
_LIMIT_NAMES = ("independent answers", "random changes")


def _plot_member_map(
    found: MemberMap, figure: str, pair: Pair, n: int, noun: str, title: str, palette: Palette
) -> "go.Figure":
    """Every member where it stands, with its way there, and a line between the chosen two.

    Args:
      figure: "path" for all epochs, "ends" for the last alone.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    points = found.path_points if figure == "path" else found.ends.points[None]
    places = range(len(found.epochs) - len(points), len(found.epochs))
    snapshots = found.snapshots.epochs if found.snapshots else ()
    taken = [found.epochs[place] in snapshots for place in places]
    sides = _select_text_sides(points[-1])
    chart = go.Figure([_draw_pair_line(points[-1], pair, found=found, n=n, noun=noun, palette=palette)])
    if found.members > MAX_SHOWN_MEMBERS:
        chart.add_scatter(**_draw_member_crowd(points[-1], found, n, noun, palette))
    for member in _list_drawn_members(found.members, pair):
        hovers = ["<br>".join(words.describe_point(found, place, member, n, noun)) for place in places]
        chart.add_scatter(
            x=points[:, member, 0],
            y=points[:, member, 1],
            **_draw_member_path(member, found.members, taken, pair, palette),
            textposition=sides[member],
            hovertext=hovers,
            customdata=[[member]] * len(points),
        )
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette, showlegend=False))
    hide_map_axes(chart)
    return chart


def _list_drawn_members(members: int, pair: Pair) -> list[int]:
    """The members with a line of their own, the chosen on top: all of a few, else the chosen two."""
    drawn = range(members) if members <= MAX_SHOWN_MEMBERS else pair
    return sorted(drawn, key=pair.__contains__)


def _draw_member_crowd(ends: "np.ndarray", found: MemberMap, n: int, noun: str, palette: Palette) -> dict[str, Any]:
    """All members after the last epoch as one trace."""
    last = len(found.epochs) - 1
    return {
        "x": ends[:, 0],
        "y": ends[:, 1],
        "mode": "markers",
        "name": f"{found.members:,} members",
        "marker": {"size": _PATH_SIZE, "color": member_color(0, found.members), "opacity": 0.6},
        "hovertext": [
            "<br>".join(words.describe_point(found, last, member, n, noun)) for member in range(found.members)
        ],
        "hoverinfo": "text",
        "customdata": [[member] for member in range(found.members)],
        "cliponaxis": False,
    }


def _draw_member_path(member: int, members: int, taken: Sequence[bool], pair: Pair, palette: Palette) -> dict[str, Any]:
    """How the points of a member look: small on its way, at its end large and with its number."""
    before = len(taken) - 1
    color = member_color(member, members)
    chosen = member in pair
    sizes = [_SNAPSHOT_SIZE if snapshot else _PATH_SIZE for snapshot in taken[:-1]]
    numbered = members <= _MAX_NUMBERED_MEMBERS or chosen
    many = members > len(MEMBER_HUES)
    return {
        "mode": "lines+markers+text" if numbered else "lines+markers",
        "name": chart_style.format_member_name(member),
        "line": chart_style.style_member_line(member, members),
        "opacity": 1.0 if chosen or not many else max(0.6, member_opacity(members)),
        "text": [""] * before + [str(member + 1)],
        "textfont": {"color": palette.ink, "size": 13},
        "marker": {
            "size": [*sizes, _END_SIZE],
            "symbol": ["diamond" if snapshot else "circle" for snapshot in taken[:-1]] + ["circle"],
            "color": color,
            "opacity": 1,
            "line": {
                "color": [color] * before + [palette.ink if chosen else palette.ground],
                "width": [0] * before + [2 if chosen else 1],
            },
        },
        "hoverinfo": "text",
        "cliponaxis": False,
    }


def _select_text_sides(ends: "np.ndarray") -> list[str]:
    """Where the number of each member stands: away from the nearest other, so that both are read.

    Args:
      ends: (M, 2), where they are drawn.
    """
    apart = ((ends[:, None] - ends) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    sides = []
    for member, distances in enumerate(apart):
        across, up = ends[member] - ends[int(distances.argmin())]
        if abs(across) > abs(up):
            sides.append("middle right" if across > 0 else "middle left")
        else:
            sides.append("bottom center" if up < 0 else "top center")
    return sides


def _draw_pair_line(
    ends: "np.ndarray", pair: Pair, found: MemberMap, n: int, noun: str, palette: Palette
) -> dict[str, Any]:
    middle = ends[list(pair)].mean(axis=0)
    share = float(found.last[pair.first, pair.second])
    first, second = sorted(pair)
    said = f"Members {first + 1} and {second + 1} differ on {words.format_images(share, n, noun)}"
    xs, ys = ([ends[pair.first, axis], middle[axis], ends[pair.second, axis]] for axis in (0, 1))
    return {
        "type": "scatter",
        "x": xs,
        "y": ys,
        "mode": "lines+markers",
        "line": {"color": palette.ink, "width": ENSEMBLE_WIDTH / 2, "dash": "dot"},
        "marker": {"size": [0, 7, 0], "color": palette.ink},
        "hovertext": ["", said, ""],
        "hoverinfo": "text",
        "customdata": [[pair.second]] * 3,
    }


def hide_map_axes(chart: "go.Figure") -> None:
    """Axes without numbers, of the same scale: only distances mean something."""
    axis = {
        "showticklabels": False,
        "zeroline": False,
        "showgrid": False,
        "fixedrange": True,
        "showline": True,
        "mirror": True,
        "linecolor": chart.layout.template.layout.xaxis.gridcolor,
        "title": None,
    }
    chart.update_xaxes(axis)
    chart.update_yaxes(axis, scaleanchor="x")
    chart.update_layout(margin_b=16, margin_l=16)


def _tabulate_member_map(found: MemberMap, figure: str) -> pd.DataFrame:
    """A row a point: member, epoch, where it is drawn, its accuracy."""
    points = found.path_points if figure == "path" else found.ends.points[None]
    first = len(found.epochs) - len(points)
    E, M = points.shape[:2]
    return pd.DataFrame(
        {
            "member": np.tile(np.arange(1, M + 1), E),
            "epoch": np.repeat(found.epochs[first:], M),
            "x": points[:, :, 0].ravel(),
            "y": points[:, :, 1].ravel(),
            "accuracy": found.accuracy[first:].ravel(),
        }
    )


def _tabulate_diversity_plane(found: MemberMap, base: int) -> pd.DataFrame:
    """A row a point: disagreement with the base per mistake, and its two limits, by accuracy."""
    E, M = found.accuracy.shape
    return pd.DataFrame(
        {
            "member": np.tile(np.arange(1, M + 1), E),
            "epoch": np.repeat(found.epochs, M),
            "accuracy": found.accuracy.ravel(),
            "disagreement": found.disagreement[-1, base].ravel(),
            "per_mistake": normalize_disagreement(found.disagreement[-1, base], found.accuracy).ravel(),
        }
    )


def plot_diversity_plane(
    found: MemberMap, pair: Pair, classes: int, n: int, noun: str, title: str, palette: Palette
) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    base = pair.second
    ys = normalize_disagreement(found.disagreement[-1, base], found.accuracy)
    chart = go.Figure(limits := _draw_limits(found, base, classes))
    for limit in limits:
        chart.add_annotation(
            x=limit["x"][0],
            y=limit["y"][0],
            text=limit["name"],
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            yshift=10,
            font={"color": palette.ink, "size": 12},
        )
    snapshots = found.snapshots.epochs if found.snapshots else ()
    taken = [epoch in snapshots for epoch in found.epochs]
    ends = np.stack([found.accuracy[-1], np.nan_to_num(ys[-1])], axis=1)
    sides = _select_text_sides(ends / np.maximum(np.ptp(ends, axis=0), 1e-9))
    if found.members > MAX_SHOWN_MEMBERS:
        ends = np.stack([found.accuracy[-1], ys[-1]], axis=1)
        chart.add_scatter(**_draw_member_crowd(ends, found, n, noun, palette))
    for member in _list_drawn_members(found.members, pair):
        hovers = [
            "<br>".join(words.describe_point(found, place, member, n, noun)) for place in range(len(found.epochs))
        ]
        chart.add_scatter(
            x=found.accuracy[:, member],
            y=ys[:, member],
            **_draw_member_path(member, found.members, taken, pair, palette),
            textposition=sides[member],
            hovertext=hovers,
            customdata=[[member]] * len(found.epochs),
        )
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette, showlegend=False))
    chart.update_layout(margin_b=56)
    ticks = chart_style.compute_even_ticks(float(found.accuracy.min()), float(found.accuracy.max()))
    labels = [formats.format_percent(tick, figures=3) for tick in ticks]
    chart.update_xaxes(title="accuracy", tickvals=ticks, ticktext=labels, fixedrange=True)
    chart.update_yaxes(title=f"disagreement with member {base + 1} per mistake", fixedrange=True, rangemode="tozero")
    return chart


def _draw_limits(found: MemberMap, base: int, classes: int) -> list[dict[str, Any]]:
    accuracy = found.accuracy[found.accuracy < 1]
    if not accuracy.size:
        return []
    own = float(found.accuracy[-1, base])
    low, high = float(accuracy.min()), float(accuracy.max())
    margin = 0.03 * (high - low)
    xs = np.linspace(max(0.0, low - margin), min(high + margin, (1 + high) / 2), _LIMIT_POINTS)
    lines = []
    for name, limit, dash in zip(_LIMIT_NAMES, (limit_independent, limit_perturbed), ("dash", "dot"), strict=True):
        shares = limit(xs, own, classes)
        ys = normalize_disagreement(shares, xs)
        kept = np.isfinite(ys)
        if not kept.any():
            continue
        lines.append(
            {
                "type": "scatter",
                "x": xs[kept],
                "y": ys[kept],
                "mode": "lines",
                "line": {"color": MUTED_COLOR, "width": 1.5, "dash": dash},
                "hoverinfo": "skip",
                "name": name,
            }
        )
    return lines


_FIGURE_LABELS = {"path": "Paths", "ends": "Epoch {epoch}", "plane": "Diversity"}
_SINGLE_EPOCH_LABELS = {"ends": "Map", "plane": "Diversity"}


def build_member_map(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "One member has no other to stand near or far from: with two or more there is a map.",
            "unavailable",
            icon=":material/person:",
        )
        return
    found = epoch.locate_members()
    groups = epoch.measure(_find_groups)
    figure_choice = _offer_figures(found)
    name = yield DeferredChoice(figure_choice)
    pair_choice = offer_pairs(epoch, found, None)
    pair = parse_pair_word((yield DeferredChoice(pair_choice)), epoch.members)
    pair = pair or select_farthest_pair(found)
    yield Paragraph(words.describe_member_map(found, groups, epoch.n, epoch.noun), "answer")
    if name != "plane":
        scaling = found.path if name == "path" else found.ends
        yield Paragraph(words.describe_stress(scaling), "evidence")
    diversity = epoch.measure(_compare_diversity)
    for line in words.list_map_evidence(found, groups, diversity, epoch.n, epoch.noun):
        yield Paragraph(line, "evidence")
    yield from repeat_member_faults(epoch)

    def map_view() -> View:
        yield Figures(figure_choice, lambda word: _build_map_figure(epoch, found, word, pair, pair_choice))
        yield Paragraph(
            f"Press a member, and another, to see the {pluralize_noun(epoch.noun)} that they answer differently.",
            "hint",
        )

    def pair_view() -> View:
        yield offer_pairs(epoch, found, pair)
        yield list_differing_images(epoch, pair)

    yield Columns((3, 2), (map_view, pair_view))
    yield Table(
        "Where each member stands",
        words.tabulate_members(found, groups, epoch.n, epoch.noun),
        folded=True,
        note=words.SOURCE_NOTE.format(images=pluralize_noun(epoch.noun)),
        key="inspect_member_map_table",
        numbers=lambda: words.tabulate_pairs(found),
        file="member-pairs",
    )


def _find_groups(predictions: EnsemblePredictions) -> MemberGroups | None:
    return find_member_groups(predictions.votes, predictions.labels, predictions.groups)


def _compare_diversity(predictions: EnsemblePredictions) -> PairDiversity:
    classes = predictions.probabilities.shape[-1]
    return compare_pair_diversity(predictions.votes, predictions.labels, classes)


def _offer_figures(found: MemberMap) -> Choice:
    """The pictures there are: the way there only where it has more than one epoch."""
    labels = _FIGURE_LABELS if len(found.epochs) > 1 else _SINGLE_EPOCH_LABELS
    values = {word: label.format(epoch=found.epochs[-1]) for word, label in labels.items()}
    return Choice("figure", "Figure", values, next(iter(values)))


def _build_map_figure(epoch: EvaluatedEpoch, found: MemberMap, name: str, pair: Pair, pair_choice: Choice) -> Figure:
    word = format_pair_word(pair)
    if name == "plane":
        title = f"Diversity and accuracy · {epoch.source}"
        shown = int((found.accuracy < 1).sum())
        explanation = words.explain_diversity_plane(found, pair.second, shown, epoch.noun)
    else:
        title = f"Where members stand · {epoch.source}"
        explanation = words.explain_member_map(found, name, epoch.noun)
    if found.members > MAX_SHOWN_MEMBERS:
        explanation += " With so many members only the chosen two are numbered, and show where they were before."
    return Figure(
        label=_offer_figures(found).values[name],
        alt=words.describe_map_alt(found, name),
        explanation=explanation,
        draw=lambda palette: (
            plot_diversity_plane(
                found, pair, classes=len(epoch.class_names), n=epoch.n, noun=epoch.noun, title=title, palette=palette
            )
            if name == "plane"
            else _plot_member_map(found, name, pair=pair, n=epoch.n, noun=epoch.noun, title=title, palette=palette)
        ),
        key="inspect_member_map",
        file="member-map" if name == "path" else f"member-map-{name}",
        title="Diversity and accuracy" if name == "plane" else "Where members stand",
        table=lambda: (
            _tabulate_diversity_plane(found, pair.second) if name == "plane" else _tabulate_member_map(found, name)
        ),
        drawn_from=(name, word, found.epochs),
        point_choice=pair_choice,
        format_point_word=lambda data: format_pair_word(choose_pressed_pair(pair, int(data[0]))),
    )


VIEW = RegisteredView(
    "member_map",
    "Where members stand",
    "Map of the members by how they answer",
    build_member_map,
    place=50,
    within="agreement",
    needs_several=True,
)
