"""Pictures of what is not a digit: paper, words, drawings, scenes; each kind by a function.

Letters that can be read as digits (O, I, l, S, Z, B, b, G, g, q) are left out.
"""

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.pictures import paper, pens
from benchmarks.pictures.handwriting import curve, handwritten, ring, trace
from benchmarks.pictures.pens import PENS
from benchmarks.pictures.rendering import Layer, Photo, camera, encode
from benchmarks.pictures.styles import Style

LETTERS = "AEFHKMNPRWXkmnwx"
WORDS = ("the", "paper", "Monday", "milk", "thank you", "Anna", "home", "where", "water", "remark")
TEXT = (
    "The morning had been quiet when the farmer went down to the river with two "
    "baskets. Nobody on the path knew her name, and the water ran high under the "
    "old bridge where the children used to wait for the mail to come. "
)
KNOWN = (  # those whose files come with the package, digits left out: clock and coins have some
    "horse", "page", "text", "camera", "astronaut", "brick", "chelsea", "moon", "coffee",
    "grass", "gravel", "rocket",
)  # fmt: skip
PAPER = Style(pens=("gel", "ballpoint", "felt", "pencil"), lights=("even", "gradient", "hand"))
SHARP = Style(blur=(0.0, 0.4), noise=(0, 1))


def on_paper(covers: list[np.ndarray], pen: str, style: Style, draws: Any) -> Photo:
    """A photograph of a sheet that has these strokes on it, at random places."""
    width, height = style.size
    shape = round(1.24 * height), round(1.24 * width)
    layer = Layer(shape)
    for cover in covers:
        cover = cover[: height - 20, : width - 20]
        room = height - cover.shape[0], width - cover.shape[1]
        top, left = (
            round(0.12 * side + draws.uniform(0.1, 0.9) * free)
            for side, free in zip((height, width), room, strict=True)
        )
        layer.put(cover, left, top)
    colour = np.array(PENS[pen].colours[0], np.float32)
    sheet = paper.paper(style.papers[draws.integers(len(style.papers))], shape, draws)
    if style.lines:
        sheet, _ = paper.rule(sheet, style.lines, draws.uniform(35, 90), draws)
    sheet += layer.cover[..., None] * (colour - sheet)
    matrix = paper.homography((height, width), draws.uniform(-5, 5), 0.01, draws)
    seen = paper.photograph(sheet, 0.12, matrix, draws)
    return Photo(*encode(camera(seen, style, draws), style, draws))


def pen_of(draws: Any) -> str:
    return PAPER.pens[draws.integers(len(PAPER.pens))]


def blank(draws: Any, number: int) -> Photo:
    del number
    papers = ("white", "cream", "recycled", "yellow", "kraft", "green board")
    lights = ("even", "gradient", "hand", "hard", "lamp")
    return on_paper([], "gel", Style(papers=papers, lights=lights), draws)


def lines_only(draws: Any, number: int) -> Photo:
    return on_paper(
        [], "gel", Style(lines=("ruled", "squared")[number % 2], lights=("hand",)), draws
    )


def noise(draws: Any, number: int) -> Photo:
    shape = (480, 640)
    grey = pens.clouds(draws, shape, (2, 4, 9, 25, 60)[number % 5]) * draws.uniform(20, 60)
    seen = 128 + np.repeat(grey[..., None], 3, axis=2)
    return Photo(*encode(seen, SHARP, draws))


def letter(draws: Any, number: int) -> Photo:
    pen = pen_of(draws)
    tall = draws.uniform(150, 450)
    return on_paper(
        [handwritten(LETTERS[number % len(LETTERS)], tall, pen, draws)], pen, PAPER, draws
    )


def word(draws: Any, number: int) -> Photo:
    pen = pen_of(draws)
    wide = draws.uniform(60, 130)
    return on_paper([handwritten(WORDS[number % len(WORDS)], wide, pen, draws)], pen, PAPER, draws)


def scribble(draws: Any, number: int) -> Photo:
    pen = pen_of(draws)
    if number % 2:  # to and fro, as something is crossed out
        count = draws.integers(12, 24)
        across = np.linspace(0, draws.uniform(0.8, 1.6), count) + draws.normal(size=count) * 0.03
        points = np.column_stack(
            [across, draws.uniform(0, 0.1, count) + 0.9 * (np.arange(count) % 2)]
        )
    else:
        points = draws.uniform(0, 1, size=(draws.integers(9, 18), 2))
    return on_paper(
        [trace([curve(points)], draws.uniform(250, 500), pen, draws)], pen, PAPER, draws
    )


def drawing(draws: Any, number: int) -> Photo:
    turn = np.arange(6) * 4 * np.pi / 5
    shapes = {
        "house": [
            np.array([[0, 1], [0, 0.4], [0.4, 0], [0.8, 0.4], [0.8, 1], [0, 1]]),
            np.array([[0, 0.4], [0.8, 0.4]]),
            np.array([[0.3, 1], [0.3, 0.65], [0.5, 0.65], [0.5, 1]]),
        ],
        "smiley": [
            ring(0.5, 0.5, 0.5), ring(0.32, 0.36, 0.05), ring(0.68, 0.36, 0.05),
            curve(np.array([[0.25, 0.6], [0.5, 0.8], [0.75, 0.6]])),
        ],
        "star": [np.column_stack([0.5 + 0.5 * np.sin(turn), 0.5 - 0.5 * np.cos(turn)])],
        "arrow": [
            np.array([[0, 0.5], [1.2, 0.45]]), np.array([[0.9, 0.2], [1.2, 0.45], [0.92, 0.7]]),
        ],
        "flower": [ring(0.5, 0.3, 0.12), *(ring(0.5 + 0.22 * np.sin(a), 0.3 + 0.22 * np.cos(a), 0.1)
                   for a in np.arange(6)), np.array([[0.5, 0.6], [0.52, 1.2]])],
    }  # fmt: skip
    paths = shapes[list(shapes)[number % len(shapes)]]
    shaky = [
        path + draws.normal(size=path.shape) * (0.01 if len(path) < 9 else 0.002) for path in paths
    ]
    pen = pen_of(draws)
    return on_paper([trace(shaky, draws.uniform(200, 500), pen, draws)], pen, PAPER, draws)


def page(draws: Any, number: int) -> Photo:
    """A printed page, or a part of one from near."""
    size = (22, 30, 44)[number % 3]
    image = Image.new("L", (1116, 1488), 255)
    font = ImageFont.load_default(size)
    lines: list[str] = []
    line = ""
    for text in (TEXT * 9).split()[number:]:
        if font.getlength(f"{line} {text}") > 950:
            lines, line = [*lines, line], text
        else:
            line = f"{line} {text}".strip()
    spacing = round(0.5 * size)
    ImageDraw.Draw(image).text((90, 70), "\n".join(lines), fill=25, font=font, spacing=spacing)
    sheet = paper.paper("white", (1488, 1116), draws)
    sheet *= np.asarray(image, np.float32)[..., None] / 255
    matrix = paper.homography((1200, 900), draws.uniform(-4, 4), 0.02, draws)
    seen = camera(paper.photograph(sheet, 0.12, matrix, draws), PAPER, draws)
    return Photo(*encode(seen, PAPER, draws))


@cache
def samples() -> tuple[np.ndarray, ...]:
    """Two photographs that come with scikit-learn."""
    from sklearn.datasets import load_sample_images

    return tuple(np.asarray(image) for image in load_sample_images().images)


def scene(draws: Any, number: int) -> Photo:
    image = samples()[number % 2]
    tall, wide = (round(side * draws.uniform(0.35, 1)) for side in image.shape[:2])
    top, left = draws.integers(image.shape[0] - tall + 1), draws.integers(image.shape[1] - wide + 1)
    cut = Image.fromarray(image[top : top + tall, left : left + wide])
    large = cut.resize(
        [round(side * 900 / max(cut.size)) for side in cut.size], Image.Resampling.BICUBIC
    )
    return Photo(*encode(np.asarray(large, np.float32), SHARP, draws))


def shoe(draws: Any, number: int) -> Photo:
    """Clothes, as the networks would see them: 28×28 pixels, large or as they are."""
    from ensemble import datasets

    images = datasets.load("fashion_mnist").test_images
    small = Image.fromarray(np.asarray(images[draws.integers(len(images))]).reshape(28, 28))
    large = small if number % 2 else small.resize((560, 560), Image.Resampling.BICUBIC)
    return Photo(*encode(np.asarray(large.convert("RGB"), np.float32), Style(kind="png"), draws))


def known_picture(draws: Any, number: int) -> Photo:
    """A picture of scikit-image's: those that come with the package itself."""
    from skimage import data

    image = np.asarray(getattr(data, KNOWN[number % len(KNOWN)])())
    image = 255 * image.astype(np.uint8) if image.dtype == bool else image
    flat = np.asarray(Image.fromarray(image).convert("RGB"), np.float32)
    return Photo(*encode(flat, SHARP, draws))


def kinds() -> dict[str, tuple[Callable[[Any, int], Photo], int]]:
    """Each kind's function and how many pictures there are of it, with what is installed here."""
    from ensemble import datasets

    found: dict[str, tuple[Callable[[Any, int], Photo], int]] = {
        "blank": (blank, 12), "lines only": (lines_only, 10), "noise": (noise, 10),
        "letter": (letter, 16), "word": (word, 10), "scribble": (scribble, 10),
        "drawing": (drawing, 10), "page of text": (page, 9), "scene": (scene, 10),
    }  # fmt: skip
    if datasets.is_prepared("fashion_mnist"):
        found["clothes"] = shoe, 10
    if importlib.util.find_spec("skimage"):
        found["known picture"] = known_picture, 12
    return found
