"""Quantiles and numbers alone, against scikit-learn, closed forms and definitions."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import mean_pinball_loss

from ensemble.analysis.numeric.conformal_intervals import measure_conformal_intervals
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_evaluation import evaluate_numbers
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage, measure_numeric_quality
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble

RNG = np.random.default_rng(0)
N = 2000
MEAN, SIGMA = RNG.normal(size=N), RNG.uniform(0.5, 2, N)
TARGETS = RNG.normal(MEAN, SIGMA)


def quantiles_of(levels: np.ndarray, members: int = 1) -> QuantileEnsemble:
    """Members that know the distribution, but for an offset each."""
    offsets = np.linspace(-0.3, 0.3, members) if members > 1 else np.zeros(1)
    curves = MEAN + norm.ppf(levels)[:, None] * SIGMA
    return QuantileEnsemble(levels, curves[None] + offsets[:, None, None])


def test_pinball_losses_are_those_of_scikit_learn() -> None:
    ensemble = quantiles_of(np.array([0.1, 0.5, 0.9]), 3)
    pinball = ensemble.compute_pinball(TARGETS)
    for at, level in enumerate(ensemble.levels):
        expected = mean_pinball_loss(TARGETS, ensemble.quantiles.mean(axis=0)[at], alpha=float(level))
        assert pinball[at].mean() == pytest.approx(expected)


def test_the_crps_of_dense_levels_is_that_of_the_normal_distribution() -> None:
    levels = (np.arange(400) + 0.5) / 400
    dense = quantiles_of(levels).compute_crps(TARGETS)
    exact = NormalMixture(MEAN[None], SIGMA[None] ** 2).compute_crps(TARGETS)
    assert dense.mean() == pytest.approx(exact.mean(), rel=2e-3)


def test_coverage_is_counted_between_given_levels_alone() -> None:
    ensemble = quantiles_of(np.array([0.05, 0.1, 0.5, 0.6, 0.95]))
    assert ensemble.interval_levels == (0.9,)
    found = measure_interval_coverage(ensemble, TARGETS, 0.9)
    assert found.low < 0.9 < found.high
    assert found.width == pytest.approx(2 * norm.ppf(0.95) * SIGMA.mean())
    evaluation = evaluate_numbers(ensemble, TARGETS, ["one"])
    assert [each.level for each in evaluation.coverage] == [0.9]
    assert (evaluation.ensemble.nll, evaluation.aleatoric) == (None, None)


def test_a_median_that_is_not_given_lies_between_the_levels_beside_it() -> None:
    given = quantiles_of(np.array([0.4, 0.6]))
    np.testing.assert_allclose(given.compute_mean(), MEAN)
    uneven = QuantileEnsemble(np.array([0.3, 0.55]), np.array([[[0.0], [1.0]]]))
    assert uneven.compute_mean() == pytest.approx([0.8])
    with pytest.raises(ValueError, match="either side"):
        QuantileEnsemble(np.array([0.6, 0.9]), np.zeros((1, 2, 3)))


def test_no_member_is_better_than_the_mean_of_them_by_losing() -> None:
    for ensemble in (quantiles_of(np.array([0.1, 0.5, 0.9]), 3), PointEnsemble(RNG.normal(MEAN, 1, (3, N)))):
        evaluation = evaluate_numbers(ensemble, TARGETS, ["a", "b", "c"])
        assert all(gain.gain >= 0 and gain.low >= 0 for gain in evaluation.gains)
        squared = next(gain for gain in evaluation.gains if gain.metric == "squared_error")
        assert squared.gain == pytest.approx(evaluation.epistemic)
        assert evaluation.committees[-1].squared_error == pytest.approx(evaluation.ensemble.rmse**2)
        assert all(committee.crps is None for committee in evaluation.committees)


@pytest.mark.parametrize("form", ["quantiles", "points"])
def test_conformal_intervals_hold_what_they_promise(form: str) -> None:
    """Of members whose own intervals are half as wide as they should be, or that have none."""
    narrow = MEAN + 0.5 * norm.ppf([0.05, 0.5, 0.95])[:, None] * SIGMA
    ensemble = (
        QuantileEnsemble(np.array([0.05, 0.5, 0.95]), narrow[None])
        if form == "quantiles"
        else PointEnsemble(MEAN[None])
    )
    held = [measure_conformal_intervals(ensemble, TARGETS, 0.9, seed).held for seed in range(20)]
    assert np.mean(held) == pytest.approx(0.9, abs=0.015)


def test_numbers_alone_have_errors_and_nothing_of_a_spread() -> None:
    quality = measure_numeric_quality(PointEnsemble(MEAN[None]), TARGETS)
    assert quality.rmse == pytest.approx(np.sqrt(((TARGETS - MEAN) ** 2).mean()))
    assert (quality.nll, quality.crps, quality.sharpness) == (None, None, None)
    assert PointEnsemble(MEAN[None]).compute_spread() is None
