"""A picture that no camera has taken is told by its paper: one colour to the bit, most of it."""

import numpy as np
import pytest

from ensemble.pictures.ink.polarity import find_drawing_polarity

N = 100  # a side, so that a row is one in a hundred


def sheet(paper: int, ink: int, rows: int) -> np.ndarray:
    """Paper (N, N) of one grey, so many rows of it ink."""
    made = np.full((N, N), paper, np.uint8)
    made[:rows] = ink
    return made


@pytest.mark.parametrize(("rows", "taken"), [(1, True), (39, True), (40, True), (41, False)])
def test_six_in_ten_are_paper(rows: int, taken: bool) -> None:
    # Of many greys, none of which is much: what is left is paper, and has to be six in ten.
    made = sheet(255, 0, 0)
    made[:rows] = np.arange(N, dtype=np.uint8)
    assert (find_drawing_polarity(made, "dark") is not None) == taken


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("away", "rows", "taken"),
    [(1, 1, True), (1, 2, False), (11, 2, False), (12, 2, False), (13, 2, True), (60, 30, True)],
)
def test_greys_near_papers_own_are_a_cameras_grain(sign: int, away: int, rows: int, taken: bool) -> None:
    found = find_drawing_polarity(sheet(128, 128 + sign * away, rows), "auto")
    assert (found is not None) == taken
    if found and away > 12:
        assert found.light == (sign > 0)
        assert found.paper[0, 0] == pytest.approx(128 / 255)


@pytest.mark.parametrize(("paper", "grain"), [(3, 5), (5, 3), (252, 254), (254, 252)])
def test_grain_is_seen_at_the_end_of_the_greys_too(paper: int, grain: int) -> None:
    assert find_drawing_polarity(sheet(paper, grain, 2), "auto") is None


@pytest.mark.parametrize(("paper", "ink", "light"), [(255, 0, False), (0, 255, True)])
def test_paper_at_the_end_of_the_greys_has_neighbours_on_one_side(paper: int, ink: int, light: bool) -> None:
    found = find_drawing_polarity(sheet(paper, ink, 20), "auto")
    assert found is not None
    assert found.light is light


@pytest.mark.parametrize(("dark", "taken"), [(2, True), (3, False), (20, False)])
def test_ink_on_both_sides_of_paper_is_left_to_a_closer_look(dark: int, taken: bool) -> None:
    made = sheet(128, 255, 20)
    made[-dark:] = 0
    assert (find_drawing_polarity(made, "auto") is not None) == taken
    for ink in ("dark", "light"):
        found = find_drawing_polarity(made, ink)
        assert found is not None
        assert found.light == (ink == "light")
