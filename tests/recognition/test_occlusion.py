"""What covering a place does, by hand on a few pixels and by brute force."""

import numpy as np
import pytest

from ensemble.recognition.occlusion import VerdictFlip, build_occlusion, cover_patches, list_patches

PAIR = [(0, 0, 2, 2), (1, 1, 3, 3)]  # they share one pixel


def test_a_place_loses_the_mean_over_the_patches_that_cover_it() -> None:
    before = np.array([[0.9, 0.1], [0.3, 0.7]])
    under = np.array([[[0.5, 0.5], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]])
    found = build_occlusion((4, 4, 1), PAIR, before, under)
    first = [[0.4, 0.4, 0, 0], [0.4, 0.55, 0.7, 0], [0, 0.7, 0.7, 0], [0, 0, 0, 0]]
    second = [[0, 0, 0, 0], [0, 0.05, 0.1, 0], [0, 0.1, 0.1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(found.member_changes, [first, second], atol=1e-7)
    # The average says the first class with 0.6; under the patches with 0.4 and 0.3.
    averaged = [[0.2, 0.2, 0, 0], [0.2, 0.25, 0.3, 0], [0, 0.3, 0.3, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(found.ensemble_change, averaged, atol=1e-7)


@pytest.mark.parametrize(
    ("under", "flip"),
    [
        ([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2]], None),
        ([[0.9, 0.1], [0.6, 0.4], [0.1, 0.9]], 2),
        ([[0.4, 0.6], [0.3, 0.7], [0.1, 0.9]], 1),  # of equal patches that which takes most
        ([[0.2, 0.8], [0.4, 0.6], [0.1, 0.9]], 0),
    ],
)
def test_a_mind_changes_under_the_smallest_patch_that_takes_most(under: list[list[float]], flip: int | None) -> None:
    boxes = [*PAIR, (0, 0, 4, 4)]
    found = build_occlusion((4, 4, 1), boxes, np.array([[0.9, 0.1]]), np.array([under]))
    assert found.flips == (None if flip is None else VerdictFlip(boxes[flip], 1),)


def test_patches_reach_every_edge_and_take_ink_away() -> None:
    full = np.full((28, 28, 1), 255, np.uint8)
    boxes = list_patches(full)
    sides = [right - left for left, _, right, _ in boxes]
    assert sides == sorted(sides)
    for side in (5, 7, 9):
        mine = [box for box in boxes if box[2] - box[0] == side]
        assert all(box[3] - box[1] == side for box in mine)
        assert {min(box[0] for box in mine), min(box[1] for box in mine)} == {0}
        assert {max(box[2] for box in mine), max(box[3] for box in mine)} == {28}
        reached = cover_patches(full, mine).min(axis=0)
        assert not reached.any(), "some pixel is never covered"
    dot = np.zeros((28, 28, 1), np.uint8)
    dot[20, 3] = 1
    holding = [box for box in boxes if box[0] <= 3 < box[2] and box[1] <= 20 < box[3]]
    assert list_patches(dot) == holding
    assert not cover_patches(dot, holding).any()


def test_places_without_ink_change_where_a_patch_over_them_takes_ink_away() -> None:
    dot = np.zeros((28, 28, 1), np.uint8)
    dot[20, 3] = 255
    boxes = list_patches(dot)
    found = build_occlusion(dot.shape, boxes, np.ones((1, 1)), np.full((1, len(boxes), 1), 0.5))
    reached = ~cover_patches(np.full_like(dot, 255), boxes).all(axis=0)[..., 0]
    assert reached.sum() > 25
    np.testing.assert_array_equal(found.member_changes[0] == 0.5, reached)
    assert not found.member_changes[0][~reached].any()
