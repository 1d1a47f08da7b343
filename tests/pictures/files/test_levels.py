"""Which levels a picture is read by: its dataset's where it lies within them, else its own."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from ensemble.files.image_levels import LevelRange, Levels, describe_levels
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels, select_image_levels


def select_levels(numbers: list[float], levels: PictureLevels, kind: type = np.float32) -> Levels | None:
    """The levels of a picture of one row of numbers."""
    values: NDArray[Any] = np.array([numbers], kind)
    found = LevelRange()
    found.add(values)
    return select_image_levels(Image.fromarray(values), levels, lambda _: found)


@pytest.mark.parametrize(
    ("numbers", "chosen"),
    [
        ([-1.0, 1.0], (-1.0, 1.0)),
        ([-0.5, 0.25], (-1.0, 1.0)),
        ([-0.5, 1.01], (-1.0, 1.0)),  # a little above its white, as what is interpolated
        ([-0.5, 1.5], (-0.5, 1.5)),
        ([-2.0, 0.5], (-2.0, 0.5)),  # below its black: by itself rather than cut off
        ([-1.01, 0.5], (-1.01, 0.5)),
    ],
)
def test_a_picture_of_fractions_is_read_by_its_dataset_only_within_its_black_and_white(
    numbers: list[float], chosen: Levels
) -> None:
    assert select_levels(numbers, PictureLevels(fraction=(-1.0, 1.0))) == pytest.approx(chosen)


def test_a_picture_of_many_bits_is_read_by_those_of_its_dataset_or_its_own() -> None:
    levels = PictureLevels(deep=(0.0, 4095.0), fraction=(0.0, 1.0))
    assert select_levels([7, 900], levels, np.uint16) == (0.0, 4095.0)
    assert select_levels([7, 5000], levels, np.uint16) == (0.0, 16383.0)
    assert select_levels([7, 900], STANDARD_LEVELS, np.uint16) == (0.0, 1023.0)
    assert select_levels([7, 900], PictureLevels(fraction=(0.0, 1.0)), np.uint16) == (0.0, 1023.0)


def test_an_eight_bit_picture_uses_the_levels_of_its_dataset_if_it_is_not_brighter() -> None:
    levels = PictureLevels(shallow=(0.0, 16.0))
    assert select_levels([0, 16], levels, np.uint8) == (0.0, 16.0)
    assert select_levels([0, 17], levels, np.uint8) is None
    assert select_levels([0, 16], STANDARD_LEVELS, np.uint8) is None


def test_the_level_of_black_is_reported_before_that_of_white() -> None:
    assert describe_levels((0.0, 4095.0)) == "0 is taken as black and 4,095 (12 bits) as white"
    assert describe_levels((-0.5, 1.25)) == "-0.5 is taken as black and 1.25 as white"
