"""Pictures of any size and of colour, in the same place on the page as a digit's."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import thumbnails
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR
from tests.analysis.draws import distributions

SHAPES = [(8, 8, 1), (16, 16, 3), (28, 28, 1), (32, 32, 3), (20, 40, 3), (96, 64, 1), (224, 224, 3)]


def drawn(count: int, shape: tuple[int, int, int]) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (count, *shape), np.uint8)


def opened(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_picture_is_enlarged_by_a_whole_number_or_shrunk_into_its_place(shape: tuple[int, int, int]) -> None:
    wide, high = thumbnails.compute_display_size(shape, 84)
    assert max(wide, high) <= 84
    times = 84 // max(shape[:2])
    if times:
        assert (wide, high) == (times * shape[1], times * shape[0])
    else:
        assert max(wide, high) == 84
        assert wide / high == pytest.approx(shape[1] / shape[0], rel=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_enlarged_picture_holds_its_own_pixels_and_a_shrunk_one_their_means(shape: tuple[int, int, int]) -> None:
    image = drawn(1, shape)[0]
    read = opened(thumbnails.encode_enlarged_image(image, 168)).reshape(
        *thumbnails.compute_display_size(shape, 168)[::-1], shape[2]
    )
    times = 168 // max(shape[:2])
    if times:
        np.testing.assert_array_equal(read[times // 2 :: times, times // 2 :: times], image)
    else:
        np.testing.assert_allclose(read.mean(axis=(0, 1)), image.mean(axis=(0, 1)), atol=1.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_strip_holds_every_picture_where_the_page_looks_for_it(shape: tuple[int, int, int]) -> None:
    images = drawn(5, shape)
    raw = base64.b64decode(thumbnails.encode_image_strip(images).removeprefix("data:image/png;base64,"))
    read = opened(raw)
    high, wide = read.shape[0], read.shape[1] // 5
    assert (wide, high) == (min(shape[1], wide), min(shape[0], high))
    assert wide / high == pytest.approx(shape[1] / shape[0], rel=0.02)
    for place in range(5):
        found = read[:, wide * place : wide * (place + 1)].reshape(high, wide, shape[2])
        if (high, wide) == shape[:2]:
            np.testing.assert_array_equal(found, images[place])
        else:
            np.testing.assert_allclose(found.mean(), images[place].mean(), atol=1.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sheet_keeps_a_picture_s_place_and_its_colour(shape: tuple[int, int, int]) -> None:
    made = evaluate_predictions(distributions(3, 6, 10), np.zeros(6, int))
    images = np.full((6, *shape), 255, np.uint8)
    images[..., 0] = 200
    read = opened(thumbnails.render_image_sheet(images, made, np.arange(6), DIGIT_NAMES, "A run"))
    wide, high = thumbnails.compute_display_size(shape, 84)
    colour = [200, 200, 200] if shape[2] == 1 else [200, 255, 255]
    assert int((read == colour).all(axis=2).sum()) == 6 * wide * high
    under = sum(
        int((read == [int(hue[i : i + 2], 16) for i in (1, 3, 5)]).all(axis=2).sum())
        for hue in (RIGHT_COLOR, WRONG_COLOR)
    )
    assert under == 6 * 84 * 3


def test_four_channels_are_shown_without_the_last() -> None:
    image = drawn(1, (8, 8, 4))[0]
    np.testing.assert_array_equal(opened(thumbnails.encode_enlarged_image(image, 8)), image[..., :3])
