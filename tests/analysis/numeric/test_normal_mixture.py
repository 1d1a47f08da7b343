"""Mixtures of normal distributions: scores equal to another library's, quantiles, variances."""

import numpy as np
import pytest
import scoringrules
from scipy.integrate import quad
from scipy.stats import norm

from ensemble.analysis.numeric.normal_mixture import NormalMixture


def draw_mixture(members: int, examples: int, seed: int = 0) -> NormalMixture:
    rng = np.random.default_rng(seed)
    return NormalMixture(rng.normal(size=(members, examples)), rng.uniform(0.05, 4, (members, examples)))


TARGETS = np.random.default_rng(9).normal(0, 2, 40)


@pytest.mark.parametrize("members", [1, 2, 7])
def test_scores_are_those_of_scoringrules(members: int) -> None:
    mixture = draw_mixture(members, len(TARGETS))
    mean, spread = mixture.mean.T, np.sqrt(mixture.variance).T
    weights = np.full_like(mean, 1 / members)
    crps = scoringrules.crps_mixnorm(TARGETS, mean, spread, weights)
    nll = scoringrules.logs_mixnorm(TARGETS, mean, spread, weights)
    np.testing.assert_allclose(mixture.compute_crps(TARGETS), crps, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixture.compute_nll(TARGETS), nll, rtol=1e-9)


def test_one_member_is_its_own_normal_distribution() -> None:
    mixture = draw_mixture(1, len(TARGETS))
    own = norm(mixture.mean[0], np.sqrt(mixture.variance[0]))
    np.testing.assert_allclose(mixture.compute_nll(TARGETS), -own.logpdf(TARGETS), rtol=1e-12)
    np.testing.assert_allclose(mixture.compute_cdf(TARGETS), own.cdf(TARGETS), rtol=1e-12)
    np.testing.assert_allclose(mixture.compute_quantile(0.9), own.ppf(0.9), atol=1e-9)
    assert not mixture.compute_epistemic_variance().any()


def test_members_that_say_the_same_are_one_member() -> None:
    one = draw_mixture(1, len(TARGETS))
    many = one.select_members([0, 0, 0, 0])
    np.testing.assert_allclose(many.compute_crps(TARGETS), one.compute_crps(TARGETS), rtol=1e-9)
    np.testing.assert_allclose(many.compute_nll(TARGETS), one.compute_nll(TARGETS), rtol=1e-9)


def test_far_targets_have_a_finite_nll() -> None:
    mixture = NormalMixture(np.zeros((2, 1)), np.full((2, 1), 1e-4))
    assert mixture.compute_nll(np.array([10.0]))[0] == pytest.approx(0.5e6 + 0.5 * np.log(2 * np.pi * 1e-4))


@pytest.mark.parametrize("probability", [0.001, 0.05, 0.5, 0.975])
def test_quantiles_turn_the_distribution_round(probability: float) -> None:
    mixture = draw_mixture(5, 30)
    at = mixture.compute_quantile(probability)
    np.testing.assert_allclose(mixture.compute_cdf(at), probability, atol=1e-9)


def test_the_variance_is_that_of_the_density() -> None:
    mixture = NormalMixture(np.array([[0.0], [3.0]]), np.array([[1.0], [0.25]]))

    def density(y: float) -> float:
        return float(np.exp(-mixture.compute_nll(np.array([y]))[0]))

    mean = quad(lambda y: y * density(y), -10, 15, points=[0, 3])[0]
    spread = quad(lambda y: (y - mean) ** 2 * density(y), -10, 15, points=[0, 3])[0]
    assert mixture.compute_mean()[0] == pytest.approx(mean)
    assert mixture.compute_variance()[0] == pytest.approx(spread)
    assert mixture.compute_aleatoric_variance()[0] == 0.625
    assert mixture.compute_epistemic_variance()[0] == 2.25


@pytest.mark.parametrize(
    ("mean", "variance", "why"),
    [
        (np.zeros((2, 3)), np.ones((2, 2)), "both alike"),
        (np.zeros(3), np.ones(3), "both alike"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "not empty"),
        (np.array([[np.nan]]), np.ones((1, 1)), "mean is not a finite"),
        (np.zeros((1, 1)), np.zeros((1, 1)), "positive"),
        (np.zeros((1, 1)), np.array([[np.inf]]), "positive"),
    ],
)
def test_what_is_no_mixture_is_refused(mean: np.ndarray, variance: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        NormalMixture(mean, variance)
