"""Figures, intervals and gains of predictions of numbers, against definitions and simulation."""

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from ensemble.analysis.numeric.conformal_intervals import fit_conformal_factor, measure_conformal_intervals
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_committees import compute_numeric_committees
from ensemble.analysis.numeric.numeric_quality import (
    INTERVAL_LEVELS,
    compute_numeric_gains,
    compute_pit,
    measure_interval_coverage,
    measure_numeric_quality,
)


def simulate(examples: int, seed: int, stretch: float = 1.0) -> tuple[NormalMixture, Doubles]:
    """Three members, and targets drawn from their mixture: calibrated, unless σ is stretched."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(3, examples))
    variance = rng.uniform(0.2, 2, (3, examples))
    who = rng.integers(3, size=examples)
    pick = np.arange(examples)
    targets = rng.normal(mean[who, pick], np.sqrt(variance[who, pick]))
    return NormalMixture(mean, variance * stretch**2), targets


def test_errors_are_those_of_scikit_learn() -> None:
    mixture, targets = simulate(200, 0)
    quality, mean = measure_numeric_quality(mixture, targets), mixture.mean.mean(axis=0)
    assert quality.rmse == pytest.approx(root_mean_squared_error(targets, mean))
    assert quality.mae == pytest.approx(mean_absolute_error(targets, mean))
    assert quality.r2 == pytest.approx(r2_score(targets, mean))


def test_targets_that_are_all_one_number_have_no_r2() -> None:
    mixture, _ = simulate(5, 0)
    assert np.isnan(measure_numeric_quality(mixture, np.zeros(5)).r2)


@pytest.mark.parametrize("level", INTERVAL_LEVELS)
def test_calibrated_members_cover_what_they_promise(level: float) -> None:
    mixture, targets = simulate(4000, 1)
    found = measure_interval_coverage(mixture, targets, level)
    assert abs(found.held - level) < 3.3 * np.sqrt(level * (1 - level) / 4000)
    assert found.low < found.held < found.high
    narrow = measure_interval_coverage(simulate(4000, 1, stretch=0.5)[0], targets, level)
    assert narrow.high < level
    assert narrow.width < found.width


def test_the_probability_transform_of_calibrated_members_is_even() -> None:
    mixture, targets = simulate(4000, 2)
    counts, _ = np.histogram(compute_pit(mixture, targets), 10, (0, 1))
    assert ((counts - 400) ** 2 / 400).sum() < 27.9, "χ² of nine degrees, one in a thousand"


@pytest.mark.parametrize("stretch", [0.3, 1.0, 3.0])
def test_conformal_intervals_keep_their_promise_whatever_sigma_says(stretch: float) -> None:
    mixture, targets = simulate(6000, 3, stretch)
    found = measure_conformal_intervals(mixture, targets, 0.9)
    assert abs(found.held - 0.9) < 0.02
    assert found.calibrated_on == 3000


def test_a_conformal_factor_is_the_order_statistic_that_it_is_said_to_be() -> None:
    mixture = NormalMixture(np.zeros((1, 19)), np.full((1, 19), 4.0))
    targets = np.arange(19.0)
    assert fit_conformal_factor(mixture, targets, 0.9) == 17 / 2
    assert np.isinf(fit_conformal_factor(mixture, targets, 0.99)), "too few to promise that"


def test_gains_are_the_mean_members_losses_less_the_ensembles() -> None:
    mixture, targets = simulate(300, 4)
    every = [measure_numeric_quality(mixture.select_members([m]), targets) for m in range(3)]
    whole = measure_numeric_quality(mixture, targets)
    gains = {gain.metric: gain for gain in compute_numeric_gains(mixture, targets)}
    assert gains["nll"].gain == pytest.approx(np.mean([q.nll for q in every]) - whole.nll)
    assert gains["crps"].gain == pytest.approx(np.mean([q.crps for q in every]) - whole.crps)
    assert gains["squared_error"].gain == pytest.approx(np.mean([q.rmse**2 for q in every]) - whole.rmse**2)
    assert all(0 <= gain.low <= gain.gain <= gain.high for gain in gains.values())
    same = compute_numeric_gains(mixture.select_members([0, 0]), targets)
    assert [gain.gain for gain in same] == pytest.approx([0, 0, 0], abs=1e-12)


def test_committees_are_the_mean_over_every_choice_of_members() -> None:
    mixture, targets = simulate(50, 5)
    mixture = NormalMixture(
        np.vstack([mixture.mean, mixture.mean[:2] + 0.5]), np.vstack([mixture.variance, 2 * mixture.variance[:2]])
    )
    for committee in compute_numeric_committees(mixture, targets):
        chosen = [
            mixture.select_members(list(members)) for members in itertools.combinations(range(5), committee.members)
        ]
        assert committee.squared_error == pytest.approx(
            np.mean([(targets - one.compute_mean()) ** 2 for one in chosen])
        )
        assert committee.crps == pytest.approx(np.mean([one.compute_crps(targets) for one in chosen]))


def test_targets_that_do_not_fit_are_refused() -> None:
    mixture, targets = simulate(5, 0)
    with pytest.raises(ValueError, match=r"\(4,\) targets for 5"):
        measure_numeric_quality(mixture, targets[:4])
    with pytest.raises(ValueError, match="not a finite"):
        measure_numeric_quality(mixture, np.full(5, np.nan))


def test_the_interval_of_a_coverage_is_clopper_and_pearsons_at_a_third_of_5_percent() -> None:
    rng = np.random.default_rng(8)
    mixture, targets = NormalMixture(np.zeros((2, 60)), np.ones((2, 60))), rng.normal(0, 1.2, 60)
    found = measure_interval_coverage(mixture, targets, 0.9)
    held = round(found.held * 60)
    assert 40 < held < 60
    ends = binomtest(held, 60).proportion_ci(1 - 0.05 / 3, "exact")
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    copies, five = NormalMixture(np.zeros((2, 300)), np.ones((2, 300))), targets.repeat(5)
    grouped = measure_interval_coverage(copies, five, 0.9, np.arange(60).repeat(5))
    assert grouped.held == found.held
    assert (grouped.low, grouped.high) == pytest.approx((found.low, found.high), abs=0.02)
    assert measure_interval_coverage(copies, five, 0.9).low > found.low + 0.04
