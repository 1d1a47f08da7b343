"""Slants, and smooth bending."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from ensemble.engine.draws import augmentation as augmenting
from ensemble.engine.draws import warp as warping
from ensemble.engine.draws.augmentation import SHIFT_AND_ROTATE, WARP, Augmentation

# Compiled as in a step of training, not operation by operation.
augment = jax.jit(augmenting.augment_images, static_argnums=4)
warp = jax.jit(warping.sample_warp, static_argnums=(1, 2))
WARPED = Augmentation(warped=True)
IMAGES = np.random.default_rng(0).random((6, 28, 20, 1), np.float32)


def test_a_stroke_that_stood_straight_leans_to_either_side_by_no_more_than_asked():
    bars = np.zeros((200, 29, 29, 1), np.float32)
    bars[:, :, 14] = 1
    found = np.asarray(augment(jax.random.key(1), bars, 0, 0.0, WARPED, 25.0))[..., 0]
    np.testing.assert_allclose(found.sum(2), 1, atol=1e-4)
    rows = np.arange(29) - 14
    columns = found @ (np.arange(29) - 14)
    slopes = columns @ rows / (rows @ rows)
    np.testing.assert_allclose(columns, slopes[:, None] * rows, atol=1e-3)
    angles = np.rad2deg(np.arctan(slopes))
    assert -25 <= angles.min() < -22
    assert 22 < angles.max() <= 25
    assert abs(angles.mean()) < 3


def test_points_move_as_far_as_asked_and_neighbours_together():
    leans, drawn = warp(jax.random.key(2), 3000, (28, 21), 0.0, 3.0)
    fields = np.asarray(drawn)
    assert fields.shape == (3000, 2, 28, 21)
    assert not np.any(leans)
    # The root mean square of 3 times what is uniform in [0, 1], at the middle and the edge alike.
    np.testing.assert_allclose((fields**2).mean(0), 3.0, rtol=0.15)
    np.testing.assert_allclose(fields.mean(0), 0, atol=0.15)
    # White noise smoothed by a Gaussian is correlated as exp(-d² / 4σ²): σ is 4 rows, 3 columns.
    for apart in (1, 4, 8):
        down = (fields[:, 0, apart:] * fields[:, 0, :-apart]).mean() / 3
        assert abs(down - np.exp(-(apart**2) / 64)) < 0.05
    across = (fields[..., 3:] * fields[..., :-3]).mean() / 3
    assert abs(across - np.exp(-1 / 4)) < 0.05
    assert abs((fields[:, 0] * fields[:, 1]).mean()) < 0.1, "rows and columns apart"
    assert (np.sqrt((fields**2).mean((1, 2, 3))) < 3 * 2.5).all()


def test_an_image_is_sampled_where_its_points_came_from():
    key = jax.random.key(3)
    _, fields = warp(jax.random.fold_in(key, WARP), 6, (28, 20), 0.0, 2.0)
    found = augment(key, IMAGES, 0, 0.0, Augmentation(True, warped=True), 0.0, 2.0)
    for image, bent, field in zip(IMAGES, np.asarray(found), np.asarray(fields), strict=True):
        # As elsewhere, what lies beyond the edge is ground: a frame of zeros, for SciPy.
        places = np.mgrid[:28, :20] + field + 9
        wanted = ndimage.map_coordinates(np.pad(image[..., 0], 9), places, order=1)
        np.testing.assert_allclose(bent[..., 0], wanted, atol=1e-4)


def test_every_colour_is_bent_and_slanted_alike():
    three = augment(jax.random.key(4), np.repeat(IMAGES, 3, -1), 2, 9.0, Augmentation(True, warped=True), 9.0, 1.0)
    one = augment(jax.random.key(4), IMAGES, 2, 9.0, Augmentation(True, warped=True), 9.0, 1.0)
    for channel in range(3):
        np.testing.assert_allclose(three[..., channel], one[..., 0], atol=1e-5)


def test_shifts_and_turns_are_drawn_as_they_are_without():
    moved = augment(jax.random.key(5), IMAGES, 2, 20.0, SHIFT_AND_ROTATE)
    both = augment(jax.random.key(5), IMAGES, 2, 20.0, Augmentation(True, warped=True), 0.0, 0.0)
    np.testing.assert_allclose(both, moved, atol=1e-5)
    assert jnp.abs(moved - IMAGES).max() > 0.1
