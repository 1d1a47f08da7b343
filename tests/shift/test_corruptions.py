"""Corruptions against what NumPy alone says of them."""

import numpy as np
import pytest
from PIL import Image

from ensemble import datasets
from ensemble.errors import ConfigError
from ensemble.shift import corruptions
from ensemble.shift.corruptions import CORRUPTION_KINDS, corrupt_images


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return datasets.load_dataset("digits").test_images[:40]


def as_float(images: np.ndarray) -> np.ndarray:
    return images.astype(np.float64)


def test_each_kind_has_five_to_seven_steps_from_none_to_strong():
    assert list(CORRUPTION_KINDS) == ["rotation", "shift", "noise", "blur", "contrast"]
    for name, kind in CORRUPTION_KINDS.items():
        assert kind.name == name
        assert 5 <= len(kind.amounts) <= 7
        strength = np.abs(np.array(kind.amounts) - kind.neutral_amount)
        assert strength[0] == 0
        assert (np.diff(strength) > 0).all()


@pytest.mark.parametrize("kind", CORRUPTION_KINDS)
def test_the_neutral_amount_gives_the_images_to_the_bit(kind, images):
    same = corrupt_images(images, kind, CORRUPTION_KINDS[kind].neutral_amount)
    np.testing.assert_array_equal(same, images)
    assert same is not images
    assert same.flags.writeable, "a copy, whatever the dataset's own array allows"


@pytest.mark.parametrize("kind", CORRUPTION_KINDS)
def test_every_step_is_another_and_further_from_the_images(kind, images):
    far = [
        np.abs(as_float(corrupt_images(images, kind, amount)) - images).mean()
        for amount in CORRUPTION_KINDS[kind].amounts
    ]
    assert far[0] == 0
    assert (np.diff(far) > 0).all()


@pytest.mark.parametrize("kind", CORRUPTION_KINDS)
def test_shape_type_and_seed(kind, images):
    amount = CORRUPTION_KINDS[kind].amounts[3]
    one, again = (corrupt_images(images, kind, amount, seed=5) for _ in range(2))
    assert one.dtype == np.uint8
    assert one.shape == images.shape
    np.testing.assert_array_equal(one, again)
    assert corrupt_images(images[:0], kind, amount).shape == (0, 28, 28, 1)
    other = corrupt_images(images, kind, amount, seed=6)
    assert np.array_equal(one, other) == (kind != "noise")


@pytest.mark.parametrize("turns", [1, 2, 3, -1])
def test_quarter_turns_are_those_of_numpy(turns, images):
    expected = np.rot90(images, turns, axes=(1, 2))
    np.testing.assert_array_equal(corrupt_images(images, "rotation", 90 * turns), expected)


@pytest.mark.parametrize("degrees", [10, 45, 75.5, -30])
def test_turns_are_those_of_pillow(degrees, images):
    turned = corrupt_images(images, "rotation", degrees)
    for one, image in zip(turned, images, strict=True):
        picture = Image.fromarray(image[..., 0])
        expected = np.asarray(picture.rotate(degrees, Image.Resampling.BILINEAR))
        # Pillow leaves out a pixel at the rim, and rounds down.
        np.testing.assert_allclose(as_float(one)[2:-2, 2:-2, 0], expected[2:-2, 2:-2], atol=1.5)


@pytest.mark.parametrize("pixels", [1, 3, 8, 27, 28, 40, -2])
def test_whole_pixels_are_rolled_with_ground_coming_in(pixels, images):
    expected = np.roll(np.pad(images, ((0, 0), (0, 0), (40, 40), (0, 0))), pixels, axis=2)
    np.testing.assert_array_equal(corrupt_images(images, "shift", pixels), expected[:, :, 40:68])


def test_half_a_pixel_is_the_mean_of_two_places(images):
    two = [as_float(corrupt_images(images, "shift", pixels)) for pixels in (2, 3)]
    half = corrupt_images(images, "shift", 2.5)
    np.testing.assert_allclose(half, (two[0] + two[1]) / 2, atol=0.5)


def test_noise_has_its_sigma_and_leaves_the_mean():
    grey = np.full((200, 28, 28, 1), 128, np.uint8)
    # At σ = 0.1 the ends of the scale are five σ away: nothing is clipped.
    noise = as_float(corrupt_images(grey, "noise", 0.1)) - 128
    n = noise.size
    assert noise.std() == pytest.approx(25.5, abs=5 * 25.5 / np.sqrt(2 * n))
    assert noise.mean() == pytest.approx(0, abs=5 * 25.5 / np.sqrt(n))
    beside = np.corrcoef(noise[:, :, :-1].ravel(), noise[:, :, 1:].ravel())[0, 1]
    assert abs(beside) < 5 / np.sqrt(n)


def test_noise_of_twice_the_amount_is_the_same_noise_doubled():
    grey = np.full((5, 28, 28, 1), 128, np.uint8)
    one, two = (as_float(corrupt_images(grey, "noise", sigma)) - 128 for sigma in (0.05, 0.1))
    np.testing.assert_allclose(two, 2 * one, atol=1.5)


@pytest.mark.parametrize("sigma", [0.5, 1, 3])
def test_blur_keeps_each_mean_and_spreads_a_point_as_a_gaussian(sigma, images):
    blurred = as_float(corrupt_images(images, "blur", sigma))
    means = blurred.mean(axis=(1, 2, 3)), as_float(images).mean(axis=(1, 2, 3))
    # Each pixel is rounded by up to half a level.
    np.testing.assert_allclose(*means, atol=0.2)
    point = np.zeros((1, 28, 28, 1), np.uint8)
    point[0, 14, 14] = 255
    drawn = as_float(corrupt_images(point, "blur", sigma))[0, ..., 0]
    offsets = np.arange(28) - 14
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    weights /= weights.sum()
    np.testing.assert_allclose(drawn, 255 * np.outer(weights, weights), atol=0.6)


def test_contrast_draws_each_image_towards_its_own_mean(images):
    faded = as_float(corrupt_images(images, "contrast", 0.4))
    mean = as_float(images).mean(axis=(1, 2, 3), keepdims=True)
    np.testing.assert_allclose(faded, mean + 0.4 * (images - mean), atol=0.51)
    flat = corrupt_images(images, "contrast", 0)
    assert {len(np.unique(image)) for image in flat} == {1}


@pytest.mark.parametrize(
    ("kind", "amount"),
    [
        ("fog", 1),
        ("blur", -1),
        ("noise", -0.1),
        ("contrast", 1.5),
        ("contrast", -1),
        ("rotation", float("nan")),
        ("shift", float("inf")),
    ],
)
def test_what_cannot_be_is_said(kind, amount, images):
    with pytest.raises(ConfigError):
        corrupt_images(images, kind, amount)


def test_images_are_corrupted_in_blocks_within_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()

    def record_size(block: np.ndarray, amount: float, draws: np.random.Generator) -> np.ndarray:
        sizes.append(len(block))
        return block + amount

    monkeypatch.setitem(corruptions._CORRUPTION_FUNCTIONS, "blur", record_size)
    monkeypatch.setattr(corruptions, "NUMBERS_PER_BLOCK", 2 * 16 + 5)
    changed = corrupt_images(np.arange(80, dtype=np.uint8).reshape(5, 4, 4, 1), "blur", 3)
    assert sizes == [2, 2, 1]
    assert changed.ravel().tolist() == list(range(3, 83))
