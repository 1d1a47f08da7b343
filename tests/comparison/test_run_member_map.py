"""Members of several runs on one map: only of runs on the same images, apart where they are."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.comparison.run_member_map import build_run_member_map
from ensemble.figures.palette import LIGHT
from ensemble.runs.history import write_predictions
from ensemble.views import side_by_side as words
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Figures, Paragraph
from ensemble.views.side_by_side import (
    offer_run_pairs,
    plot_run_members,
    read_run_pair,
    run_members_view,
    tabulate_run_map,
)
from ensemble.wording.member_map import Pair
from tests.analysis.positions.drawn_members import change_answers
from tests.comparison.drawn import finished, imported, labels


def drawn(seed: int, away: float, own: float = 0.03, members: int = 3) -> runs.Run:
    """A run whose members change a few of the answers of a classifier of their own run."""
    run = finished({"members": members, "seed": seed})
    centre = change_answers(labels(), away, seed)
    votes = np.stack([change_answers(centre, own, 10 * seed + m) for m in range(members)])
    made = np.where(np.arange(10) == votes[..., None], 0.91, 0.01).astype(np.float32)
    write_predictions(run.path, 2, made)
    return run


def test_runs_that_were_drawn_apart_stand_apart_and_others_do_not() -> None:
    apart = build_run_member_map([drawn(1, 0.2), drawn(2, 0.2)])
    assert apart.owner.tolist() == [0, 0, 0, 1, 1, 1]
    assert apart.members.tolist() == [0, 1, 2, 0, 1, 2]
    assert apart.difference
    assert apart.difference[0] > 0.2
    answer = words.describe_run_members(apart)
    assert answer.startswith("Members of two runs differ on ")
    points = apart.scaling.points
    assert np.linalg.norm(points[0] - points[3]) > 2 * np.linalg.norm(points[0] - points[1])
    slow = np.mean([apart.disagreement[a, b] for a in range(3) for b in range(3, 6)])
    assert apart.between == pytest.approx(slow)
    assert words.average_run_disagreement(apart)[0, 1] == pytest.approx(slow)
    # Of two seeds whose members are drawn alike, runs are no more apart than members.
    even = build_run_member_map([drawn(3, 0.0, 0.1), drawn(4, 0.0, 0.1)])
    assert words.describe_run_members(even).startswith("Runs are not shown to stand apart: ")


def test_the_difference_of_runs_is_between_less_within_with_the_lower_end_first() -> None:
    for found in (
        build_run_member_map([drawn(1, 0.2), drawn(2, 0.3)]),
        build_run_member_map([drawn(3, 0.0, 0.1), drawn(3, 0.0, 0.2)]),
    ):
        line = words.list_run_member_evidence(found)[1].replace("\N{MINUS SIGN}", "-")
        parts = re.match(r"The difference is (\S+) points \((\S+) to (\S+)\) of disagreement", line)
        assert parts
        apart, low, high = map(float, parts.groups())
        assert found.between is not None
        assert found.within is not None
        assert apart == pytest.approx(100 * (found.between - found.within), abs=0.051)
        assert low < apart < high


def test_seven_runs_have_symbols_of_their_own_and_the_eighth_has_the_first_again() -> None:
    two = build_run_member_map([drawn(1, 0.2), drawn(2, 0.2)])
    eight = replace(two, runs=two.runs * 4, epochs=two.epochs * 4)
    symbols = [trace.marker.symbol for trace in plot_run_members(eight, "Where members stand", LIGHT).data]
    assert len(set(symbols[:7])) == 7
    assert symbols[7] == symbols[0]


def test_runs_on_other_images_are_left_out_and_named() -> None:
    first, second = drawn(1, 0.2), drawn(2, 0.2)
    other = runs.create_imported_run(
        [np.full((1, 40, 10), 0.1, np.float32)], labels()[:40], first.data, name="elsewhere"
    )
    found = build_run_member_map([first, other, second])
    assert [run.id for run in found.runs] == [first.id, second.id]
    said = words.describe_left_out_runs(found)
    assert "elsewhere" in said
    assert "was tested on other images than" in said
    alone = build_run_member_map([first, other])
    parts = [part for part in iterate_parts(run_members_view(alone)) if isinstance(part, Paragraph)]
    assert [part.role for part in parts] == ["unavailable", "note"]
    assert "No two of these runs" in parts[0].text
    # What was made elsewhere on the same images has its place.
    assert len(build_run_member_map([first, imported()]).runs) == 2


def test_a_run_without_predictions_is_left_out() -> None:
    empty, first, second = runs.create_run(drawn(1, 0.2).config), drawn(2, 0.2), drawn(3, 0.2)
    found = build_run_member_map([empty, first, second])
    assert len(found.runs) == 2
    assert "no predictions" in found.left_out[0][1]
    none = build_run_member_map([empty])
    assert words.describe_run_members(none).startswith("None of these runs has predictions")


def test_many_members_leave_room_for_every_run() -> None:
    found = build_run_member_map([drawn(seed, 0.1, members=64) for seed in (1, 2, 3, 4)])
    assert np.bincount(found.owner).tolist() == [50] * 4
    assert found.thinned
    assert "the first are shown" in words.explain_run_map(found)
    drawing = plot_run_members(found, "Where members stand", LIGHT)
    assert [len(trace.x) for trace in drawing.data] == [50] * 4
    assert len({trace.marker.color for trace in drawing.data}) == 4
    assert len(tabulate_run_map(found)) == 200


def test_single_networks_have_only_others_to_differ_from() -> None:
    found = build_run_member_map([drawn(1, 0.2, members=1), drawn(2, 0.2, members=1)])
    assert (found.within, found.difference) == (None, None)
    assert words.describe_run_members(found).startswith("Two runs differ on ")
    assert "–" in words.tabulate_run_members(found)["apart from each other"].tolist()


def test_two_members_are_chosen_by_press_and_their_differing_images_counted() -> None:
    found = build_run_member_map([drawn(1, 0.2), drawn(2, 0.2)])
    pair = read_run_pair(found, "2-6")
    assert pair == Pair(1, 5)
    differ = found.votes[1] != found.votes[5]
    right = [int((found.votes[place] == found.labels)[differ].sum()) for place in (1, 5)]
    said = words.describe_run_pair(found, pair)
    assert said.startswith("Member 2 of ")
    assert f" answer {differ.sum():,} digits differently: {right[0]:,} the first has right" in said
    assert f"{right[1]:,} the second, {differ.sum() - sum(right):,} neither." in said
    (figure,) = [
        figure
        for part in iterate_parts(run_members_view(found, pair))
        if isinstance(part, Figures)
        for figure in [part.figure("")]
    ]
    traces = figure.draw(LIGHT).data
    assert figure.format_point_word
    assert figure.format_point_word(traces[0].customdata[2]) == "6-3"
    # Whoever chose none, or none that is there, sees the farthest of two runs.
    for word in ("", "2-2", "9-99"):
        far = read_run_pair(found, word)
        assert found.owner[far.first] != found.owner[far.second]
        assert found.disagreement[far] == found.disagreement[:3, 3:].max()
    assert offer_run_pairs(found).is_valid("6-3")
    assert not offer_run_pairs(found).is_valid("6-7")
