"""Images that belong to no class."""

import numpy as np
import pytest
from scipy import ndimage

from ensemble import datasets
from ensemble.datasets import store
from ensemble.datasets.registry import ENTRIES
from ensemble.errors import ConfigError
from ensemble.shift import ood_images
from ensemble.shift.ood_images import draw_smooth_noise, list_ood_sets, scramble_pixels


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    """All datasets prepared, each of one grey level, in a folder of this test's own."""
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    for level, entry in enumerate(ENTRIES.values()):
        if entry.nbytes_download:
            sizes = entry.train_size, entry.test_size
            images = [np.full((size, 28, 28), level, np.uint8) for size in sizes]
            labels = [np.zeros(size, np.uint8) for size in sizes]
            store.write_prepared_dataset(tmp_path, entry, [*images, *labels], "a test")


def test_scrambled_images_keep_each_image_s_pixels():
    images = datasets.load_dataset("digits").test_images
    mixed = scramble_pixels(images)
    assert mixed.shape == images.shape
    assert mixed.dtype == np.uint8
    np.testing.assert_array_equal(np.sort(mixed.reshape(500, -1)), np.sort(images.reshape(500, -1)))
    assert (mixed != images).any(axis=(1, 2, 3)).all()
    ranks = [np.argsort(np.argsort(one.ravel() + np.linspace(0, 0.5, 784))) for one in mixed[:2]]
    assert not np.array_equal(*ranks), "one order for all images would be a fixed shape"


def test_smooth_noise_fills_the_range_and_is_smooth():
    images = draw_smooth_noise(50)
    assert images.shape == (50, 28, 28, 1)
    assert images.dtype == np.uint8
    assert (images.min(axis=(1, 2, 3)) == 0).all()
    assert (images.max(axis=(1, 2, 3)) == 255).all()
    flat = images.astype(float) - images.mean()
    beside = np.corrcoef(flat[:, :, :-1].ravel(), flat[:, :, 1:].ravel())[0, 1]
    # White noise through a Gaussian of σ has a correlation of exp(−1 / 4σ²) with its neighbour.
    assert beside == pytest.approx(np.exp(-1 / 16), abs=0.03)


def test_draws_depend_on_the_seed_alone():
    np.testing.assert_array_equal(draw_smooth_noise(9)[:4], draw_smooth_noise(4))
    assert not np.array_equal(draw_smooth_noise(4), draw_smooth_noise(4, seed=1))
    images = datasets.load_dataset("digits").test_images[:9]
    np.testing.assert_array_equal(scramble_pixels(images), scramble_pixels(images))
    assert not np.array_equal(scramble_pixels(images), scramble_pixels(images, seed=1))


def test_none_are_none():
    assert draw_smooth_noise(0).shape == (0, 28, 28, 1)
    assert scramble_pixels(np.zeros((0, 28, 28, 1), np.uint8)).shape == (0, 28, 28, 1)


def test_two_are_always_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))  # other tests add datasets
    found = list_ood_sets("digits", limit=7)
    assert [one.key for one in found] == ["noise", "scrambled"]
    assert found[1].title == "Scrambled Digits"
    assert [one.load().shape for one in found] == [(7, 28, 28, 1)] * 2


@pytest.mark.usefixtures("prepared")
def test_other_datasets_come_first_but_not_those_with_the_same_classes():
    found = list_ood_sets("digits", limit=3)
    assert [one.key for one in found] == ["fashion_mnist", "kmnist", "noise", "scrambled"]
    levels = [list(ENTRIES).index(one.key) for one in found[:2]]
    assert [np.unique(one.load()).tolist() for one in found[:2]] == [[level] for level in levels]
    keys = [one.key for one in list_ood_sets("fashion_mnist")]
    assert keys == ["digits", "mnist", "kmnist", "noise", "scrambled"]
    assert len(list_ood_sets("digits")[0].load()) == 500, "no more than there are known images"


def test_an_unknown_dataset_is_said():
    with pytest.raises(ConfigError):
        list_ood_sets("letters")


def test_noise_is_blurred_in_blocks_within_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, blur = list[int](), ndimage.gaussian_filter

    def record_size(drawn: np.ndarray, *settings: object, **more: object) -> np.ndarray:
        sizes.append(len(drawn))
        return np.asarray(blur(drawn, *settings, **more))

    whole = draw_smooth_noise(5, shape=(4, 4, 1))
    monkeypatch.setattr(ndimage, "gaussian_filter", record_size)
    monkeypatch.setattr(ood_images, "NUMBERS_PER_BLOCK", 2 * 16 + 5)
    np.testing.assert_array_equal(draw_smooth_noise(5, shape=(4, 4, 1)), whole)
    assert sizes == [2, 2, 1]
