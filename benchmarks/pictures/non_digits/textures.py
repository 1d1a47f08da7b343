"""Photographs of textures from near: stone, wood, cloth, gravel and rust."""

from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage

from benchmarks.pictures.non_digits.objects import texture
from benchmarks.pictures.non_digits.presenting import SHARP
from benchmarks.pictures.pens import clouds
from benchmarks.pictures.rendering import Photo, encode

SIDE = 256


def stone(draws: Any) -> np.ndarray:
    """Noise of natural statistics (SIDE, SIDE)."""
    return texture(draws, SIDE)


def wood(draws: Any) -> np.ndarray:
    """Rings of a tree, cut along."""
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE
    bent = columns + 0.04 * texture(draws, SIDE) + 0.3 * (rows - draws.uniform()) ** 2
    return np.sin(draws.uniform(40, 120) * bent) + 0.3 * draws.standard_normal((SIDE, SIDE))


def cloth(draws: Any) -> np.ndarray:
    """Threads over and under each other."""
    rows, columns = np.mgrid[:SIDE, :SIDE] * draws.uniform(0.5, 1.2)
    over = (np.floor(rows / np.pi) + np.floor(columns / np.pi)) % 2
    woven = np.where(over > 0, np.abs(np.sin(rows)), np.abs(np.sin(columns)))
    return 2 * woven + 0.4 * texture(draws, SIDE)


def gravel(draws: Any) -> np.ndarray:
    """Stones beside one another, each of a grey of its own, dark in between."""
    seeds = np.ones((SIDE, SIDE), bool)
    places = draws.integers(SIDE, size=(int(draws.integers(60, 260)), 2))
    seeds[tuple(places.T)] = False
    away, nearest = ndimage.distance_transform_edt(seeds, return_indices=True)
    own = draws.uniform(-1, 1, (SIDE, SIDE))[tuple(nearest)]
    return own - 0.12 * away + 0.3 * texture(draws, SIDE)


def rust(draws: Any) -> np.ndarray:
    """Spots with edges on a ground of one colour."""
    spots = clouds(draws, (SIDE, SIDE), draws.uniform(12, 50)) + 0.5 * texture(draws, SIDE)
    return 2 * np.tanh(draws.uniform(2, 8) * (spots - draws.uniform(0.2, 1.2)))


def picture(draws: Any, number: int) -> Photo:
    """One of the textures, in colour, in light that falls off."""
    kinds = (stone, wood, cloth, gravel, rust)
    rough = kinds[number % len(kinds)](draws)
    rough = (rough - rough.mean()) / rough.std()
    ground = draws.uniform(70, 200) + draws.uniform(-25, 25, 3)
    fall = 1 + draws.uniform(-0.3, 0.3) * np.linspace(-1, 1, SIDE)[None, :, None]
    pixels = (ground + draws.uniform(12, 40) * rough[..., None]) * fall
    small = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    large = small.resize((640, 640), Image.Resampling.BICUBIC)
    return Photo(*encode(np.asarray(large, np.float32), SHARP, draws))
