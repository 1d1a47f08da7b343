"""What a report's page makes of drawings and pictures is what the program makes of them."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from playwright.sync_api import Page

from ensemble import datasets
from ensemble.pictures.files.levels import STANDARD_LEVELS
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import AUTOMATIC_OPTIONS
from ensemble.pictures.segmentation.mnist_form import convert_to_mnist
from ensemble.pictures.whole_picture import NetworkInputFormat, crop_picture
from ensemble.report.page_assets import read_static_file

INK = """({ data, width, height }) => Array.from(
  prepareInput({ ink: Uint8Array.from(data), width, height }, [28, 28, 1], true, "dark") ?? [])"""
PICTURE = """({ data, width, height, shape, written, ground, clear }) => Array.from(
  prepareInput({ rgba: Uint8Array.from(data), width, height }, shape, written, ground, clear) ?? [])"""


def prepare_on_page(page: Page, call: str, asked: dict[str, Any]) -> NDArray[np.int64]:
    """What a function of the page's own file gives."""
    prepared = page.evaluate(f"(asked) => {{ {read_static_file('preparation.js')}\nreturn ({call})(asked) }}", asked)
    return np.array(prepared, np.int64)


def prepare_pixels_on_page(
    page: Page, pixels: NDArray[np.uint8], shape: tuple[int, int, int], written: bool, ground: str, clear: str = ""
) -> NDArray[np.int64]:
    """A picture (h, w, 3 or 4) as the page prepares it, in the shape of the networks' images."""
    rgba = np.asarray(Image.fromarray(pixels).convert("RGBA"))
    height, width = pixels.shape[:2]
    asked = {
        "data": rgba.ravel().tolist(),
        "width": width,
        "height": height,
        "shape": shape,
        "written": written,
        "ground": ground,
        "clear": clear,
    }
    return prepare_on_page(page, PICTURE, asked).reshape(shape)


def draw_strokes(seed: int) -> NDArray[np.uint8]:
    """Lines, and sometimes a loop, by a pen of any width on a sheet of any size: its ink."""
    rng = np.random.default_rng(seed)
    side = int(rng.integers(60, 180))
    pen = int(rng.integers(2, max(3, side // 6)))
    image = Image.new("L", (side, side * 2 // 3 if seed % 4 == 0 else side))
    paint = ImageDraw.Draw(image)
    points = [tuple(rng.integers(pen + 2, s - pen - 2) for s in image.size) for _ in range(4)]
    paint.line(points, fill=255, width=pen, joint="curve")
    if seed % 3 == 0:
        paint.ellipse((side * 0.2, side * 0.2, side * 0.6, side * 0.6), outline=255, width=pen)
    return np.asarray(image)


def test_ink_is_brought_to_mnists_form_as_on_classify(page: Page) -> None:
    apart = []
    for seed in range(12):
        ink = draw_strokes(seed)
        height, width = ink.shape
        asked = {"data": ink.ravel().tolist(), "width": width, "height": height}
        prepared = prepare_on_page(page, INK, asked).reshape(28, 28)
        apart.append(np.abs(prepared - convert_to_mnist(ink)[..., 0]))
    # A cell of the bench on the very edge of ink may fall to either side.
    assert np.mean(apart) < 0.05
    assert np.max(apart) < 32


def test_a_sheet_without_ink_is_nothing(page: Page) -> None:
    asked = {"data": [0] * 2500, "width": 50, "height": 50}
    assert prepare_on_page(page, INK, asked).size == 0
    asked = {"data": [250] * 10_000, "width": 50, "height": 50}
    more = {"shape": (28, 28, 1), "written": True, "ground": "dark", "clear": ""}
    assert prepare_on_page(page, PICTURE, asked | more).size == 0


@pytest.mark.parametrize("dark_paper", [False, True])
def test_a_digit_on_paper_is_the_ink_that_was_written(page: Page, dark_paper: bool) -> None:
    ink = draw_strokes(5)
    shade = 40 + ink.astype(np.float64) * 0.7  # neither black nor white
    grey = (shade if dark_paper else 255 - shade).astype(np.uint8)
    pixels = np.repeat(grey[..., None], 3, axis=2)
    prepared = prepare_pixels_on_page(page, pixels, (28, 28, 1), True, "dark")
    assert np.abs(prepared - convert_to_mnist(ink)).mean() < 2


def test_an_image_in_the_networks_form_stays_as_it_is(page: Page) -> None:
    image = datasets.load_dataset("digits").test_images[7]
    prepared = prepare_pixels_on_page(page, image.repeat(3, axis=2), (28, 28, 1), True, "dark")
    assert np.array_equal(prepared, image)


@pytest.mark.parametrize(
    ("size", "shape", "ground", "rim"),
    [
        ((90, 70), (32, 32, 3), "", 120),
        ((40, 61), (64, 48, 3), "", 120),
        ((57, 120), (28, 28, 1), "dark", 250),
        ((57, 120), (28, 28, 1), "light", 250),
        ((32, 32), (32, 32, 3), "", 120),
    ],
)
def test_a_picture_of_anything_is_cut_and_resized_as_on_classify(
    page: Page, size: tuple[int, int], shape: tuple[int, int, int], ground: str, rim: int
) -> None:
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 255, (6, 6, 3)).astype(np.uint8)
    pixels = np.full((*size, 3), rim, np.uint8)
    middle = Image.fromarray(coarse).resize((size[1] - 8, size[0] - 8), Image.Resampling.BICUBIC)
    pixels[4:-4, 4:-4] = np.asarray(middle)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    picture = open_picture(content.getvalue())
    wanted = crop_picture(picture, AUTOMATIC_OPTIONS, NetworkInputFormat(shape, ground))
    prepared = prepare_pixels_on_page(page, pixels, shape, False, ground)
    assert np.abs(prepared - wanted.image).max() <= 1


def test_light_ink_on_nothing_is_the_ink_that_was_written(page: Page) -> None:
    ink = draw_strokes(5)
    prepared = [
        prepare_pixels_on_page(page, np.stack([np.full_like(ink, level)] * 3 + [ink], 2), (28, 28, 1), True, "dark")
        for level in (255, 0)
    ]
    for each in prepared:
        assert np.abs(each - convert_to_mnist(ink)).mean() < 2


@pytest.mark.parametrize("clear", ["", "white", "black", "mixed"])
@pytest.mark.parametrize(("level", "share"), [(255, 0.3), (180, 0.3), (60, 0.3), (255, 0.9), (180, 0.9), (240, 1)])
def test_a_transparent_picture_stands_on_the_ground_that_the_program_gives_it(
    page: Page, level: int, share: float, clear: str
) -> None:
    pixels = np.full((32, 32, 4), level, np.uint8)
    pixels[:, round(32 * share) :, 3] = 0
    pixels[3:5, :5, 3] = 90
    pixels[10, 3, :3] = level - 30
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    picture = open_picture(content.getvalue(), replace(STANDARD_LEVELS, ground=clear))
    wanted = crop_picture(picture, AUTOMATIC_OPTIONS, NetworkInputFormat((32, 32, 3), ""))
    prepared = prepare_pixels_on_page(page, pixels, (32, 32, 3), False, "", clear)
    assert np.abs(prepared - wanted.image).max() <= 1
