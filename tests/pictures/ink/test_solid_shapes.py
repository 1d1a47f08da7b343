"""Filled shapes are ink as a whole: no square that fits into them is taken for paper."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.ink.extraction import find_ink
from ensemble.pictures.preparation import prepare_picture
from tests.pictures.picture_files import encoded

SIDE = 200
RED, WHITE = (200, 30, 40), (250, 250, 248)


def heart(share: float) -> np.ndarray:
    """How much a filled heart covers (H, W) in 0..1, so wide in shares of the picture."""
    side = 4 * SIDE
    sheet, wide = Image.new("L", (side, side)), share * side
    draw, left, top = ImageDraw.Draw(sheet), (side - wide) / 2, (side - 0.9 * wide) / 2
    lobe = 0.54 * wide
    draw.ellipse((left, top, left + lobe, top + lobe), 255)
    draw.ellipse((left + wide - lobe, top, left + wide, top + lobe), 255)
    corners = [(0.08, 0.46), (0.5, 0.9), (0.92, 0.46), (0.5, 0.16)]
    draw.polygon([(left + x * wide, top + y * wide) for x, y in corners], 255)
    return np.asarray(sheet.reduce(4), np.float32) / 255


def disc(share: float) -> np.ndarray:
    side = 4 * SIDE
    sheet, edge = Image.new("L", (side, side)), (1 - share) / 2 * side
    ImageDraw.Draw(sheet).ellipse((edge, edge, side - edge, side - edge), 255)
    return np.asarray(sheet.reduce(4), np.float32) / 255


def painted(cover: np.ndarray, *, camera: bool) -> np.ndarray:
    """Red on white, uint8: as a program paints it, or as a camera sees it in a falling light."""
    picture = np.array(WHITE) + cover[..., None] * (np.array(RED, np.float32) - np.array(WHITE))
    if camera:
        picture *= np.linspace(1, 0.6, SIDE)[None, :, None]
        picture = ndimage.gaussian_filter(picture, (0.7, 0.7, 0))
        picture += np.random.default_rng(1).normal(0, 3, picture.shape)
    return picture.clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("camera", [False, True], ids=["painted", "photographed"])
@pytest.mark.parametrize(
    ("cover", "share"), [(heart, 0.6), (heart, 0.8), (heart, 0.9), (disc, 0.5), (disc, 0.7), (disc, 0.8)]
)
def test_a_filled_shape_is_ink_all_over(cover, share: float, camera: bool) -> None:
    truth = cover(share) > 0.5
    mask = find_ink(painted(cover(share), camera=camera)).mask
    assert (mask & truth).sum() / (mask | truth).sum() > 0.93


def test_a_filled_heart_is_one_mark() -> None:
    picture = open_picture(encoded(Image.fromarray(painted(heart(0.9), camera=False))))
    assert len(prepare_picture(picture).marks) == 1
