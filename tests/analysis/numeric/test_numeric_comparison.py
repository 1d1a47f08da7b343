"""Two ensembles against each other: by hand, and as often right as promised."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_rel

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_comparison import adjust_comparisons, compare_numeric_ensembles
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble


def test_differences_are_those_of_paired_losses() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=500)
    first = NormalMixture(targets + rng.normal(0, 0.3, (3, 500)), np.full((3, 500), 0.1))
    second = NormalMixture(targets + rng.normal(0, 0.6, (2, 500)), np.full((2, 500), 0.3))
    found = compare_numeric_ensembles(first, second, targets)
    assert [each.metric for each in found.differences] == ["squared_error", "nll", "crps"]
    for each in found.differences:
        ours = first.compute_losses(targets)[each.metric]
        theirs = second.compute_losses(targets)[each.metric]
        assert each.difference == pytest.approx(ours.mean() - theirs.mean())
        assert each.low < each.difference < each.high < 0
        assert each.p_value < 1e-6
        assert each.p_value >= ttest_rel(ours, theirs).pvalue
    assert found.ratio.high < 1
    back = compare_numeric_ensembles(second, first, targets)
    assert back.ratio.ratio == pytest.approx(1 / found.ratio.ratio)
    points = compare_numeric_ensembles(PointEnsemble(first.mean), second, targets)
    assert [each.metric for each in points.differences] == ["squared_error"]


@pytest.mark.long
def test_no_difference_is_found_more_often_than_promised() -> None:
    rng, found = np.random.default_rng(1), 0
    for _ in range(200):
        targets = rng.normal(size=150)
        one, other = (PointEnsemble(targets + rng.normal(0, 0.5, (2, 150))) for _ in range(2))
        (difference, _) = compare_numeric_ensembles(one, other, targets).differences
        found += not difference.low <= 0 <= difference.high
    assert found / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_quantiles_and_densities_are_not_compared_by_the_crps() -> None:
    rng = np.random.default_rng(2)
    mean, levels = rng.normal(0, 2, 500), np.array([0.05, 0.5, 0.95])
    targets = mean + rng.normal(size=500)
    normal = NormalMixture(np.stack([mean, mean]), np.ones((2, 500)))
    same = QuantileEnsemble(levels, np.stack([mean + norm.ppf(levels)[:, None]] * 2))
    for first, second in ((same, normal), (normal, same)):
        found = {each.metric: each for each in compare_numeric_ensembles(first, second, targets).differences}
        assert list(found) == ["squared_error", "pinball"]
        assert found["pinball"].difference == pytest.approx(0, abs=1e-6)
        assert not found["pinball"].is_significant
    other = QuantileEnsemble(levels[1:2], normal.mean[:, None])
    assert [each.metric for each in compare_numeric_ensembles(same, other, targets).differences] == ["squared_error"]


def test_many_equal_runs_are_told_apart_at_most_as_often_as_promised() -> None:
    rng, found = np.random.default_rng(3), 0
    for _ in range(60):
        targets = rng.normal(size=300)
        runs = [PointEnsemble(targets + rng.normal(0, 0.2, (1, 300))) for _ in range(21)]
        compared = adjust_comparisons([compare_numeric_ensembles(run, runs[0], targets) for run in runs[1:]])
        assert compared[0].tests == 40
        found += any(each.differences[0].is_significant for each in compared)
    assert found / 60 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_two_trainings_of_the_same_settings_do_not_show_that_settings_differ() -> None:
    rng, of_runs, of_settings, better = np.random.default_rng(4), 0, 0, 0
    for _ in range(100):
        targets, x = rng.normal(size=400), rng.uniform(-1, 1, 400)
        bends = rng.normal(0, 0.2, (3, 5, 4))  # of each member, by its start alone
        curves = np.stack([x, x**2, x**3, np.ones(400)])
        first, second, third = (PointEnsemble(targets + each @ curves) for each in bends)
        biased = PointEnsemble(third.mean + 1.5 * x**2)
        found = compare_numeric_ensembles(first, second, targets, are_members_independent=True)
        of_runs += found.differences[0].is_significant
        of_settings += found.differences[0].is_settings_difference
        shown = compare_numeric_ensembles(first, biased, targets, are_members_independent=True)
        better += shown.differences[0].is_settings_difference
    assert of_runs > 50  # these trained runs do differ
    assert of_settings <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)
    assert better > 80
