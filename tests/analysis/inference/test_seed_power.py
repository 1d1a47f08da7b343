"""The chance that seeds show a difference: against the very test, on draws."""

import numpy as np
import pytest
from scipy.stats import norm

from ensemble.analysis.inference.crossed_means import estimate_crossed_mean
from ensemble.analysis.inference.seed_power import compute_seed_power

RUNS_SD, IMAGES_SD, IMAGES = 0.01, 0.1, 400


@pytest.mark.parametrize(("seeds", "difference"), [(2, 0.04), (3, 0.02), (3, 0.04), (5, 0.02), (3, 0)])
def test_it_is_how_often_the_test_shows_it(seeds: int, difference: float) -> None:
    draw, shown, draws = np.random.default_rng(seeds), 0, 400
    for _ in range(draws):
        ours = draw.normal(0, RUNS_SD, (seeds, 1)) + draw.normal(0, IMAGES_SD, IMAGES)
        theirs = draw.normal(difference, RUNS_SD, (seeds, 1)) + np.zeros(IMAGES)
        shown += estimate_crossed_mean(ours, theirs).p < 0.05
    chance = compute_seed_power(difference, RUNS_SD**2, IMAGES_SD**2 / IMAGES, seeds)
    error = np.sqrt(max(chance * (1 - chance), 0.01) / draws)
    assert chance == pytest.approx(shown / draws, abs=3.5 * error + 0.01)


@pytest.mark.parametrize("errors", [0.0, 1.0, 2.8])
def test_of_very_many_seeds_it_is_the_power_of_the_z_test(errors: float) -> None:
    """The difference of two means of K runs has the variance 2 S² / K + T²."""
    error = np.sqrt(2 * 1e-4 / 500 + 4e-7)
    power = norm.sf(norm.isf(0.025) - errors) + norm.cdf(-norm.isf(0.025) - errors)
    assert compute_seed_power(errors * error, 1e-4, 4e-7, 500) == pytest.approx(power, abs=0.003)


def test_more_seeds_and_larger_differences_are_shown_more_often() -> None:
    chances = [compute_seed_power(0.03, 1e-4, 1e-6, seeds) for seeds in (2, 3, 5, 20)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.99
    assert compute_seed_power(0.01, 1e-4, 1e-6, 3) < chances[1]
    assert compute_seed_power(-0.03, 1e-4, 1e-6, 3) == pytest.approx(chances[1])


def test_runs_without_any_spread_show_whatever_there_is() -> None:
    assert compute_seed_power(0.01, 0.0, 0.0, 2) == 1
    assert compute_seed_power(0.0, 0.0, 0.0, 2) == 0


def test_one_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        compute_seed_power(0.1, 1e-4, 1e-6, 1)
