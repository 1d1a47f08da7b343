"""Strokes, tones, lines and cut sides of photographs."""

import jax
import numpy as np
import pytest
from scipy import ndimage

from ensemble.engine.draws import photo_effects as photographs
from ensemble.engine.draws.photo_effects import apply_photo_effects

IMAGES = np.random.default_rng(0).random((5, 12, 9, 3), np.float32)
many = jax.jit(apply_photo_effects)
thickened, toned, cut = (
    jax.jit(one) for one in (photographs.change_stroke_width, photographs.adjust_tones, photographs.cut_off_side)
)


def of_each(*values: float) -> np.ndarray:
    return np.reshape(np.float32(values), (-1, 1, 1, 1))


def test_a_stroke_is_as_much_thicker_or_thinner_as_asked():
    found = np.asarray(thickened(IMAGES, of_each(1, 0.5, 0, -0.5, -1)))
    larger = ndimage.grey_dilation(IMAGES, (1, 3, 3, 1), mode="nearest")
    smaller = ndimage.grey_erosion(IMAGES, (1, 3, 3, 1), mode="nearest")
    np.testing.assert_array_equal(found[0], larger[0])
    np.testing.assert_allclose(found[1], (IMAGES[1] + larger[1]) / 2, rtol=1e-5)
    np.testing.assert_array_equal(found[2], IMAGES[2])
    np.testing.assert_allclose(found[3], (3 * IMAGES[3] + smaller[3]) / 4, atol=1e-6)
    np.testing.assert_allclose(found[4], (IMAGES[4] + smaller[4]) / 2, atol=1e-6)
    stroke = np.zeros((1, 9, 9, 1), np.float32)
    stroke[:, 2:7, 4] = 1
    thick = np.asarray(thickened(stroke, of_each(1)))[0, ..., 0]
    assert thick.sum() == 7 * 3, "a pixel wider on each side"


def test_middle_tones_change_and_neither_ground_nor_full_ink():
    tones = np.linspace(0, 1, 101, dtype=np.float32)[None, :, None, None]
    paler, same, darker = (np.asarray(toned(tones, of_each(curve)))[0, :, 0, 0] for curve in (-1, 0, 1))
    np.testing.assert_array_equal(same, tones[0, :, 0, 0])
    assert (paler[1:-1] < same[1:-1]).all()
    assert (same[1:-1] < darker[1:-1]).all()
    for curve in (paler, darker):
        assert (curve[0], curve[-1]) == (0, 1)
        assert (np.diff(curve) >= 0).all()


def test_lines_are_evenly_apart_and_at_least_one_crosses_the_image():
    draws = np.float32(np.random.default_rng(1).random((2, 500, 1, 1, 1)))
    rows = np.asarray(photographs.build_ruled_lines_mask(20, *draws))[..., 0, 0]
    assert set(np.unique(rows)) == {0, 1}
    apart = {gap for row in rows for gap in np.diff(np.flatnonzero(row))}
    assert all(len(set(np.diff(np.flatnonzero(row)))) <= 1 for row in rows)
    assert apart == set(range(6, 20))
    assert (rows.sum(1) >= 1).all()


@pytest.mark.parametrize(("side", "edge"), [(0.1, "top"), (0.3, "bottom"), (0.6, "left"), (0.9, "right")])
def test_a_side_is_cut_off_with_or_without_its_frame(side: float, edge: str) -> None:
    ink = np.full((3, 14, 21, 1), 0.5, np.float32)
    there = of_each(1, 1, 0) > 0
    found = np.asarray(cut(ink, there, of_each(*[side] * 3), of_each(*[0.99] * 3), of_each(0, 1, 1) > 0))
    turned = {
        "top": found,
        "bottom": found[:, ::-1],
        "left": found.swapaxes(1, 2),
        "right": found[:, :, ::-1].swapaxes(1, 2),
    }[edge]
    most = turned.shape[1] * 2 // 7
    assert not turned[:2, :most].any()
    assert (turned[0, most:] == 0.5).all()
    assert (turned[1, most] == 1).all()
    assert (turned[1, most + 1 :] == 0.5).all()
    assert (turned[2] == 0.5).all(), "not there"


def test_none_of_it_is_no_change_and_more_of_it_changes_more():
    images = np.random.default_rng(0).random((400, 28, 28, 1), np.float32)
    np.testing.assert_array_equal(many(jax.random.key(0), images, 0.0), images)
    digits = np.zeros((400, 28, 28, 1), np.float32)
    digits[:, 6:22, 12:16] = 0.8
    changed = [np.asarray(many(jax.random.key(1), digits, amount)) for amount in (0.0, 0.3, 1.0)]
    moved = [np.abs(one - digits).mean() for one in changed]
    assert moved[0] == 0 < moved[1] < moved[2]
    assert all((one >= 0).all() and (one <= 1).all() for one in changed)


def test_as_many_images_are_lined_and_cut_as_the_chances_say():
    def drawn(seed: int, ink: float, amount: float) -> np.ndarray:
        batch = np.full((400, 28, 28, 1), ink, np.float32)
        keys = jax.random.split(jax.random.key(seed), 5)
        return np.concatenate([many(key, batch, amount) for key in keys])[..., 0]

    lined = drawn(2, 0.0, 1.0)
    # On bare ground nothing but lines and frames can be seen.
    share = lined.any((1, 2)).mean()
    assert abs(share - (1 - 0.75**2 * (1 - 0.25 / 2))) < 0.04
    full = drawn(3, 1.0, 1.0)
    assert abs((full.min((1, 2)) == 0).mean() - 0.25) < 0.04
    half = drawn(3, 1.0, 0.5)
    assert abs((half.min((1, 2)) == 0).mean() - 0.125) < 0.03
    assert half.max((1, 2)).min() >= 0.6, "ink is never so pale that it is gone"


def test_colours_of_an_image_are_changed_alike_and_images_each_their_own_way():
    grey = np.repeat(np.random.default_rng(4).random((50, 28, 28, 1), np.float32), 3, -1)
    found = np.asarray(many(jax.random.key(4), grey, 1.0))
    np.testing.assert_array_equal(found[..., 0], found[..., 1])
    np.testing.assert_array_equal(found[..., 0], found[..., 2])
    same = np.repeat(grey[:1], 50, 0)
    drawn = np.asarray(many(jax.random.key(4), same, 1.0))
    assert len({one.tobytes() for one in drawn}) == 50
