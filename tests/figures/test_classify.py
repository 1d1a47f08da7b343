from dataclasses import replace

import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import palette
from ensemble.figures import rejection as rejection_figure
from ensemble.figures import two_answers as two_answers_figure
from ensemble.figures import verdict as verdict_figure
from ensemble.figures.two_answers import Side
from ensemble.recognition.neighbours import Neighbours
from ensemble.recognition.rejection_threshold import Gate, Turned
from ensemble.ui.classify.details import neighbours, rejection, saliency_picture
from ensemble.ui.shared import theme
from tests.ui.marks import covered, voting

GATE = Gate(
    refuse=0.2, threshold=2.0, n=5, known=np.array([0.1, 0.4, 1.9, 2.0, 2.1], np.float32),
    judged=200, kept=0.94, accuracy=0.99, accuracy_all=0.97, says="Set on 5 digits.",
    strangers=(
        Turned("noise", "Noise", 4, 0.75, np.array([1.0, 2.5, 9.0, 7.0], np.float32)),
        Turned("letters", "Letters", 2, 1.0, np.array([3.0, 4.0], np.float32)),
    ),
)  # fmt: skip
NEAREST = Neighbours(
    numbers=np.array([7, 812, 3]), images=np.zeros((3, 28, 28), np.uint8),
    labels=np.array([4, 9, 4]), distances=np.array([0.1, 0.2, 0.3]),
    votes=np.array([[4, 9, 9], [4, 9, 4], [4, 9, 4]]),
)  # fmt: skip


def test_the_bars_are_the_average_in_ink_and_the_dots_each_members_own() -> None:
    digit = voting(7, 7, 1)
    bar, *dots = verdict_figure.figure(digit, DIGIT_NAMES, "<b>1</b>.png · run").data
    np.testing.assert_allclose(bar.x, digit.members.mean(axis=0))
    assert bar.marker.color == theme.ink()
    assert bar.marker.opacity.index(1.0) == 7
    assert [dot.marker.color for dot in dots] == list(palette.MEMBER_HUES[:3])
    for dot, own in zip(dots, digit.members, strict=True):
        np.testing.assert_allclose(dot.x, own)


def test_a_name_like_markup_stays_text_in_a_picture() -> None:
    chart = verdict_figure.figure(voting(7), DIGIT_NAMES, "<b>1</b>.png · <a href=x>")
    assert chart.layout.title.text == "&lt;b&gt;1&lt;/b&gt;.png"
    assert chart.layout.title.subtitle.text == "&lt;a href=x&gt;"
    sides = Side(voting(7), "<i>one</i>"), Side(voting(7), "two")
    ours, _ = two_answers_figure.figure(*sides, DIGIT_NAMES, "Mark").data
    assert ours.name == "&lt;i&gt;one&lt;/i&gt;"
    assert "<i>" not in "".join(ours.hovertext)


@pytest.mark.parametrize(("members", "dots", "hues"), [(1, 0, 0), (7, 7, 7), (64, 64, 1)])
def test_dots_fit_the_number_of_members(members: int, dots: int, hues: int) -> None:
    chart = verdict_figure.figure(voting(*[7] * members), DIGIT_NAMES, "Mark")
    drawn = [trace for trace in chart.data if trace.type == "scatter"]
    assert len(drawn) == dots
    assert len({trace.marker.color for trace in drawn}) == hues


def test_a_rejected_verdict_is_dimmed_and_no_class_stands_out() -> None:
    chart = verdict_figure.figure(voting(3, 3, rejected=True), DIGIT_NAMES, "Mark")
    assert set(chart.data[0].marker.opacity) == {verdict_figure.REJECTED}
    assert not any("<b>" in text for text in chart.layout.yaxis.ticktext)
    read = verdict_figure.table(voting(3, 8, 3, rejected=True), DIGIT_NAMES)
    assert read["who"].tolist() == ["ensemble", "member 1", "member 2", "member 3"]
    assert read["says"].tolist() == ["3", "3", "8", "3"]
    assert read["rejected"].all()
    assert read["p_3"].tolist() == pytest.approx([1.83 / 3, 0.91, 0.01, 0.91])


def test_the_gates_mistakes_are_orange() -> None:
    chart = rejection_figure.figure(GATE, 3.3, "MNIST", "title")
    known, noise, letters, mark = chart.data
    mistakes = {trace.name: trace.x[np.array(trace.marker.color) == palette.WRONG].tolist()
                for trace in (known, noise, letters)}  # fmt: skip
    assert mistakes == {"MNIST": [pytest.approx(2.1)], "Noise": [1.0], "Letters": []}
    assert np.round(noise.y).tolist() == [2] * 4  # of one row, whatever the spread
    assert mark.x == (3.3,)
    assert mark.hovertext == ("This mark: 3.30, turned away",)
    assert [one.x0 for one in chart.layout.shapes] == [2.0]
    shares = [one.text for one in chart.layout.annotations if one.xref == "paper"]
    assert shares == ["20.0 %", "75.0 %", "100.0 %"]
    table = rejection_figure.table(GATE, "MNIST", 3.3)
    assert table.groupby("images")["turned_away"].sum().to_dict() == {
        "MNIST": 1, "Noise": 3, "Letters": 2, "this mark": 1,
    }  # fmt: skip


def test_the_gate_in_a_sentence_and_a_table() -> None:
    assert rejection.sentence(GATE, "digit") == (
        "It lets **94.0 %** of other real digits through and reads 99.0 % of these right; of each "
        "kind of strangers it turns away **75.0 % to 100.0 %**."
    )
    nobody = replace(GATE, strangers=(), kept=0.0)
    assert rejection.sentence(nobody, "digit") == (
        "It lets **0.0 %** of other real digits through."
    )
    read = rejection_figure.shares(GATE, "MNIST", "digit")
    assert read["turned away"].tolist() == ["6.0 %", "75.0 %", "100.0 %"]


def test_places_are_blue_where_the_probability_falls_and_orange_where_it_rises() -> None:
    image, change = np.full((28, 28, 1), 200, np.uint8), np.zeros((28, 28))
    change[2, 3], change[5, 6] = 0.5, -0.25
    painted = saliency_picture.painted(image, change, 0.5)
    assert painted[2, 3].tolist() == list(palette.parts(palette.RIGHT))
    half = (110 + np.array(palette.parts(palette.WRONG))) / 2
    np.testing.assert_allclose(painted[5, 6], half, atol=1)
    assert (painted == 110).all(axis=-1).sum() == 28 * 28 - 2


def test_the_frame_hides_nothing_of_the_patch_that_it_marks() -> None:
    image, found = np.full((28, 28, 1), 90, np.uint8), covered((5, 4), None)
    averaged, first, second = saliency_picture.maps(image, found, [0, 1])
    full = saliency_picture.scale(found)
    for picture, change in ((averaged, found.averaged), (second, found.change[1])):
        small = np.asarray(picture)[2::4, 2::4]
        np.testing.assert_array_equal(
            small, saliency_picture.painted(image, change, full)
        )  # fmt: skip
    framed = np.asarray(first)
    inside = saliency_picture.painted(image, found.change[0], full)[5:10, 3:8]
    np.testing.assert_array_equal(framed[20:40, 12:32][2::4, 2::4], inside)
    assert (framed == 255).all(axis=-1).sum() == 24 * 24 - 20 * 20  # 2 px around 20 by 20
    table = saliency_picture.table(found)
    at = table[(table["row"] == 9) & (table["column"] == 4)].iloc[0]
    assert at["member_2"] == pytest.approx(found.change[1, 9, 4])


def test_the_nearest_digits_are_told_and_the_confused_ones_marked() -> None:
    said = neighbours.sentence(NEAREST, DIGIT_NAMES, "digit")
    assert said == (
        "The 3 test digits nearest to it are 4 twice and 9 once; members confuse 1 of them."
    )
    tiles = [neighbours.tile(NEAREST, place, DIGIT_NAMES, "digit") for place in range(3)]
    assert [tile["number"] for tile in tiles] == [7, 812, 3]
    assert [tile["verdict"] for tile in tiles] == ["✓ 4", "✓ 9", "✓ 4"]
    assert [tile["sure"] for tile in tiles] == ["", "", "confused"]
    assert tiles[2]["votes"] == [("9", True), ("4", False), ("4", False)]
    assert tiles[2]["alt"] == "Test digit 3, which is 4; votes: 9 4 4"
    table = neighbours.table(NEAREST, DIGIT_NAMES)
    assert table["member_1"].tolist() == ["4", "9", "9"]


@pytest.mark.parametrize(
    ("votes", "said"),
    [([[4, 4, 4]], "gets 1 of them wrong."), ([[4, 9, 4]], "the one member gets all right."),
     ([[4, 9, 4]] * 2, "members confuse none of them.")],
)  # fmt: skip
def test_one_member_gets_them_wrong_and_several_confuse_them(
    votes: list[list[int]], said: str
) -> None:
    found = replace(NEAREST, votes=np.array(votes))
    assert neighbours.sentence(found, DIGIT_NAMES, "digit").endswith(said)


def test_both_ensembles_stand_beside_each_other_and_the_one_that_declines_is_faint() -> None:
    sides = Side(voting(4, 4, 9), "one"), Side(voting(9, 9, rejected=True), "two")
    ours, theirs = two_answers_figure.figure(*sides, DIGIT_NAMES, "Mark").data
    np.testing.assert_allclose(ours.x, sides[0].digit.probabilities)
    np.testing.assert_allclose(theirs.x, sides[1].digit.probabilities)
    assert ours.marker.opacity > theirs.marker.opacity
    rows = two_answers_figure.rows(*sides, DIGIT_NAMES)
    assert rows["says"].tolist() == ["4", "declines"]
    assert rows["votes"].tolist() == ["2 say 4, 1 says 9", "2 say 9"]
    table = two_answers_figure.table(*sides, DIGIT_NAMES)
    assert table["run"].tolist() == ["one"] * 4 + ["two"] * 3
