"""Novelty of images that no pen wrote, and how real ones are changed to set a threshold on."""

import numpy as np
import pytest

from ensemble.recognition import image_novelty
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.occlusion import compute_patch_strides, cover_patches, list_patches
from ensemble.recognition.rejection import Rejection
from ensemble.shift import image_variation
from ensemble.shift.image_variation import vary_images
from ensemble.shift.ood_images import draw_smooth_noise, scramble_pixels

SHAPES = [(8, 8, 1), (16, 16, 3), (28, 28, 1), (20, 40, 3)]
CLASSES = 3


def drawn(count: int, shape: tuple[int, int, int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Discs, bars and frames of a class's own colour on a ground that gets lighter downwards."""
    draws = np.random.default_rng(seed)
    labels = draws.integers(0, CLASSES, count)
    y, x = np.mgrid[: shape[0], : shape[1]] / np.reshape(shape[:2], (2, 1, 1))
    images = np.zeros((count, *shape), np.float32)
    for image, label in zip(images, labels, strict=True):
        at = draws.uniform(0.4, 0.6, 2)
        far = [
            np.hypot(y - at[0], x - at[1]) < 0.3,
            abs(y - at[0]) < 0.12,
            np.maximum(abs(y - at[0]), abs(x - at[1])) > 0.35,
        ][label]
        colour = np.array([210, 120, 60])[(np.arange(shape[2]) + label) % 3]
        image[:] = (60 * y)[..., None] + far[..., None] * colour
    images += draws.normal(0, 6, images.shape)
    return np.rint(images.clip(0, 255)).astype(np.uint8), labels


def sure(labels: np.ndarray) -> np.ndarray:
    """(2, N, C): two members that are nearly sure of these classes."""
    one = np.full((len(labels), CLASSES), 0.02)
    one[np.arange(len(labels)), labels] = 0.96
    return np.stack([one, one])


@pytest.mark.long_cases
@pytest.mark.parametrize("shape", SHAPES)
def test_strange_images_are_rejected_and_new_real_ones_kept(shape: tuple[int, int, int]) -> None:
    known = KnownImages.from_images(*drawn(600, shape), CLASSES)
    held, labels = drawn(200, shape, seed=1)
    held[50:] = vary_images(held[50:])
    rejection = Rejection.from_measures(known.compute_measures(held, sure(labels)))
    others, theirs = drawn(200, shape, seed=2)
    others[50:] = vary_images(others[50:], seed=1)
    threshold = rejection.compute_threshold(0.05)

    def rejected(images: np.ndarray, said: np.ndarray) -> float:
        found = rejection.compute_scores(known.compute_measures(images, sure(said)))
        return float((found > threshold).mean())

    assert rejected(others, theirs) < 0.12
    for strange in (draw_smooth_noise(200, shape=shape), scramble_pixels(others)):
        assert rejected(strange, theirs) > 0.9
    assert rejected(others, (theirs + 1) % CLASSES) > 0.6, "unlike the class that is said"


def test_what_is_cached_measures_the_same() -> None:
    images, labels = drawn(90, (16, 16, 3))
    known = KnownImages.from_images(images, labels, CLASSES)
    again = KnownImages.from_arrays(known.as_arrays())
    expected = known.compute_measures(images[:9], sure(labels[:9]))
    np.testing.assert_array_equal(again.compute_measures(images[:9], sure(labels[:9])), expected)
    assert known.compute_measures(images[:0], sure(labels[:0])).shape == (4, 0)


def test_a_class_without_an_image_is_far_from_everything() -> None:
    images, labels = drawn(60, (8, 8, 1))
    known = KnownImages.from_images(images[labels != 2], labels[labels != 2], CLASSES)
    found = known.compute_measures(images[:5], sure(np.full(5, 2)))
    assert np.isfinite(found).all()
    apart = np.linalg.norm(known.pictures[0][:, None] - known.pictures[1], axis=-1)
    assert (found[1] > apart.max()).all()


def test_images_are_looked_at_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    images, _ = drawn(30, (20, 40, 3))
    whole = image_novelty.reduce_images(images), image_novelty.compute_image_traits(images)
    monkeypatch.setattr(image_novelty, "IMAGES_PER_BLOCK", 7)
    chosen = image_novelty.ImageSubset(images, np.arange(30))
    np.testing.assert_array_equal(image_novelty.reduce_images(chosen), whole[0])
    np.testing.assert_allclose(image_novelty.compute_image_traits(chosen), whole[1], rtol=1e-6)


def test_large_images_are_averaged_down_for_their_texture() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 50, 67, 3), np.uint8)
    cells = [[images[:, i : i + 3, j : j + 3].mean(axis=(1, 2)) for j in range(0, 66, 3)] for i in range(0, 48, 3)]
    expected = np.moveaxis(np.array(cells), 2, 0)
    np.testing.assert_allclose(image_novelty.downsample_images(images, 3), expected, rtol=1e-5)
    np.testing.assert_array_equal(image_novelty.downsample_images(images, 1), images)


@pytest.mark.parametrize("shape", SHAPES)
def test_changed_images_are_near_what_they_were_and_each_another(shape: tuple[int, int, int]) -> None:
    images, _ = drawn(12, shape)
    found = vary_images(images)
    assert found.shape == images.shape
    np.testing.assert_array_equal(found[:3], vary_images(images[:3]))
    assert (found != vary_images(images, seed=1)).any(axis=(1, 2, 3)).all()
    off = np.abs(found.astype(float) - images).mean(axis=(1, 2, 3))
    assert (off > 0.5).all()
    apart = np.abs(images[1:].astype(float) - images[:-1]).mean()
    assert off.mean() < apart
    black = np.zeros((2, *shape), np.uint8)
    assert not vary_images(black).any(), "bare ground stays bare"


@pytest.mark.parametrize("shape", SHAPES)
def test_images_are_turned_and_enlarged_about_their_middle(
    shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_variation, "_MAX_MOVE_SHARE", 0.0)
    half = np.random.default_rng(0).integers(1, 128, (12, *shape), np.uint8)
    found = vary_images(half + half[:, ::-1, ::-1])
    assert np.abs(found.astype(int) - found[:, ::-1, ::-1]).max() <= 1


@pytest.mark.parametrize("shape", SHAPES)
def test_patches_cover_the_same_share_of_any_image(shape: tuple[int, int, int]) -> None:
    image = np.random.default_rng(0).integers(1, 256, shape, np.uint8)
    boxes = list_patches(image)
    assert compute_patch_strides((28, 28, 1)) == {5: 2, 7: 3, 9: 3}
    assert max(compute_patch_strides(shape)) / min(shape[:2]) == pytest.approx(9 / 28, abs=0.06)
    assert max(box[2] for box in boxes) == shape[1]
    assert max(box[3] for box in boxes) == shape[0]
    under = cover_patches(image, boxes, ground=False)
    left, top, right, bottom = boxes[0]
    mean = np.rint(image.mean(axis=(0, 1)))
    np.testing.assert_array_equal(under[0, top:bottom, left:right].reshape(-1, shape[2])[0], mean)
