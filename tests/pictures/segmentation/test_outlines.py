"""A digit drawn by its outline is filled; loops of digits that a pen wrote stay open."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.preparation import prepare_picture
from ensemble.pictures.segmentation.outlines import fill_outline


def draw_digit(character: str, outlined: bool) -> np.ndarray:
    """A printed digit as ink, uint8 (h, w): solid, or its outline alone."""
    sheet = Image.new("L", (400, 400))
    font = ImageFont.load_default(300)
    ImageDraw.Draw(sheet).text((100, 20), character, 255, font)
    solid = np.asarray(sheet) > 127
    if outlined:
        solid = ndimage.binary_dilation(solid, iterations=3) & ~ndimage.binary_erosion(solid, iterations=3)
    return solid.astype(np.uint8) * np.uint8(255)


@pytest.mark.parametrize("character", "235679")
def test_an_outline_is_filled_and_the_loops_of_the_digit_stay_open(character) -> None:
    filled, solid = fill_outline(draw_digit(character, True)), draw_digit(character, False)
    grown = ndimage.binary_dilation(solid > 0, iterations=4)
    assert (filled[solid > 0] == 255).all()
    assert not (filled[~grown] > 0).any()


@pytest.mark.parametrize("character", "0123456789")
def test_a_solid_digit_is_left_as_it_is(character) -> None:
    solid = draw_digit(character, False)
    assert fill_outline(solid) is solid


@pytest.mark.parametrize("wide", [4, 10, 24])
def test_thin_loops_of_a_pen_are_no_outlines(wide) -> None:
    sheet = Image.new("L", (300, 400))
    pen = ImageDraw.Draw(sheet)
    pen.ellipse((80, 30, 200, 180), None, 255, wide)
    pen.ellipse((60, 180 - wide, 220, 370), None, 255, wide)
    eight = np.asarray(sheet)
    assert fill_outline(eight) is eight
    zero = np.asarray(Image.fromarray(eight[180:]))
    assert fill_outline(zero) is zero


def test_a_note_says_that_an_outline_was_filled() -> None:
    pixels = np.repeat(255 - draw_digit("5", True)[..., None], 3, axis=2)
    prepared = prepare_picture(Picture(pixels, 1.0, pixels.shape[1::-1], "PNG"))
    assert "Filled: 1 mark drawn as an outline." in prepared.notes
