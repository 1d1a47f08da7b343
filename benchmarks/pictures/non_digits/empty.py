"""Pictures that nobody has written on: paper, lines, noise, photographs of a garden and a house."""

from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.pictures import pens
from benchmarks.pictures.non_digits.presenting import SHARP, SIZE, on_paper
from benchmarks.pictures.rendering import Photo, encode
from benchmarks.pictures.styles import Style

PAPERS = ("white", "cream", "recycled", "yellow", "kraft", "green board")
LIGHTS = ("even", "gradient", "hand", "hard", "lamp")


def picture(draws: Any, number: int) -> Photo:
    """Blank paper, lines alone, noise, or a photograph, two of five times."""
    return (blank, scene, lines_only, scene, noise)[number % 5](draws, number // 5)


def blank(draws: Any, number: int) -> Photo:
    """Paper or a board with nothing on it."""
    del number
    return on_paper([], "gel", draws, Style(papers=PAPERS, lights=LIGHTS, size=SIZE))


def lines_only(draws: Any, number: int) -> Photo:
    """Ruled or squared paper."""
    kind = ("ruled", "squared")[number % 2]
    return on_paper([], "gel", draws, Style(lines=kind, lights=("hand",), size=SIZE))


def noise(draws: Any, number: int) -> Photo:
    """Smooth noise of one size."""
    grey = pens.clouds(draws, (360, 480), (2, 4, 9, 25, 60)[number % 5]) * draws.uniform(20, 60)
    return Photo(*encode(128 + np.repeat(grey[..., None], 3, axis=2), SHARP, draws))


@cache
def samples() -> tuple[np.ndarray, ...]:
    """Two photographs that come with scikit-learn."""
    from sklearn.datasets import load_sample_images

    return tuple(np.asarray(image) for image in load_sample_images().images)


def scene(draws: Any, number: int) -> Photo:
    """A part of a photograph, of an eighth up to all of it each way."""
    image = samples()[number % 2]
    tall, wide = (round(side * draws.uniform(0.12, 1)) for side in image.shape[:2])
    top, left = draws.integers(image.shape[0] - tall + 1), draws.integers(image.shape[1] - wide + 1)
    cut = Image.fromarray(image[top : top + tall, left : left + wide])
    size = [round(side * 600 / max(cut.size)) for side in cut.size]
    large = cut.resize(size, Image.Resampling.BICUBIC)
    return Photo(*encode(np.asarray(large, np.float32), SHARP, draws))
