"""The law of a sum of unlike events against products one by one, and SciPy where they are alike."""

from time import perf_counter

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from ensemble.analysis.inference.poisson_binomial import (
    BLOCK_EVENTS,
    poisson_binomial_distribution,
    poisson_binomial_p_value,
)


def one_by_one(probabilities: np.ndarray) -> np.ndarray:
    law = np.ones(1)
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    return law


@pytest.mark.parametrize("n", [0, 1, 2, BLOCK_EVENTS - 1, BLOCK_EVENTS, BLOCK_EVENTS + 1, 2 * BLOCK_EVENTS, 700])
def test_it_is_the_product_of_the_events_one_by_one(n: int) -> None:
    probabilities = np.random.default_rng(n).random(n)
    found = poisson_binomial_distribution(probabilities)
    assert found.shape == (n + 1,)
    np.testing.assert_allclose(found, one_by_one(probabilities), atol=1e-14)


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 1.0])
def test_of_events_alike_it_is_the_binomial_law(p: float) -> None:
    found = poisson_binomial_distribution(np.full(3 * BLOCK_EVENTS, p))
    np.testing.assert_allclose(found, binom.pmf(np.arange(3 * BLOCK_EVENTS + 1), 3 * BLOCK_EVENTS, p), atol=1e-14)


@pytest.mark.parametrize("events", [0, 9, 15, 40, 60])
def test_p_is_twice_the_smaller_tail(events: int) -> None:
    tails = [binomtest(events, 60, 0.25, alternative=side).pvalue for side in ("less", "greater")]
    expected = min(1.0, 2 * min(tails))
    assert poisson_binomial_p_value(np.full(60, 0.25), events) == pytest.approx(expected, abs=1e-12)


def test_where_errors_are_rare_the_normal_law_is_off_and_this_is_not() -> None:
    """Five errors expected of 500, none seen: p is twice the product of what was said."""
    confidence = np.linspace(0.98, 1.0, 500)
    assert poisson_binomial_p_value(confidence, 500) == pytest.approx(2 * np.prod(confidence), rel=1e-9)


def test_certain_answers_leave_no_chance() -> None:
    assert poisson_binomial_p_value(np.ones(20), 20) == 1.0
    assert poisson_binomial_p_value(np.ones(20), 19) == 0.0


def test_as_many_answers_as_a_test_set_has_take_no_time() -> None:
    confidence = 1 - np.random.default_rng(0).random(10_000) ** 20
    start = perf_counter()
    poisson_binomial_p_value(confidence, 9_900)
    assert perf_counter() - start < 1  # it takes a hundredth; computers under test are slow


@pytest.mark.parametrize("events", [-1, 4])
def test_more_events_than_there_are_cannot_happen(events: int) -> None:
    with pytest.raises(ValueError, match="cannot have happened"):
        poisson_binomial_p_value(np.full(3, 0.5), events)
