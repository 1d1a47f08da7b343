"""Intervals and p of a mean of a handful of differences: they err as seldom as they promise."""

import numpy as np
import pytest

from ensemble.analysis.inference.paired_intervals import mean_interval
from ensemble.analysis.members.gain import mean_p_value


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_the_interval_of_a_handful_holds_the_mean_as_often_as_it_promises(n, draws):
    trials = draws(2000)
    drawn = np.random.default_rng(n).normal(0.3, 1.0, size=(trials, n))
    ends = np.array([mean_interval(values) for values in drawn])
    held = np.mean((ends[:, 0] <= 0.3) & (ends[:, 1] >= 0.3))
    assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / trials)
    assert np.isfinite(ends).all()


@pytest.mark.parametrize("n", [2, 3])
def test_p_of_a_handful_is_below_5_percent_no_more_often_than_that(n, draws):
    trials = draws(400)
    drawn = np.random.default_rng(n).normal(size=(trials, n))
    below = np.mean([mean_p_value(values) < 0.05 for values in drawn])
    assert below <= 0.05 + 3 * np.sqrt(0.95 * 0.05 / trials)


def test_one_difference_shows_nothing_however_large():
    for value in (1e-3, 1.0, -40.0):
        low, high = mean_interval(np.array([value]))
        assert low < 0 < high
        assert mean_p_value(np.array([value])) == 1.0
