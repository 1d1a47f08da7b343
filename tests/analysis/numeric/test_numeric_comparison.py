"""Two ensembles against each other: by hand, and as often right as promised."""

import numpy as np
import pytest
from scipy.stats import norm, sem, ttest_rel

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_comparison import (
    adjust_comparisons,
    compare_numeric_ensembles,
    estimate_member_variances,
)
from ensemble.analysis.numeric.numeric_evaluation import evaluate_numbers
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.analysis.numeric.repeated_splits import summarize_splits


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


def test_the_variance_over_members_is_the_jackknifes() -> None:
    """(K − 1) / K · Σ (θ₍₋ₖ₎ − θ̄)² over K parts; of thirteen members ten parts."""
    rng = np.random.default_rng(3)
    targets = rng.normal(size=60)
    for members, parts in ((4, 4), (13, 10)):
        points = PointEnsemble(targets + rng.normal(0, 0.5, (members, 60)))
        left_out = []
        for part in np.array_split(np.arange(members), parts):
            others = np.delete(points.mean, part, axis=0).mean(axis=0)
            left_out.append([((targets - others) ** 2).mean(), np.abs(targets - others).mean()])
        squares = (np.array(left_out) - np.mean(left_out, axis=0)) ** 2
        found = estimate_member_variances(points, targets)
        expected = (parts - 1) / parts * squares.sum(axis=0)
        assert [found[name].variance for name in ("squared_error", "absolute_error")] == pytest.approx(expected)
        assert {one.freedom for one in found.values()} == {parts - 1}
    assert estimate_member_variances(PointEnsemble(points.mean[:1]), targets) == {}


def test_the_examples_needed_are_those_of_a_paired_test_with_a_power_of_80_percent() -> None:
    rng = np.random.default_rng(4)
    targets = rng.normal(size=200)
    first, second = (PointEnsemble(targets + rng.normal(0, error, (1, 200))) for error in (0.5, 0.52))
    apart = (first.mean[0] - targets) ** 2 - (second.mean[0] - targets) ** 2
    expected = ((norm.ppf(0.975) + norm.ppf(0.8)) / apart.mean()) ** 2 * apart.var()
    (found, _) = compare_numeric_ensembles(first, second, targets).differences
    assert found.examples_needed == pytest.approx(expected, abs=1)
    one, other = (PointEnsemble(each.mean.repeat(5, axis=1)) for each in (first, second))
    (found, _) = compare_numeric_ensembles(one, other, targets.repeat(5), np.arange(200).repeat(5)).differences
    assert found.examples_needed == pytest.approx(5 * expected * 200 / 199, rel=1e-4)


def test_figures_over_splits_have_the_standard_error_of_their_mean() -> None:
    rng = np.random.default_rng(5)
    targets = rng.normal(size=(4, 40))
    every = [
        evaluate_numbers(NormalMixture(own + rng.normal(0, 0.4, (3, 40)), np.full((3, 40), 0.2)), own, list("abc"))
        for own in targets
    ]
    found = summarize_splits(every)
    for name in ("rmse", "nll", "crps"):
        whole = np.array([getattr(each.ensemble, name) for each in every])
        each_member = np.array([[getattr(member, name) for member in each.members] for each in every])
        for who, values in (("ensemble", whole), ("saved", each_member.mean(axis=1) - whole)):
            assert found[who][name] == pytest.approx({"mean": values.mean(), "standard_error": sem(values)})


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
