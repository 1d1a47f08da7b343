"""What a form or a table leaves of its frame around one digit is no part of that digit."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.preparation import prepare_picture


def cell(text: str, *lines: tuple[int, int, int, int]) -> Picture:
    """Printed digits in 120×120 pixels, with dark lines (left, top, right, bottom)."""
    sheet = Image.new("L", (480, 480), 235)
    draw = ImageDraw.Draw(sheet)
    draw.text((240, 230), text, 30, ImageFont.load_default(260 if len(text) == 1 else 200), anchor="mm")
    for line in lines:
        draw.rectangle([4 * edge for edge in line], 30)
    small = np.asarray(sheet.resize((120, 120), Image.Resampling.BOX))
    return Picture(np.repeat(small[..., None], 3, axis=2), 1.0, (120, 120), "PNG")


@pytest.mark.parametrize(
    "lines",
    [
        [(2, 103, 117, 106)],
        [(2, 8, 117, 11)],
        [(10, 3, 13, 117)],
        [(2, 8, 117, 11), (2, 103, 117, 106)],
        [(10, 3, 13, 117), (107, 3, 110, 117)],
    ],
    ids=["below", "above", "beside", "above and below", "on both sides"],
)
def test_a_cell_s_lines_are_left_out(lines: list[tuple[int, int, int, int]]) -> None:
    (alone,), (within,) = prepare_picture(cell("3")).marks, prepare_picture(cell("3", *lines)).marks
    np.testing.assert_allclose(within.box, alone.box, atol=2)


def test_a_one_beside_another_digit_stays() -> None:
    assert len(prepare_picture(cell("131")).marks) == 3


def test_a_five_whose_bar_is_set_on_afterwards_is_one_digit() -> None:
    sheet = Image.new("L", (600, 450), 235)
    draw = ImageDraw.Draw(sheet)
    draw.line([(180, 100), (150, 190), (250, 230), (230, 310), (110, 300)], 30, 34, "curve")
    draw.line([(222, 82), (420, 70)], 30, 34)
    pixels = np.repeat(np.asarray(sheet)[..., None], 3, axis=2)
    assert len(prepare_picture(Picture(pixels, 1.0, (600, 450), "PNG")).marks) == 1
