"""Intervals that hold for groups and for examples in time order."""

import numpy as np
import pytest

from ensemble.analysis.inference.image_groups import grouped_share_interval
from ensemble.analysis.numeric.conformal_intervals import (
    compute_conformal_scores,
    fit_conformal_factor,
    measure_conformal_intervals,
)
from ensemble.analysis.numeric.normal_mixture import NormalMixture

LEVEL = 0.9


def test_intervals_hold_for_an_example_of_a_new_group() -> None:
    rng, held, plain = np.random.default_rng(0), [], []
    for draw in range(60):
        groups = np.repeat(np.arange(60), rng.integers(1, 30, 60))
        shared = rng.normal(size=60) * 2
        targets = shared[groups] + rng.normal(size=len(groups))
        mixture = NormalMixture(np.zeros((1, len(groups))), np.ones((1, len(groups))))
        found = measure_conformal_intervals(mixture, targets, LEVEL, draw, groups)
        assert found.calibrated_on == 30
        held.append(found.held)
        plain.append(measure_conformal_intervals(mixture, targets, LEVEL, draw).held)
        assert found.low < found.held < found.high
    assert np.mean(held) >= LEVEL - 0.02
    one = measure_conformal_intervals(mixture, targets, LEVEL, groups=np.zeros(len(targets), np.int64))
    assert one.factor == np.inf


def test_intervals_adapt_in_time_order_where_fixed_ones_fail() -> None:
    rng = np.random.default_rng(1)
    drift = np.linspace(1, 4, 2000)
    targets = rng.normal(size=2000) * drift
    mixture = NormalMixture(np.zeros((1, 2000)), np.ones((1, 2000)))
    fixed = fit_conformal_factor(mixture.select_examples(np.arange(1000)), targets[:1000], LEVEL)
    late = compute_conformal_scores(mixture, targets)[1000:]
    assert (late <= fixed).mean() < 0.8
    found = measure_conformal_intervals(mixture, targets, LEVEL, in_time_order=True)
    assert (found.calibrated_on, found.counted_on) == (1000, 1000)
    assert found.held == pytest.approx(LEVEL, abs=0.015)
    assert found.factor > fixed


def test_the_share_in_intervals_is_known_as_well_as_there_are_groups() -> None:
    targets = np.random.default_rng(2).normal(size=60).repeat(20)
    groups = np.arange(60).repeat(20)
    mixture = NormalMixture(np.zeros((1, 1200)), np.ones((1, 1200)))
    found = measure_conformal_intervals(mixture, targets, LEVEL, groups=groups)
    held = np.arange(30) < round(30 * found.held)
    assert 0 < held.sum() < 30
    assert (found.low, found.high) == pytest.approx(grouped_share_interval(held.repeat(20), np.arange(30).repeat(20)))


@pytest.mark.parametrize(("calibrated_on", "held"), [(8, 1), (9, 8 / 9)])
def test_the_next_example_in_time_order_counts_among_those_that_are_ranked(calibrated_on: int, held: float) -> None:
    """At a level of 0.9 nine examples are enough for a finite factor, which is the largest score; eight are not."""
    targets = np.full(2 * calibrated_on, 0.5)
    targets[calibrated_on] = 9.0
    mixture = NormalMixture(np.zeros((1, len(targets))), np.ones((1, len(targets))))
    assert measure_conformal_intervals(mixture, targets, LEVEL, in_time_order=True).held == pytest.approx(held)
