"""Ink is found in pictures that end where their ink ends, as in those with a margin."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from ensemble import datasets
from ensemble.pictures.ink.extraction import find_ink


def cut_out(number: int, side: int) -> np.ndarray:
    """A digit enlarged and cut off at its ink: float (h, w), 255 ink."""
    image = datasets.load_dataset("digits").test_images[number, :, :, 0]
    large = np.asarray(Image.fromarray(image).resize((side, side), Image.Resampling.BICUBIC))
    rows, columns = (np.flatnonzero((large > 100).any(axis=axis)) for axis in (1, 0))
    return large[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(float)


def likeness(picture: np.ndarray, cover: np.ndarray) -> float:
    """Shared ink by the ink of both together."""
    grey = np.rint(picture).clip(0, 255).astype(np.uint8)
    mask, truth = find_ink(np.repeat(grey[..., None], 3, axis=2)).mask, cover > 127
    return float((mask & truth).sum() / (mask | truth).sum())


@pytest.mark.parametrize("side", [48, 128, 400])
@pytest.mark.parametrize("number", [0, 2, 5])
def test_a_digit_without_any_margin_is_found_whole(number: int, side: int) -> None:
    cover = cut_out(number, side)
    assert likeness(255 - cover, cover) > 0.8


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("broad", [14, 16])
def test_a_broad_pen_s_ink_is_what_hangs_together(broad: int, *, inverted: bool) -> None:
    """A ring and a ring under it, cut at its ink, of which about half the picture is."""
    sheet = Image.new("L", (70, 110))
    draw = ImageDraw.Draw(sheet)
    for box in ((0, 0, 69, 62), (0, 47, 69, 109)):
        draw.ellipse(box, outline=255, width=broad)
    cover = np.asarray(sheet.filter(ImageFilter.GaussianBlur(0.7)), float)
    assert 0.5 < (cover > 127).mean() < 0.62
    assert likeness(cover if inverted else 255 - cover, cover) > 0.85


def test_a_digit_s_own_side_is_no_printed_line() -> None:
    sheet = Image.new("L", (50, 64))
    ring = [(22, 0), (3, 30), (2, 58), (14, 61), (36, 50), (47, 22), (44, 5), (20, 3)]
    ImageDraw.Draw(sheet).line(ring, 255, 6, "curve")
    cover = np.asarray(sheet.filter(ImageFilter.GaussianBlur(0.6)), float)
    assert likeness(cover, cover) > 0.8
