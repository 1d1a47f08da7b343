"""Patches of another lightness than the page become page, and the ink on them stays where it is."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import PictureOptions, find_ink
from ensemble.pictures.ink.patches import flatten_patches
from ensemble.pictures.preparation import prepare_picture

SIZE = 400, 300


def draw_page(
    patches: list[tuple[int, int, int, int]], grey: int, ink: int, page: int = 250
) -> tuple[np.ndarray, np.ndarray]:
    """A page with a 2-like stroke on each patch (left, top, right, bottom), and where ink is."""
    sheet, strokes = Image.new("L", SIZE, page), Image.new("L", SIZE)
    for left, top, right, bottom in patches:
        ImageDraw.Draw(sheet).rectangle((left, top, right - 1, bottom - 1), grey)
        wide, high = right - left, bottom - top
        points = [(0.3, 0.3), (0.5, 0.2), (0.7, 0.35), (0.3, 0.75), (0.72, 0.75)]
        flat = [(left + x * wide, top + y * high) for x, y in points]
        ImageDraw.Draw(sheet).line(flat, ink, 9, "curve")
        ImageDraw.Draw(strokes).line(flat, 255, 9, "curve")
    pixels = np.repeat(np.asarray(sheet)[..., None], 3, axis=2)
    return pixels, np.asarray(strokes) > 0


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Shared pixels by those of both together."""
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize(("grey", "ink", "page"), [(180, 40, 250), (90, 250, 250), (60, 200, 245), (150, 255, 20)])
def test_ink_on_a_patch_is_found_and_the_patch_is_not(grey, ink, page) -> None:
    pixels, strokes = draw_page([(120, 60, 300, 260)], grey, ink, page)
    found = find_ink(pixels)
    assert found.patches == 1
    assert overlap(found.mask, strokes) > 0.8


def test_a_patch_in_falling_light_is_found() -> None:
    pixels, strokes = draw_page([(100, 40, 320, 280)], 150, 50)
    slope = np.linspace(-20, 20, 220)[None, :, None]
    own = pixels[40:280, 100:320].astype(float)
    own += slope * (own > 100)
    pixels = pixels.copy()
    pixels[40:280, 100:320] = own.astype(np.uint8)
    found = find_ink(pixels)
    assert found.patches == 1
    assert overlap(found.mask, strokes) > 0.8


def test_each_of_several_patches_gives_its_mark_and_a_note_says_so() -> None:
    pixels, _ = draw_page([(20, 60, 130, 240), (150, 60, 260, 240), (280, 60, 390, 240)], 140, 30)
    prepared = prepare_picture(Picture(pixels, 1.0, SIZE, "PNG"))
    assert [mark.box[0] // 130 for mark in prepared.marks] == [0, 1, 2]
    assert "Read on 3 patches of another lightness than the page." in prepared.notes


def test_a_patch_that_leans_leaves_nothing_of_its_sides() -> None:
    pixels, strokes = draw_page([(80, 50, 330, 260)], 120, 20)
    lean = Image.fromarray(pixels).rotate(1.5, Image.Resampling.BICUBIC, fillcolor=(250,) * 3)
    turned = Image.fromarray(strokes).rotate(1.5)
    assert overlap(find_ink(np.asarray(lean)).mask, np.asarray(turned)) > 0.75


@pytest.mark.parametrize(
    ("form", "box", "fill", "width"),
    [
        ("rectangle", (150, 60, 190, 240), 30, 1),  # a broad 1
        ("rectangle", (100, 60, 300, 240), None, 50),  # a 0 of straight bars
        ("rectangle", (100, 60, 300, 240), None, 4),  # an empty box
        ("ellipse", (100, 40, 300, 270), 30, 1),
    ],
)
def test_what_is_solid_or_hollow_is_no_patch(form, box, fill, width) -> None:
    sheet = Image.new("L", SIZE, 250)
    getattr(ImageDraw.Draw(sheet), form)(box, fill, 30, width)
    pixels = np.repeat(np.asarray(sheet)[..., None], 3, axis=2)
    flat, count = flatten_patches(pixels)
    assert count == 0
    assert flat is pixels


def test_who_says_which_ink_it_is_gets_the_picture_as_it_is() -> None:
    pixels, _ = draw_page([(120, 60, 300, 260)], 90, 250)
    assert find_ink(pixels, PictureOptions(ink="dark")).patches == 0
