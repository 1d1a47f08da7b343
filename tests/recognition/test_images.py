"""Novelty of images that no pen wrote, and how real ones are changed to set a threshold on."""

import numpy as np
import pytest

from ensemble.recognition import image_novelty
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.occlusion import covered, patches, strides
from ensemble.recognition.rejection import Rejection
from ensemble.shift.image_variation import changed
from ensemble.shift.ood_images import scrambled, smooth_noise

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


@pytest.mark.parametrize("shape", SHAPES)
def test_strange_images_are_rejected_and_new_real_ones_kept(shape: tuple[int, int, int]) -> None:
    known = KnownImages.of(*drawn(600, shape), CLASSES)
    held, labels = drawn(200, shape, seed=1)
    held[50:] = changed(held[50:])
    rejection = Rejection.of(known.measures(held, sure(labels)))
    others, theirs = drawn(200, shape, seed=2)
    others[50:] = changed(others[50:], seed=1)
    threshold = rejection.threshold(0.05)

    def rejected(images: np.ndarray, said: np.ndarray) -> float:
        found = rejection.scores(known.measures(images, sure(said)))
        return float((found > threshold).mean())

    assert rejected(others, theirs) < 0.12
    for strange in (smooth_noise(200, shape=shape), scrambled(others)):
        assert rejected(strange, theirs) > 0.9
    assert rejected(others, (theirs + 1) % CLASSES) > 0.6, "unlike the class that is said"


def test_what_is_cached_measures_the_same() -> None:
    images, labels = drawn(90, (16, 16, 3))
    known = KnownImages.of(images, labels, CLASSES)
    again = KnownImages.from_arrays(known.as_arrays())
    expected = known.measures(images[:9], sure(labels[:9]))
    np.testing.assert_array_equal(again.measures(images[:9], sure(labels[:9])), expected)
    assert known.measures(images[:0], sure(labels[:0])).shape == (4, 0)


def test_a_class_without_an_image_is_far_from_everything() -> None:
    images, labels = drawn(60, (8, 8, 1))
    known = KnownImages.of(images[labels != 2], labels[labels != 2], CLASSES)
    found = known.measures(images[:5], sure(np.full(5, 2)))
    assert np.isfinite(found).all()
    apart = np.linalg.norm(known.pictures[0][:, None] - known.pictures[1], axis=-1)
    assert (found[1] > apart.max()).all()


def test_images_are_looked_at_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    images, _ = drawn(30, (20, 40, 3))
    whole = image_novelty.pictures(images), image_novelty.traits(images)
    monkeypatch.setattr(image_novelty, "BLOCK", 7)
    chosen = image_novelty.Chosen(images, np.arange(30))
    np.testing.assert_array_equal(image_novelty.pictures(chosen), whole[0])
    np.testing.assert_allclose(image_novelty.traits(chosen), whole[1], rtol=1e-6)


def test_large_images_are_averaged_down_for_their_texture() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 50, 67, 3), np.uint8)
    cells = [
        [images[:, i : i + 3, j : j + 3].mean(axis=(1, 2)) for j in range(0, 66, 3)]
        for i in range(0, 48, 3)
    ]
    expected = np.moveaxis(np.array(cells), 2, 0)
    np.testing.assert_allclose(image_novelty.averaged_down(images, 3), expected, rtol=1e-5)
    np.testing.assert_array_equal(image_novelty.averaged_down(images, 1), images)


@pytest.mark.parametrize("shape", SHAPES)
def test_changed_images_are_near_what_they_were_and_each_another(
    shape: tuple[int, int, int],
) -> None:
    images, _ = drawn(12, shape)
    found = changed(images)
    assert found.shape == images.shape
    np.testing.assert_array_equal(found[:3], changed(images[:3]))
    assert (found != changed(images, seed=1)).any(axis=(1, 2, 3)).all()
    off = np.abs(found.astype(float) - images).mean(axis=(1, 2, 3))
    assert (off > 0.5).all()
    apart = np.abs(images[1:].astype(float) - images[:-1]).mean()
    assert off.mean() < apart
    black = np.zeros((2, *shape), np.uint8)
    assert not changed(black).any(), "bare ground stays bare"


@pytest.mark.parametrize("shape", SHAPES)
def test_patches_cover_the_same_share_of_any_image(shape: tuple[int, int, int]) -> None:
    image = np.random.default_rng(0).integers(1, 256, shape, np.uint8)
    boxes = patches(image)
    assert strides((28, 28, 1)) == {5: 2, 7: 3, 9: 3}
    assert max(strides(shape)) / min(shape[:2]) == pytest.approx(9 / 28, abs=0.06)
    assert max(box[2] for box in boxes) == shape[1]
    assert max(box[3] for box in boxes) == shape[0]
    under = covered(image, boxes, ground=False)
    left, top, right, bottom = boxes[0]
    mean = np.rint(image.mean(axis=(0, 1)))
    np.testing.assert_array_equal(under[0, top:bottom, left:right].reshape(-1, shape[2])[0], mean)
