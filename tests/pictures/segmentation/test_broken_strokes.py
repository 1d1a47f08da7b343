"""A digit of a dry pen comes in pieces; those beside each other stay apart, however near."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from sklearn.datasets import load_sample_image

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.preparation import prepare_picture

THREE = [(200, 100), (300, 100), (250, 190), (310, 260), (260, 340), (190, 330)]
FOUR = [(300, 90), (210, 220), (330, 220)]


def strokes(*paths: list[tuple[int, int]], gaps: list[tuple[int, int]]) -> Picture:
    """Strokes 18 pixels wide on a sheet of 600×450, left out around some points."""
    sheet = Image.new("L", (600, 450), 235)
    draw = ImageDraw.Draw(sheet)
    for path in paths:
        draw.line(path, 30, 18, "curve")
    for x, y in gaps:
        draw.ellipse((x - 17, y - 17, x + 17, y + 17), 235)
    pixels = np.repeat(np.asarray(sheet)[..., None], 3, axis=2)
    return Picture(pixels, 1.0, (600, 450), "PNG")


@pytest.mark.parametrize(
    ("paths", "gaps"),
    [([THREE], [(275, 145), (290, 300)]), ([FOUR, [(290, 180), (270, 330)]], [(255, 155)])],
    ids=["a three in three pieces", "a four whose stem is apart"],
)
def test_the_pieces_of_one_digit_are_one(paths, gaps) -> None:
    (mark,) = prepare_picture(strokes(*paths, gaps=gaps)).marks
    (whole,) = prepare_picture(strokes(*paths, gaps=[])).marks
    np.testing.assert_allclose(mark.box, whole.box, atol=2)


def test_two_strokes_beside_each_other_are_two_digits() -> None:
    ones = [[(200, 100), (200, 340)], [(232, 100), (232, 340)]]
    assert len(prepare_picture(strokes(*ones, gaps=[])).marks) == 2


def test_what_is_cut_from_one_piece_of_ink_says_so() -> None:
    rings = Image.new("L", (600, 450), 235)
    draw = ImageDraw.Draw(rings)
    for left in (60, 188, 316):
        draw.ellipse((left, 120, left + 130, 300), outline=30, width=16)
    draw.line([(520, 120), (520, 300)], 30, 16)
    pixels = np.repeat(np.asarray(rings)[..., None], 3, axis=2)
    marks = prepare_picture(Picture(pixels, 1.0, (600, 450), "PNG")).marks
    pieces = [mark.piece for mark in marks]
    assert len(marks) == 4
    assert pieces[0] == pieces[1] == pieces[2] >= 0
    assert pieces[3] == -1
    assert all(mark.non_paper_share == 0 for mark in marks)
    assert (marks[0].loops, marks[3].loops) == (1, 0)


def test_what_is_around_ink_in_a_photograph_is_no_paper() -> None:
    pixels = np.ascontiguousarray(load_sample_image("flower.jpg"))
    marks = prepare_picture(Picture(pixels, 1.0, (640, 427), "JPEG")).marks
    assert max(mark.non_paper_share for mark in marks) > 0.3
