"""Corruptions and out-of-distribution images of other sizes and of colour."""

import hashlib

import numpy as np
import pytest

from ensemble import datasets
from ensemble.shift import corruptions
from ensemble.shift.corruptions import CORRUPTION_KINDS, corrupt_images, scale_corruptions
from ensemble.shift.ood_images import draw_smooth_noise, list_ood_sets, resize_images, scramble_pixels
from ensemble.shift.results import count_measured_images
from tests.pages import own_images

SHAPES = [(8, 8, 1), (16, 24, 3), (32, 32, 3), (224, 224, 3)]
# SHA-256, the first 16 digits, of 40 test digits at every amount: as they were before images of
# other sizes could be corrupted.
BITS = {
    "rotation": "a7bd0c58ea99096f",
    "shift": "7618004367b00c48",
    "noise": "a79c3802385f49d1",
    "blur": "01fa7f1e0d05a50c",
    "contrast": "caffe5052181f055",
}
SMOOTH, SCRAMBLED = "2770e808008d52f7", "2a490e1524a6c6eb"


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()[:16]


def drawn(count: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (count, *shape), np.uint8)


def test_digits_are_corrupted_to_the_same_bits_as_ever() -> None:
    images = np.asarray(datasets.load_dataset("digits").test_images[:40])
    assert scale_corruptions((28, 28, 1)) == CORRUPTION_KINDS
    for name, kind in CORRUPTION_KINDS.items():
        each = [corrupt_images(images, name, amount, seed=3) for amount in kind.amounts]
        assert digest(*each) == BITS[name]
    assert digest(draw_smooth_noise(20)) == SMOOTH
    assert digest(scramble_pixels(images)) == SCRAMBLED


@pytest.mark.parametrize("shape", SHAPES)
def test_strengths_scale_with_the_size(shape: tuple[int, int, int]) -> None:
    share = min(shape[:2]) / 28
    for name, kind in scale_corruptions(shape).items():
        assert (np.diff(np.abs(np.subtract(kind.amounts, kind.neutral_amount))) > 0).all()
        scale = share if name in ("shift", "blur") else 1
        np.testing.assert_allclose(kind.amounts, np.multiply(CORRUPTION_KINDS[name].amounts, scale), atol=0.5)
        if name == "shift" and share >= 1:
            assert all(one == int(one) for one in kind.amounts), "whole pixels do not blur"


@pytest.mark.parametrize("name", CORRUPTION_KINDS)
@pytest.mark.parametrize("shape", SHAPES[:3])
def test_each_colour_is_corrupted_as_a_grey_image_of_its_own(name: str, shape: tuple[int, int, int]) -> None:
    images, amount = drawn(3, shape), scale_corruptions(shape)[name].amounts[3]
    found = corrupt_images(images, name, amount)
    assert found.shape == images.shape
    if name == "noise":  # every channel has a draw of its own
        return
    each = [corrupt_images(images[..., [c]], name, amount) for c in range(shape[2])]
    np.testing.assert_array_equal(found, np.concatenate(each, axis=-1))


@pytest.mark.parametrize("name", CORRUPTION_KINDS)
def test_block_by_block_gives_the_same_as_all_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images, amount = drawn(7, (16, 16, 3)), scale_corruptions((16, 16, 3))[name].amounts[-1]
    whole = corrupt_images(images, name, amount, seed=5)
    monkeypatch.setattr(corruptions, "NUMBERS_PER_BLOCK", 2 * 16 * 16 * 3)
    np.testing.assert_array_equal(corrupt_images(images, name, amount, seed=5), whole)


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_scrambled_pixels_keep_their_colours(shape: tuple[int, int, int]) -> None:
    images = drawn(4, shape)
    mixed = scramble_pixels(images)
    for one, other in zip(images, mixed, strict=True):
        pixels = [sorted(map(tuple, image.reshape(-1, shape[2]))) for image in (one, other)]
        assert pixels[0] == pixels[1]
        assert not np.array_equal(one, other)


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_noise_has_the_size_asked_for_and_blobs_that_grow_with_it(shape: tuple[int, int, int]) -> None:
    images = draw_smooth_noise(4, shape=shape)
    assert images.shape == (4, *shape)
    flat = images.astype(float) - images.mean()
    step = max(1, round(min(shape[:2]) / 28))
    far = np.corrcoef(flat[:, :, :-step].ravel(), flat[:, :, step:].ravel())[0, 1]
    sigma = 2 * min(shape[:2]) / 28
    assert far == pytest.approx(np.exp(-((step / sigma) ** 2) / 4), abs=0.15)
    if shape[2] == 3:
        assert abs(np.corrcoef(flat[..., 0].ravel(), flat[..., 1].ravel())[0, 1]) < 0.5


@pytest.mark.parametrize(
    ("source", "shape"), [((28, 28, 1), (32, 32, 3)), ((64, 48, 3), (28, 28, 1)), ((8, 8, 1), (8, 8, 1))]
)
def test_images_of_another_dataset_are_brought_to_the_size_and_channels(
    source: tuple[int, int, int], shape: tuple[int, int, int]
) -> None:
    images = np.full((3, *source), 90, np.uint8)
    images[:, source[0] // 2 :] = 190
    found = resize_images(images, shape)
    assert found.shape == (3, *shape)
    assert abs(float(found[:, 1].mean()) - 90) <= 1
    assert abs(float(found[:, -2].mean()) - 190) <= 1


def test_an_own_dataset_in_colour_has_digits_brought_to_it_noise_and_its_own_pixels(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    name = own_images.add(shape=(16, 16, 3))
    found = list_ood_sets(name, limit=6)
    assert [one.key for one in found] == ["digits", "noise", "scrambled"]
    assert [one.load().shape for one in found] == [(6, 16, 16, 3)] * 3
    assert found[2].title == "Scrambled My leaves"
    grey = found[0].load()
    assert (grey == grey[..., :1]).all()
    # To digits, in turn, pictures of leaves in grey are out of distribution.
    assert [one.key for one in list_ood_sets("digits", limit=6)] == ["leaves", "noise", "scrambled"]
    assert list_ood_sets("digits", limit=6)[0].load().shape == (6, 28, 28, 1)
    own_images.add("noise", (8, 8, 1))
    keys = [one.key for one in list_ood_sets("digits", limit=6)]
    assert keys == ["leaves", "noise_images", "noise", "scrambled"]
    assert count_measured_images(200, (16, 16, 3)) == 200
    assert count_measured_images(50_000, (224, 224, 3)) == 2**30 // (224 * 224 * 3)
