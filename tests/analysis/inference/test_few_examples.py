"""Intervals and p of a mean of a handful of differences: they err as seldom as they promise."""

import numpy as np
import pytest

from ensemble.analysis.inference.paired import mean_interval
from ensemble.analysis.members.gain import mean_p


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_the_interval_of_a_handful_holds_the_mean_as_often_as_it_promises(n):
    draws = np.random.default_rng(n).normal(0.3, 1.0, size=(2000, n))
    ends = np.array([mean_interval(values) for values in draws])
    held = np.mean((ends[:, 0] <= 0.3) & (ends[:, 1] >= 0.3))
    assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)
    assert np.isfinite(ends).all()


@pytest.mark.parametrize("n", [2, 3])
def test_p_of_a_handful_is_below_5_percent_no_more_often_than_that(n):
    draws = np.random.default_rng(n).normal(size=(400, n))
    below = np.mean([mean_p(values) < 0.05 for values in draws])
    assert below <= 0.05 + 3 * np.sqrt(0.95 * 0.05 / 400)


def test_one_difference_shows_nothing_however_large():
    for value in (1e-3, 1.0, -40.0):
        low, high = mean_interval(np.array([value]))
        assert low < 0 < high
        assert mean_p(np.array([value])) == 1.0
