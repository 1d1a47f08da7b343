"""What the details of a mark say and paint: neighbours, what covering changes, two ensembles."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import palette
from ensemble.figures.two_ensembles import EnsembleAnswer
from ensemble.recognition.nearest_neighbors import NearestNeighbors
from ensemble.recognition.picture_reading import Digit
from ensemble.ui.classify.details import answer_comparison, nearest_images, rejection, saliency, saliency_maps
from tests.ui.marks import THRESHOLD, covered, voting

NEAREST = NearestNeighbors(
    numbers=np.array([7, 812, 3]),
    images=np.zeros((3, 28, 28), np.uint8),
    labels=np.array([4, 9, 4]),
    distances=np.array([0.1, 0.2, 0.3]),
    votes=np.array([[4, 9, 9], [4, 9, 4], [4, 9, 4]]),
)


def test_places_are_blue_where_the_probability_falls_and_orange_where_it_rises() -> None:
    image, change = np.full((28, 28, 1), 200, np.uint8), np.zeros((28, 28))
    change[2, 3], change[5, 6] = 0.5, -0.25
    painted = saliency_maps.paint_saliency_map(image, change, 0.5)
    assert painted[2, 3].tolist() == list(palette.parse_hex_color(palette.RIGHT_COLOR))
    half = (110 + np.array(palette.parse_hex_color(palette.WRONG_COLOR))) / 2
    np.testing.assert_allclose(painted[5, 6], half, atol=1)
    assert (painted == 110).all(axis=-1).sum() == 28 * 28 - 2


def test_the_frame_hides_nothing_of_the_patch_that_it_marks() -> None:
    image, found = np.full((28, 28, 1), 90, np.uint8), covered((5, 4), None)
    averaged, first, second = saliency_maps.draw_saliency_maps(image, found, [0, 1])
    full = saliency_maps.compute_saliency_scale(found)
    for picture, change in ((averaged, found.ensemble_change), (second, found.member_changes[1])):
        small = np.asarray(picture)[2::4, 2::4]
        np.testing.assert_array_equal(small, saliency_maps.paint_saliency_map(image, change, full))
    framed = np.asarray(first)
    inside = saliency_maps.paint_saliency_map(image, found.member_changes[0], full)[5:10, 3:8]
    np.testing.assert_array_equal(framed[20:40, 12:32][2::4, 2::4], inside)
    assert (framed == 255).all(axis=-1).sum() == 24 * 24 - 20 * 20  # 2 px around 20 by 20
    table = saliency_maps.tabulate_saliency(found)
    at = table[(table["row"] == 9) & (table["column"] == 4)].iloc[0]
    assert at["member_2"] == pytest.approx(found.member_changes[1, 9, 4])


def test_the_nearest_digits_are_told_and_the_confused_ones_marked() -> None:
    said = nearest_images.describe_nearest_images(NEAREST, DIGIT_NAMES, "digit")
    assert said == ("The 3 test digits nearest to it are 4 twice and 9 once; members confuse 1 of them.")
    tiles = [nearest_images.build_neighbor_tile(NEAREST, place, DIGIT_NAMES, "digit") for place in range(3)]
    assert [tile["number"] for tile in tiles] == [7, 812, 3]
    assert [tile["verdict"] for tile in tiles] == ["✓ 4", "✓ 9", "✓ 4"]
    assert [tile["sure"] for tile in tiles] == ["", "", "confused"]
    assert tiles[2]["votes"] == [("9", True), ("4", False), ("4", False)]
    assert tiles[2]["alt"] == "Test digit 3, which is 4; votes: 9 4 4"
    table = nearest_images.tabulate_nearest_images(NEAREST, DIGIT_NAMES)
    assert table["member_1"].tolist() == ["4", "9", "9"]


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([[4, 4, 4]], "gets 1 of them wrong."),
        ([[4, 9, 4]], "the one member gets all right."),
        ([[4, 9, 4]] * 2, "members confuse none of them."),
    ],
)
def test_one_member_gets_them_wrong_and_several_confuse_them(votes: list[list[int]], said: str) -> None:
    found = replace(NEAREST, votes=np.array(votes))
    assert nearest_images.describe_nearest_images(found, DIGIT_NAMES, "digit").endswith(said)


@pytest.mark.parametrize(
    ("flips", "said"),
    [
        ([None, None], "No patch up to 9×9 pixels changes any member's mind."),
        ([None], "No patch up to 9×9 pixels changes its mind."),
        ([(5, 4)], "Covering 5×5 pixels changes its mind."),
        ([(3, 4), (7, 9)], "Both members would change their minds under a patch of 3×3 to 7×7 pixels."),
        ([(5, 4)] * 3, "All 3 members would change their minds under a patch of 5×5 pixels."),
        ([(5, 4), None, None], "1 of 3 members would change its mind under a patch of 5×5 pixels."),
        ([(5, 4), (7, 4), None], "2 of 3 members would change their minds under a patch of 5×5 to 7×7 pixels."),
    ],
)
def test_how_many_minds_a_patch_changes(flips: list[tuple[int, int] | None], said: str) -> None:
    assert saliency.describe_prediction_flips(covered(*flips)) == f"**{said}**"


@pytest.mark.parametrize(
    ("flips", "said"),
    [
        (
            [(5, 4), None],
            [
                "Member 1 would say 4 if the place marked were covered (5×5 pixels).",
                "Member 2 would say 7 still: no patch up to 9×9 changes that.",
            ],
        ),
        (
            [(5, 4), (7, 4), (5, 4), (5, 9), (5, 4)],
            [
                "Members 1, 3 and 5 would say 4 if the place marked were covered (5×5 pixels).",
                "Member 2 would say 4 if the place marked were covered (7×7 pixels).",
                "Member 4 would say 9 if the place marked were covered (5×5 pixels).",
            ],
        ),
        ([(9, 1)], ["It would say 1 if the place marked were covered (9×9 pixels)."]),
        ([None, None], []),
        (
            [(5, 4)] * 60 + [None] * 4,
            [
                "60 members would say 4 if the place marked were covered (5×5 pixels).",
                "Members 61, 62, 63 and 64 would say 7 still: no patch up to 9×9 changes that.",
            ],
        ),
    ],
)
def test_what_would_change_each_mind(flips: list[tuple[int, int] | None], said: list[str]) -> None:
    digit = voting(*[7] * len(flips))
    assert saliency.list_flip_sentences(covered(*flips), digit, DIGIT_NAMES) == said


def test_of_many_members_those_are_drawn_whose_minds_change_first() -> None:
    sides = [9, 7, None, 5, 3] * 4
    drawn = saliency.select_mapped_members(covered(*[side and (side, 1) for side in sides]))
    assert len(drawn) == saliency.MAX_MEMBER_MAPS
    assert sorted(sides[m] or 99 for m in drawn) == [3] * 4 + [5] * 4 + [7] * 4
    assert saliency.select_mapped_members(covered(None, (3, 1))) == [0, 1]


def test_two_that_are_certain_are_said_to_be_over_99_9() -> None:
    side = EnsembleAnswer(voting(7, 7, sure=1.0), "run")
    assert answer_comparison.describe_answer_comparison(side, side, DIGIT_NAMES).count("over 99.9 %") == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (voting(4, 4), voting(4, 4, sure=0.82), "**Both say 4:** 4 with 91.0 %, the other 4 with 82.0"),
        (voting(4), voting(9), r"**They differ:** one_run, epoch 3 says 4 with 91.0 %, other"),
        (voting(4), voting(9, rejected=True), "**Only one rejects it:** other, epoch 1; "),
        (voting(4, rejected=True), voting(9), r"**Only one rejects it:** one_run, epoch 3; "),
        (voting(4, rejected=True), voting(4, rejected=True), "**Both reject it.** Not a digit"),
    ],
)
def test_two_ensembles_beside_each_other(ours: Digit, theirs: Digit, said: str) -> None:
    sides = EnsembleAnswer(ours, "one_run, epoch 3"), EnsembleAnswer(theirs, "other, epoch 1")
    assert answer_comparison.describe_answer_comparison(*sides, DIGIT_NAMES).startswith(said)


def test_the_threshold_in_a_sentence() -> None:
    assert rejection.describe_rejection_threshold(THRESHOLD, "digit") == (
        "It accepts **94.0 %** of other real digits and reads 99.0 % of these right; of each kind "
        "of non-digits it rejects **75.0 % to 100.0 %**."
    )
    nobody = replace(THRESHOLD, non_digits=(), coverage=0.0)
    assert rejection.describe_rejection_threshold(nobody, "digit") == ("It accepts **0.0 %** of other real digits.")
