"""Means over runs and images against SciPy where one of the two is all, and by simulation."""

import numpy as np
import pytest
from scipy import stats

from ensemble.analysis.inference.crossed_means import (
    OVER_IMAGES,
    OVER_SEEDS_AND_IMAGES,
    estimate_crossed_mean,
    student_mean_interval,
)
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from tests.conftest import variant

RUNS, N = 4, 200


def drawn(draws, runs=RUNS, n=N, of_runs=0.3, of_images=1.0, of_both=1.0):
    """(K, N) of a mean of 0, with what runs, images and both together differ by."""
    return (
        of_runs * draws.normal(size=(runs, 1))
        + of_images * draws.normal(size=(1, n))
        + of_both * draws.normal(size=(runs, n))
    )


def test_where_all_images_are_alike_it_is_welchs_interval_of_the_runs():
    draws = np.random.default_rng(0)
    ours, theirs = draws.normal(size=5), draws.normal(1, 3, size=3)
    found = estimate_crossed_mean(np.repeat(ours[:, None], 7, 1), np.repeat(theirs[:, None], 7, 1))
    welch = stats.ttest_ind(ours, theirs, equal_var=False)
    ends = welch.confidence_interval(0.95)
    assert (found.mean, found.p) == pytest.approx((ours.mean() - theirs.mean(), welch.pvalue))
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert found.over == OVER_SEEDS_AND_IMAGES


def test_where_all_runs_are_alike_it_is_the_paired_interval_of_the_images():
    draws = np.random.default_rng(1)
    ours, theirs = draws.normal(0.1, 1, N), draws.normal(size=N)
    found = estimate_crossed_mean(np.tile(ours, (3, 1)), np.tile(theirs, (2, 1)))
    paired = stats.ttest_rel(ours, theirs)
    ends = paired.confidence_interval(0.95)
    assert (found.low, found.high, found.p) == pytest.approx((ends.low, ends.high, paired.pvalue))


def test_runs_alone_on_every_side_leave_an_interval_over_images_alone():
    draws = np.random.default_rng(2)
    ours, theirs = (drawn(draws, runs=1, of_runs=9.0) for _ in range(2))
    found = estimate_crossed_mean(ours, theirs)
    paired = stats.ttest_rel(ours[0], theirs[0]).confidence_interval(0.95)
    assert found.over == OVER_IMAGES
    assert (found.low, found.high) == pytest.approx((paired.low, paired.high))


def test_one_run_against_several_is_held_against_how_they_vary():
    draws = np.random.default_rng(6)
    one, several = 2.0, draws.normal(size=5)
    found = estimate_crossed_mean(np.full((1, 9), one), np.repeat(several[:, None], 9, 1))
    # A t test with the variance of one side alone, which is what pooling comes to here.
    pooled = stats.ttest_ind([one], several)
    assert (found.p, found.over) == (pytest.approx(pooled.pvalue), OVER_SEEDS_AND_IMAGES)
    held = 0
    for _ in range(400):
        found = estimate_crossed_mean(drawn(draws, runs=1), drawn(draws, runs=3))
        held += found.low <= 0 <= found.high
    assert held >= 370


@pytest.mark.parametrize("of_images", [3.0, variant(0.0)])
def test_intervals_hold_for_new_runs_on_new_images_where_one_over_images_does_not(of_images):
    draws = np.random.default_rng(3)
    held, images_alone = 0, 0
    for _ in range(400):
        # The truth is 0: both sides have the same images, and draw their runs anew.
        shared = of_images * draws.normal(size=N)
        ours, theirs = (drawn(draws, of_images=0.0) + shared for _ in range(2))
        found = estimate_crossed_mean(ours, theirs)
        held += found.low <= 0 <= found.high
        alone = stats.ttest_1samp((ours - theirs).mean(axis=0), 0.0).pvalue
        images_alone += alone >= 0.05
    assert 370 <= held <= 396
    assert images_alone < 240


def test_the_mean_of_a_group_holds_for_new_runs_on_new_images():
    draws = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        found = estimate_crossed_mean(drawn(draws, of_images=2.0))
        held += found.low <= 0 <= found.high
    assert 370 <= held <= 396


def test_the_interval_and_its_p_never_contradict_each_other():
    draws = np.random.default_rng(5)
    for shift in np.linspace(0, 1, 50):
        found = estimate_crossed_mean(drawn(draws) + shift, drawn(draws))
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_images_that_all_runs_get_right_still_leave_an_interval():
    found = estimate_crossed_mean(np.ones((3, 100)), bound=1.0)
    assert found.mean == 1
    # The rule of three: 100 right of 100 leave 3 % open at 95 %, one-sided.
    assert 0.02 < 1 - found.low < 0.04


def test_nothing_differs_where_all_is_equal():
    found = estimate_crossed_mean(np.ones((2, 5)), np.ones((2, 5)))
    assert (found.mean, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_an_interval_over_runs_is_students():
    values = [0.3, 0.5, 0.9]
    ends = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert student_mean_interval(values) == pytest.approx((ends.low, ends.high))
    with pytest.raises(ValueError, match="at least two"):
        student_mean_interval([1.0])


@pytest.mark.parametrize("theirs", [np.ones((2, 4)), np.empty((0, 3))])
def test_runs_on_other_images_are_refused(theirs):
    with pytest.raises(ValueError, match="the same ones on both sides"):
        estimate_crossed_mean(np.ones((2, 3)), theirs)


def test_of_several_tests_at_once_one_errs_no_more_often_than_holm_promises():
    draws, erred, sets = np.random.default_rng(7), 0, 300
    chance = {"n": 100, "of_runs": 0.2, "of_images": 0.0, "of_both": 0.5}
    for _ in range(sets):
        base = drawn(draws, runs=1, **chance)
        ps = [estimate_crossed_mean(drawn(draws, runs=3, **chance), base).p for _ in range(8)]
        erred += bool(adjust_p_holm(ps).min() < 0.05)
    assert erred <= 0.05 * sets + 2 * np.sqrt(0.05 * 0.95 * sets)
