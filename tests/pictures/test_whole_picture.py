"""A picture as one image: what is cut, shrunk and exchanged, against pictures made for it."""

import io

import numpy as np
import pytest
from PIL import Image

from ensemble.errors import ImageError
from ensemble.pictures.files.picture import Picture, open_picture
from ensemble.pictures.ink.extraction import PictureOptions
from ensemble.pictures.preparation import AUTOMATIC_OPTIONS, SegmentedPicture, prepare_whole_picture
from ensemble.pictures.whole_picture import NetworkInputFormat

COLOUR, CLOTHES = NetworkInputFormat((32, 32, 3)), NetworkInputFormat((28, 28, 1), "dark")


def opened(pixels: np.ndarray, **more: object) -> Picture:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **more)
    return open_picture(file.getvalue())


def seen(prepared: SegmentedPicture) -> np.ndarray:
    (mark,) = prepared.marks
    return mark.image


def thirds(wide: int = 300, high: int = 100) -> np.ndarray:
    """Red, green and blue, one beside the other."""
    pixels = np.zeros((high, wide, 3), np.uint8)
    for c in range(3):
        pixels[:, c * wide // 3 : (c + 1) * wide // 3, c] = 200
    return pixels


def test_the_middle_is_taken_in_the_networks_proportions_with_its_colour() -> None:
    prepared = prepare_whole_picture(opened(thirds()), AUTOMATIC_OPTIONS, COLOUR)
    assert prepared.boxes == [(100, 0, 200, 100)]
    assert seen(prepared).shape == (32, 32, 3)
    np.testing.assert_array_equal(seen(prepared), np.broadcast_to([0, 200, 0], (32, 32, 3)))


def test_all_of_it_is_drawn_together_where_that_is_chosen() -> None:
    image = seen(prepare_whole_picture(opened(thirds()), PictureOptions(fit="whole"), COLOUR))
    assert image[16, [2, 16, 29]].tolist() == [[200, 0, 0], [0, 200, 0], [0, 0, 200]]


def test_of_a_part_the_middle_is_taken() -> None:
    part = PictureOptions(crop=(0.5, 0.0, 1.0, 1.0))
    assert prepare_whole_picture(opened(thirds()), part, COLOUR).boxes == [(175, 0, 275, 100)]
    with pytest.raises(ImageError):
        PictureOptions(fit="stretch")


def test_a_wide_form_takes_a_wide_middle() -> None:
    prepared = prepare_whole_picture(opened(thirds(100, 100)), AUTOMATIC_OPTIONS, NetworkInputFormat((20, 40, 3)))
    assert prepared.boxes == [(0, 25, 100, 75)]
    assert seen(prepared).shape == (20, 40, 3)


def test_an_image_of_the_networks_size_is_taken_to_the_bit() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    prepared = prepare_whole_picture(opened(pixels), AUTOMATIC_OPTIONS, COLOUR)
    np.testing.assert_array_equal(seen(prepared), pixels)
    assert [one.description for one in prepared.stages] == ["32 × 32 pixels.", "Already 32 × 32: left unchanged."]
    light = np.full((28, 28, 3), 255, np.uint8)
    light[8:20, 8:20] = 40
    kept = seen(prepare_whole_picture(opened(light), AUTOMATIC_OPTIONS, CLOTHES))
    np.testing.assert_array_equal(kept, light[..., :1])


def shirt(ground: int, cloth: int) -> np.ndarray:
    pixels = np.full((200, 200, 3), ground, np.uint8)
    pixels[50:150, 50:150] = cloth
    return pixels


@pytest.mark.parametrize(("ground", "cloth"), [(250, 60), (10, 200)])
def test_a_grey_thing_stands_on_the_ground_that_the_dataset_s_stand_on(ground: int, cloth: int) -> None:
    image = seen(prepare_whole_picture(opened(shirt(ground, cloth)), AUTOMATIC_OPTIONS, CLOTHES))
    assert image.shape == (28, 28, 1)
    assert image[1, 1, 0] <= 10
    assert image[14, 14, 0] == (255 - cloth if ground > cloth else cloth)


def test_a_person_says_otherwise() -> None:
    light_on_light = opened(shirt(250, 60))
    image = seen(prepare_whole_picture(light_on_light, PictureOptions(ink="light"), CLOTHES))
    assert image[14, 14, 0] == 60
    stages = prepare_whole_picture(light_on_light, AUTOMATIC_OPTIONS, CLOTHES).stages
    assert [one.name for one in stages] == ["original", "part", "image"]
    assert stages[-1].description == "28 × 28, grey, dark and light swapped."


def test_a_photograph_with_no_one_ground_is_never_exchanged() -> None:
    noisy = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)
    found = prepare_whole_picture(opened(noisy), AUTOMATIC_OPTIONS, CLOTHES).cut
    assert found
    assert not found.inverted
    assert NetworkInputFormat.from_images(noisy[None, ..., :1]).background == ""
    assert NetworkInputFormat.from_images(np.zeros((5, 8, 8, 1), np.uint8)).background == "dark"
    assert NetworkInputFormat.from_images(np.zeros((5, 8, 8, 3), np.uint8)).background == ""


def test_a_turned_photograph_is_set_upright_first() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    prepared = prepare_whole_picture(opened(thirds(), exif=exif), AUTOMATIC_OPTIONS, COLOUR)
    assert prepared.boxes == [(0, 100, 100, 200)]


@pytest.mark.parametrize(("shape", "shown"), [((32, 32, 3), (256, 256, 3)), ((100, 90, 3), (500, 450, 3))])
def test_the_image_is_shown_up_to_eight_times_as_large(
    shape: tuple[int, int, int], shown: tuple[int, int, int]
) -> None:
    prepared = prepare_whole_picture(opened(thirds()), AUTOMATIC_OPTIONS, NetworkInputFormat(shape))
    assert prepared.stages[-1].image.shape == shown
