"""The difference of two learning curves: closed forms, and how often its interval errs."""

import numpy as np
import pytest

from ensemble.analysis.acquisition.learning_gain import compute_learning_gain, weigh_trapezoids
from ensemble.analysis.inference.crossed_means import estimate_crossed_mean


def draw_arms(
    draws: np.random.Generator, gain: float, seeds: int = 5, rounds: int = 4, images: int = 300
) -> tuple[np.ndarray, np.ndarray]:
    """(K, R + 1, N) twice: both arms begin alike, and part by `gain` on average from then on."""
    ease = draws.normal(1.5, 1.5, images)
    arms = []
    first = draws.random((seeds, 1, images)) < 1 / (1 + np.exp(-ease))
    for shift in (gain, 0.0):
        level = draws.normal(0, 0.15, (seeds, rounds, 1)) + shift
        later = draws.random((seeds, rounds, images)) < 1 / (1 + np.exp(-ease - level))
        arms.append(np.concatenate([first, later], axis=1))
    return arms[0], arms[1]


def test_the_area_is_numpys_trapezoid() -> None:
    positions, values = np.array([20.0, 30.0, 60.0, 61.0]), np.array([0.0, 2.0, 1.0, 5.0])
    mean = np.trapezoid(values, positions) / (positions[-1] - positions[0])
    assert weigh_trapezoids(positions) @ values == pytest.approx(mean)


def test_a_gain_is_that_of_each_round_and_of_the_area() -> None:
    chosen, at_random = draw_arms(np.random.default_rng(0), 1.0)
    counts = np.array([10, 20, 30, 50, 90])
    gain = compute_learning_gain(counts, chosen, at_random)
    apart = chosen.mean(axis=(0, 2)) - at_random.mean(axis=(0, 2))
    np.testing.assert_allclose([each.mean for each in gain.rounds], apart[1:])
    assert gain.area.mean == pytest.approx(np.trapezoid(apart, counts) / 80)
    assert gain.area.low < gain.area.mean < gain.area.high
    assert (gain.seeds, gain.images, gain.sign, gain.has_enough_seeds) == (5, 300, 1, True)
    last = estimate_crossed_mean(chosen[:, -1] * 1.0 - at_random[:, -1], bound=1.0)
    assert gain.rounds[-1] == last
    assert compute_learning_gain(counts, at_random, chosen).sign == -1


def test_copies_of_the_test_images_make_nothing_surer() -> None:
    chosen, at_random = draw_arms(np.random.default_rng(1), 0.5)
    counts, groups = np.arange(1, 6), np.tile(np.arange(300), 3)
    once = compute_learning_gain(counts, chosen, at_random)
    thrice = compute_learning_gain(counts, np.tile(chosen, 3), np.tile(at_random, 3), groups=groups)
    assert thrice.area.mean == pytest.approx(once.area.mean)
    assert thrice.area.high - thrice.area.low >= 0.99 * (once.area.high - once.area.low)


@pytest.mark.parametrize("gain", [0.0, 0.4])
def test_the_interval_is_wrong_as_seldom_as_it_says(gain: float) -> None:
    draws, wrong, trials = np.random.default_rng(2), 0, 100
    many = draw_arms(np.random.default_rng(3), gain, seeds=40, images=5_000)
    truth = compute_learning_gain(np.arange(1, 6), *many).area.mean
    for _ in range(trials):
        area = compute_learning_gain(np.arange(1, 6), *draw_arms(draws, gain)).area
        wrong += not area.low <= truth <= area.high
    assert wrong <= 0.05 * trials


@pytest.mark.parametrize(("seeds", "rounds"), [(1, 3), (3, 0)])
def test_without_a_second_seed_or_a_round_there_is_no_difference(seeds: int, rounds: int) -> None:
    arms = draw_arms(np.random.default_rng(0), 0.0, seeds=seeds, rounds=rounds)
    with pytest.raises(ValueError, match="two seeds, and a round"):
        compute_learning_gain(np.arange(1, rounds + 2), *arms)
