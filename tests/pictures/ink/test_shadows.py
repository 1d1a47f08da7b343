"""A pencil in the shadow of a hand: the shadow is no ink, however dark."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from ensemble.pictures.ink.extraction import find_ink


def sheet(level: float, soft: float) -> tuple[np.ndarray, np.ndarray]:
    """A pencil's ring on paper (600, 800, 3), half of it in a shadow, and where the ring is."""
    ring = Image.new("L", (800, 600))
    ImageDraw.Draw(ring).ellipse((200, 180, 430, 420), outline=255, width=11)
    cover = ndimage.gaussian_filter(np.asarray(ring, np.float32) / 255, 0.8)
    shade = np.zeros((600, 800), np.float32)
    shade[260:, 380:] = shade[300:420, 340:400] = 1
    light = 1 - level * ndimage.gaussian_filter(shade, soft)
    grain = np.random.default_rng(0).normal(0, 1.5, cover.shape)
    grey = 225 * light * (1 - 0.55 * cover) + grain
    return np.repeat(grey.clip(0, 255).astype(np.uint8)[..., None], 3, axis=2), cover > 0.5


@pytest.mark.parametrize("level", [0.4, 0.55])
def test_a_shadow_as_dark_as_the_pencil_is_no_ink(level: float) -> None:
    picture, ring = sheet(level, soft=14)
    found = find_ink(picture).mask
    assert (found & ring).sum() > 0.9 * ring.sum()
    assert (found & ~ndimage.binary_dilation(ring, iterations=4)).sum() < 0.15 * ring.sum()
