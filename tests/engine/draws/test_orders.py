"""Orders of images, learning rates, and how many steps a call has."""

import math

import jax
import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.draws.batches import count_steps_per_epoch, sample_epoch_batches
from ensemble.engine.learning_rate_schedule import compute_learning_rates
from ensemble.errors import ConfigError


def order(epoch: int = 1, size: int = 100, **changes: object) -> np.ndarray:
    config = EnsembleConfig(**{"members": 4, "batch_size": 30, **changes})
    return sample_epoch_batches(config, epoch, size)


def test_the_order_is_the_howto_key_chain():
    rng, _ = jax.random.split(jax.random.key(11))
    for epoch in (1, 2, 3):
        rng, input_rng = jax.random.split(rng)
        wanted = jax.random.permutation(input_rng, 100)[:90].reshape(3, 30)
        np.testing.assert_array_equal(order(epoch, seed=11)[2], wanted)


def test_the_remainder_is_dropped_and_no_image_comes_twice():
    numbers = order()
    assert numbers.shape == (4, 3, 30)
    assert all(len(set(member.ravel())) == 90 for member in numbers)
    assert (numbers == numbers[0]).all()


def test_own_orders_differ_and_hold_every_image_once():
    numbers = order(shuffle_per_member=True).reshape(4, -1)
    assert all(len(set(member)) == 90 for member in numbers)
    assert not (numbers[0] == numbers[1]).all()


def test_bootstrap_draws_with_replacement_once_for_the_run():
    first = order(1, 90, bootstrap=True).reshape(4, -1)
    second = order(2, 90, bootstrap=True).reshape(4, -1)
    for member in range(4):
        assert len(set(first[member])) < 75  # 1 − 1/e of 90 is 57 on average
        np.testing.assert_array_equal(np.sort(first[member]), np.sort(second[member]))
    assert not (np.sort(first[0]) == np.sort(first[1])).all()


def test_whole_batches_only():
    assert count_steps_per_epoch(60_000, 128) == 468
    assert count_steps_per_epoch(128, 128) == 1
    with pytest.raises(ConfigError, match="the 127 training images"):
        count_steps_per_epoch(127, 128)


def test_a_constant_rate_is_constant():
    assert (compute_learning_rates(EnsembleConfig(epochs=2), 5) == np.float32(0.1)).all()


def test_cosine_falls_from_the_full_rate_towards_zero():
    rates = compute_learning_rates(EnsembleConfig(epochs=4, schedule="cosine"), 25)
    assert rates[0] == np.float32(0.1)
    assert rates[50] == pytest.approx(0.05, rel=1e-5)
    assert (np.diff(rates) <= 0).all()
    assert 0 <= rates[-1] < 1e-4


def test_a_cyclic_rate_is_the_formula_of_its_source():
    config = EnsembleConfig(epochs=6, schedule="cyclic", cycles=3)
    T, M = 6 * 10, 3
    length = math.ceil(T / M)
    # Huang et al. 2017, equation 2, with iterations t = 1, …, T.
    places = [((t - 1) % length) / length for t in range(1, T + 1)]
    wanted = [0.1 / 2 * (math.cos(math.pi * place) + 1) for place in places]
    np.testing.assert_allclose(compute_learning_rates(config, 10), wanted, rtol=1e-6)
    one = EnsembleConfig(epochs=6, schedule="cyclic", cycles=1, warmup_epochs=1.5)
    as_cosine = EnsembleConfig(epochs=6, schedule="cosine", warmup_epochs=1.5)
    np.testing.assert_array_equal(compute_learning_rates(one, 10), compute_learning_rates(as_cosine, 10))


def test_cycles_end_with_whole_epochs_or_a_sentence_says_which_would():
    assert EnsembleConfig(epochs=6, schedule="cyclic", cycles=3).cycle_ends == (2, 4, 6)
    assert EnsembleConfig(epochs=6).cycle_ends == ()
    with pytest.raises(ConfigError, match="set cycles to 2, or epochs to a multiple of 3"):
        EnsembleConfig(epochs=4, schedule="cyclic", cycles=3)
    with pytest.raises(ConfigError, match="more than a cycle's 2"):
        EnsembleConfig(epochs=6, schedule="cyclic", cycles=3, warmup_epochs=2.5)


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_warm_up_rises_in_a_straight_line(schedule):
    config = EnsembleConfig(epochs=4, schedule=schedule, warmup_epochs=1.0)
    rates = compute_learning_rates(config, 10)
    np.testing.assert_allclose(np.diff(rates[:11]), 0.1 / 11, rtol=1e-4)
    assert len(rates) == 40
    # From there on it is a run of the epochs that are left.
    shorter = compute_learning_rates(EnsembleConfig(epochs=3, schedule=schedule), 10)
    np.testing.assert_allclose(rates[10:], shorter, rtol=1e-6)


def test_pace_settles_at_calls_of_about_a_second():
    pace = CallPacer()
    units = pace.choose_units(1000)
    assert units == 1
    for _ in range(8):
        pace.record_duration(units, units * 0.01)
        units = pace.choose_units(1000)
    assert units == 100
    assert pace.choose_units(7) == 7
    pace.record_duration(7, 1e-9)  # A clock that is too coarse for so short a call.
    assert pace.choose_units(1000) == 28
    pace.record_duration(100, 50.0)
    assert pace.choose_units(1000) == 2
    pace.record_duration(1, 50.0)
    assert pace.choose_units(1000) == 1
    pace.record_duration(1, 1.4)  # Two at a time, which are cheaper than one and one, while that is soon over.
    assert pace.choose_units(1000) == 2
    pace.record_duration(2, 3.2)
    assert pace.choose_units(1000) == 1
