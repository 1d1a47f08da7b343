"""The printed box around a digit goes, also where the digit touches it; digits of bars stay."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import find_ink
from ensemble.pictures.ink.frames import _drop_rest_of_frame, _has_content, remove_frames
from ensemble.pictures.preparation import prepare_picture

SIZE = 300, 300
FOUR = [(170, 80), (110, 180), (200, 180)], [(175, 130), (170, 240)]


def draw_boxed(box: tuple[int, int, int, int], turn: float = 0.0, strokes=FOUR) -> tuple[np.ndarray, np.ndarray]:
    """Dark strokes within a box of thin grey lines, uint8 (H, W), and the strokes alone."""
    sheet, alone = Image.new("L", SIZE, 245), Image.new("L", SIZE, 245)
    ImageDraw.Draw(sheet).rectangle(box, None, 110, 3)
    for image in (sheet, alone):
        for stroke in strokes:
            ImageDraw.Draw(image).line(stroke, 30, 9, "curve")
    boxed, own = (np.asarray(image.rotate(turn, Image.Resampling.BICUBIC, fillcolor=245)) for image in (sheet, alone))
    return boxed, own


def as_picture(grey: np.ndarray) -> Picture:
    """The grey picture as a person would bring it."""
    return Picture(np.repeat(grey[..., None], 3, axis=2), 1.0, grey.shape[::-1], "PNG")


@pytest.mark.parametrize("turn", [0, 3, -4])
@pytest.mark.parametrize(
    "box",
    [
        (70, 50, 240, 270),  # touches nothing
        (70, 50, 240, 242),  # the foot of the 4 ends on it
        (70, 80, 240, 270),  # its head does
        (110, 50, 240, 270),  # its left corner does
    ],
)
def test_a_box_goes_and_the_digit_stays(box, turn) -> None:
    boxed, alone = draw_boxed(box, turn)
    prepared = prepare_picture(as_picture(boxed))
    (mark,) = prepared.marks
    (wanted,) = prepare_picture(as_picture(alone)).marks
    assert np.abs(np.subtract(mark.box, wanted.box)).max() <= 10  # a stroke is 9 wide, and may end under the line
    same = np.corrcoef(mark.image.ravel(), wanted.image.ravel())[0, 1]
    assert same > 0.9
    assert "Left out: 1 printed box around ink." in prepared.notes


def test_an_empty_box_stays_for_whoever_judges_it() -> None:
    boxed, _ = draw_boxed((70, 50, 240, 270), strokes=())
    assert find_ink(as_picture(boxed).pixels).frames == 0


def test_empty_boxes_side_by_side_leave_no_walls_that_look_like_ones() -> None:
    mask = np.zeros((200, 400), bool)
    for column in (20, 120, 220, 320):
        mask[40:160, column : column + 3] = True
    for row in (40, 157):
        mask[row : row + 3, 20:323] = True
    before = mask.copy()
    assert remove_frames(mask, mask.astype(np.float32)) == 0
    assert (mask == before).all()


@pytest.mark.parametrize("bars", ["0", "8", "6"])
def test_digits_of_straight_bars_are_no_frames(bars) -> None:
    mask = np.zeros((300, 200), bool)
    for rows, columns in {
        "top": (slice(20, 36), slice(20, 160)),
        "foot": (slice(244, 260), slice(20, 160)),
        "left": (slice(20, 260), slice(20, 36)),
        "right": (slice(130 if bars == "6" else 20, 260), slice(144, 160)),
    }.values():
        mask[rows, columns] = True
    if bars != "0":
        mask[132:148, 20:160] = True
    before = mask.copy()
    assert remove_frames(mask, mask.astype(np.float32)) == 0
    assert (mask == before).all()


def test_a_stroke_that_crosses_a_box_hangs_together() -> None:
    boxed, _ = draw_boxed((70, 50, 240, 210))
    found = find_ink(as_picture(boxed).pixels)
    assert found.frames == 1
    assert ndimage.label(found.mask, np.ones((3, 3)))[1] == 1


@pytest.mark.parametrize(
    ("rows", "columns", "is_content"),
    [
        ((5, 45), (100, 104), False),  # 35 rows are below the rim of 10
        ((5, 46), (100, 104), True),
        ((75, 115), (100, 104), False),
        ((20, 100), (2, 20), False),  # in the rim of 20 columns
        ((20, 100), (2, 21), True),
    ],
)
def test_the_content_of_a_frame_has_at_least_three_tenths_of_its_height(
    rows: tuple[int, int], columns: tuple[int, int], is_content: bool
) -> None:
    part = np.zeros((120, 240), bool)
    part[slice(*rows), slice(*columns)] = True
    assert _has_content(part) is is_content


@pytest.mark.parametrize(
    ("box", "stays"), [((2, 10, 50, 60), False), ((2, 11, 50, 60), True), ((50, 60, 2, 20), False)]
)
def test_what_is_left_of_a_frame_lies_within_a_twelfth_of_its_sides(
    box: tuple[int, int, int, int], stays: bool
) -> None:
    part = np.zeros((120, 240), bool)
    part[box[0] : box[1], box[2] : box[3]] = True
    _drop_rest_of_frame(part, part.copy(), 1.0)
    assert part.any() == stays
