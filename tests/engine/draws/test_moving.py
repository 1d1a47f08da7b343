"""Shifts, turns and mirroring."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.ndimage import map_coordinates
from scipy import ndimage

from ensemble.engine.draws import augmentation as augmenting
from ensemble.engine.draws.augmentation import Augmentation

# Compiled as in a step of training, not operation by operation; and for one batch of digits.
augment = jax.jit(augmenting.augment_images, static_argnums=4)
BATCH = 400


def digits_of(*images: np.ndarray) -> np.ndarray:
    """A batch (400, 28, 28, 1) of these images (28, 28), again and again."""
    return np.resize(np.float32(images), (BATCH, 28, 28))[..., None]


@jax.jit
def one_by_one(key, images, shift_pixels, rotation_degrees):
    """What runs of every version have learnt from: each image sampled by itself."""

    def moved(key, image):
        shift_key, turn_key = jax.random.split(key)
        shift = jax.random.randint(shift_key, (2,), -shift_pixels, shift_pixels + 1)
        angle = jnp.deg2rad(rotation_degrees) * jax.random.uniform(turn_key, minval=-1.0)
        rows, columns = jnp.meshgrid(*map(jnp.arange, image.shape), indexing="ij")
        middle = (jnp.array(image.shape) - 1) / 2
        y, x = rows - middle[0] - shift[0], columns - middle[1] - shift[1]
        source = [
            jnp.cos(angle) * y - jnp.sin(angle) * x + middle[0],
            jnp.sin(angle) * y + jnp.cos(angle) * x + middle[1],
        ]
        return map_coordinates(image, source, order=1, mode="constant")

    return jax.vmap(moved)(jax.random.split(key, len(images)), images[..., 0])[..., None]


@pytest.mark.parametrize("amounts", [(2, 0.0), (0, 10.0), (6, 45.0)], ids=str)
def test_a_resumed_run_of_an_earlier_version_goes_on_with_the_same_images(amounts):
    images = np.random.default_rng(2).random((BATCH, 28, 28, 1), np.float32)
    for step in range(3):
        key = jax.random.fold_in(jax.random.key(7), step)
        np.testing.assert_array_equal(augment(key, images, *amounts), one_by_one(key, images, *amounts))


def test_no_shift_and_no_turn_is_no_change():
    images = digits_of(*np.random.default_rng(0).random((3, 28, 28)))
    same = augment(jax.random.key(0), images, 0, 0.0)
    np.testing.assert_allclose(same, images, atol=1e-5)


def test_shifts_are_whole_pixels_within_reach_and_all_occur():
    image = np.zeros((28, 28), np.float32)
    image[14, 14] = 1
    moved = np.asarray(augment(jax.random.key(1), digits_of(image), 2, 0.0))
    where = np.stack([np.unravel_index(one.argmax(), (28, 28)) for one in moved[..., 0]]) - 14
    assert set(where[:, 0]) == set(where[:, 1]) == {-2, -1, 0, 1, 2}
    np.testing.assert_allclose(moved.sum((1, 2, 3)), 1, atol=1e-5)


def test_turns_stay_within_the_angle_and_agree_with_scipy():
    image = np.zeros((28, 28), np.float32)
    image[4:24, 12:16] = 1
    turned = np.asarray(augment(jax.random.key(2), digits_of(image), 0, 30.0))
    errors = {
        angle: np.abs(ndimage.rotate(image, angle, reshape=False, order=1) - turned[0, ..., 0]).mean()
        for angle in np.arange(-30, 30.5, 0.5)
    }
    assert min(errors.values()) < 0.01
    corner = np.zeros((28, 28), np.float32)
    corner[2:8, 13:15] = 1  # above the middle: it moves to the side that it is turned to
    sides = np.asarray(augment(jax.random.key(3), digits_of(corner), 0, 30.0))[..., 0]
    moved = (sides * (np.arange(28) - 13.5)).sum((1, 2))
    assert 160 <= (moved < 0).sum() <= 240, "turned to either side about as often"
    assert errors[min(errors, key=errors.get)] < errors[30.0] + errors[-30.0]


def test_every_channel_of_a_picture_moves_as_it_would_alone():
    grey = np.random.default_rng(1).random((6, 9, 12, 1), np.float32)
    one = augment(jax.random.key(2), grey, 2, 20.0)
    three = augment(jax.random.key(2), np.repeat(grey, 3, -1), 2, 20.0)
    for channel in range(3):
        np.testing.assert_allclose(three[..., channel], one[..., 0], atol=1e-6)


def test_as_many_are_mirrored_as_are_not_and_none_otherwise_changed():
    images = np.random.default_rng(1).random((300, 5, 7, 3), np.float32)
    found = np.asarray(augment(jax.random.key(0), images, 9, 9.0, Augmentation(flipped=True)))
    mirrored = (found == images[:, :, ::-1]).all((1, 2, 3))
    assert (mirrored ^ (found == images).all((1, 2, 3))).all()
    assert 110 < mirrored.sum() < 190
