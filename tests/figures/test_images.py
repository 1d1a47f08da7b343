"""Test images as pictures, and their probabilities as bars and dots."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.datasets.registry import DIGIT_NAMES, FASHION_NAMES
from ensemble.figures import probability_bars, thumbnails
from ensemble.figures.palette import MEMBER_HUES, MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette
from tests.analysis.draws import distributions


def test_the_strip_holds_the_pixels_as_they_are() -> None:
    images = np.random.default_rng(0).integers(0, 256, (7, 28, 28, 1), np.uint8)
    raw = base64.b64decode(thumbnails.encode_image_strip(images).removeprefix("data:image/png;base64,"))
    read = np.asarray(Image.open(io.BytesIO(raw)))
    for place in range(7):
        np.testing.assert_array_equal(read[:, 28 * place : 28 * place + 28], images[place, ..., 0])


def test_an_enlarged_image_is_not_smoothed() -> None:
    image = np.random.default_rng(0).integers(0, 256, (28, 28, 1), np.uint8)
    read = np.asarray(Image.open(io.BytesIO(thumbnails.encode_enlarged_image(image, 168))))
    assert read.shape == (168, 168)
    np.testing.assert_array_equal(read[3::6, 3::6], image[..., 0])
    assert set(np.unique(read)) == set(np.unique(image))


@pytest.mark.parametrize("names", [DIGIT_NAMES, FASHION_NAMES])
@pytest.mark.parametrize(("members", "shown"), [(1, 1), (5, 13), (32, 60)])
def test_a_sheet_has_a_place_for_every_image(names: tuple[str, ...], members: int, shown: int) -> None:
    made = evaluate_predictions(distributions(members, 80, 10), np.zeros(80, int))
    images = np.full((shown, 28, 28, 1), 255, np.uint8)
    raw = thumbnails.render_image_sheet(images, made, np.arange(shown), names, "A run")
    read = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"))
    marks = [np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)]) for hue in (RIGHT_COLOR, WRONG_COLOR)]
    right = int(made.right[:shown].sum())
    under = 84 * 3  # pixels of the line under each image
    assert int((read == marks[0]).all(axis=2).sum()) == right * under
    assert int((read == marks[1]).all(axis=2).sum()) == (shown - right) * under


@pytest.mark.parametrize(
    ("shape", "rows", "columns"),
    # Three pixels for one in a square of 84: what is half as wide has 21 on either side.
    [((28, 14), (0, 83), (21, 62)), ((14, 28), (21, 62), (0, 83))],
)
def test_an_image_of_a_sheet_stands_in_the_middle_of_its_square(
    shape: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    made = evaluate_predictions(distributions(1, 1, 10), np.zeros(1, int))
    raw = thumbnails.render_image_sheet(np.zeros((1, *shape, 1), np.uint8), made, np.arange(1), DIGIT_NAMES, "")
    square = np.asarray(Image.open(io.BytesIO(raw)).convert("L"))[29 : 29 + 84, 14 : 14 + 84]
    down, across = np.nonzero(square == 0)
    assert (down.min(), down.max()) == rows
    assert (across.min(), across.max()) == columns


def test_the_title_of_a_sheet_stands_in_the_margin_and_clear_of_the_images() -> None:
    made = evaluate_predictions(distributions(1, 1, 10), np.zeros(1, int))
    images = np.zeros((1, 28, 28, 1), np.uint8)
    raw = thumbnails.render_image_sheet(images, made, np.arange(1), DIGIT_NAMES, "EEEE")
    rows, columns = np.nonzero(np.asarray(Image.open(io.BytesIO(raw)).convert("L"))[:28] < 128)
    assert 7 <= rows.min() < rows.max() < 14 + 15
    assert columns.min() >= 14


def test_the_chart_holds_the_numbers_themselves(palette: Palette) -> None:
    made = evaluate_predictions(distributions(5, 3, 10), np.array([0, 1, 2]))
    bar, *dots = json.loads(probability_bars.plot_probability_bars(made, 1, DIGIT_NAMES, "A title", palette).to_json())[
        "data"
    ]
    np.testing.assert_allclose(read_numbers(bar["x"]), made.averaged[1])
    assert [dot["marker"]["color"] for dot in dots] == list(MEMBER_HUES[:5])
    for member, dot in enumerate(dots):
        np.testing.assert_allclose(read_numbers(dot["x"]), made.probabilities[member, 1])
        assert np.round(read_numbers(dot["y"])).tolist() == list(range(10))
    hue = RIGHT_COLOR if made.right[1] else WRONG_COLOR
    assert bar["marker"]["color"][made.said[1]] == hue
    assert bar["hovertext"][0].startswith("The ensemble gives 0 ")


def test_many_members_share_one_hue_in_the_chart(palette: Palette) -> None:
    made = evaluate_predictions(distributions(9, 1, 10), np.array([0]))
    dots = probability_bars.build_member_dots(made, 0, DIGIT_NAMES, np.arange(10), palette)
    assert {dot["marker"]["color"] for dot in dots} == {MUTED_COLOR}


def read_numbers(values: object) -> np.ndarray:
    """Numbers of a figure: a list, or as Plotly packs an array."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values, float)
