"""Two ensembles against each other: by hand, and as often right as promised."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, sem, ttest_rel

from ensemble.analysis.inference.crossed_means import OVER_SEEDS_AND_IMAGES, CrossedMean
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_comparison import (
    compare_losses,
    compute_comparable_losses,
    estimate_member_variances,
)
from ensemble.analysis.numeric.numeric_evaluation import evaluate_numbers
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.analysis.numeric.repeated_splits import summarize_splits


def compare_squared_errors(first: PointEnsemble, second: PointEnsemble, targets: Doubles, **more: Any) -> CrossedMean:
    own, others = ((targets - each.compute_mean()) ** 2 for each in (first, second))
    return compare_losses(own, others, **more)


def test_differences_are_those_of_paired_losses() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=500)
    first = NormalMixture(targets + rng.normal(0, 0.3, (3, 500)), np.full((3, 500), 0.1))
    second = NormalMixture(targets + rng.normal(0, 0.6, (2, 500)), np.full((2, 500), 0.3))
    ours, theirs = (compute_comparable_losses(each, targets) for each in (first, second))
    assert list(ours) == ["squared_error", "nll", "crps"]
    for name, loss in ours.items():
        saved = compare_losses(loss, theirs[name])
        assert saved.mean == pytest.approx(theirs[name].mean() - loss.mean())
        assert 0 < saved.low < saved.mean < saved.high
        assert ttest_rel(loss, theirs[name]).pvalue <= saved.p < 1e-6
        back = compare_losses(theirs[name], loss)
        assert (back.mean, back.low, back.high) == pytest.approx((-saved.mean, -saved.high, -saved.low))


def test_examples_of_one_group_count_once() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(1, 1, (2, 200)) ** 2
    once = compare_losses(first, second)
    several = compare_losses(first.repeat(5), second.repeat(5), np.arange(200).repeat(5))
    assert (several.mean, several.low, several.high) == pytest.approx((once.mean, once.low, once.high), rel=0.01)


def test_a_single_example_shows_no_difference() -> None:
    saved = compare_losses([1.0], [9.0])
    assert saved.low < 0 < saved.high
    assert saved.p > 0.05
    assert compare_losses([1.0] * 7, [9.0] * 7, np.zeros(7, int)).p > 0.05


@pytest.mark.long
def test_no_difference_is_found_more_often_than_promised() -> None:
    rng, found = np.random.default_rng(1), 0
    for _ in range(200):
        targets = rng.normal(size=150)
        one, other = (PointEnsemble(targets + rng.normal(0, 0.5, (2, 150))) for _ in range(2))
        saved = compare_squared_errors(one, other, targets)
        found += not saved.low <= 0 <= saved.high
    assert found / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_quantiles_and_densities_are_not_compared_by_the_crps() -> None:
    rng = np.random.default_rng(2)
    mean, levels = rng.normal(0, 2, 500), (0.05, 0.5, 0.95)
    targets = mean + rng.normal(size=500)
    normal = NormalMixture(np.stack([mean, mean]), np.ones((2, 500)))
    same = QuantileEnsemble(np.array(levels), np.stack([mean + norm.ppf(levels)[:, None]] * 2))
    of_normal, of_quantiles = (compute_comparable_losses(each, targets, [levels]) for each in (normal, same))
    assert [name for name in of_normal if name in of_quantiles] == ["squared_error", "pinball"]
    saved = compare_losses(of_normal["pinball"], of_quantiles["pinball"])
    assert saved.mean == pytest.approx(0, abs=1e-6)
    assert saved.low <= 0 <= saved.high
    assert list(compute_comparable_losses(same, targets, [levels, (0.5,)])) == ["squared_error"]


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


def test_two_trainings_of_the_same_settings_do_not_show_that_settings_differ() -> None:
    rng, of_runs, of_settings, better = np.random.default_rng(4), 0, 0, 0
    for _ in range(100):
        targets, x = rng.normal(size=400), rng.uniform(-1, 1, 400)
        bends = rng.normal(0, 0.2, (3, 5, 4))  # of each member, by its start alone
        curves = np.stack([x, x**2, x**3, np.ones(400)])
        first, second, third = (PointEnsemble(targets + each @ curves) for each in bends)
        biased = PointEnsemble(third.mean + 1.5 * x**2)
        variances = [estimate_member_variances(each, targets)["squared_error"] for each in (first, second, biased)]
        of_runs += compare_squared_errors(first, second, targets).p < 0.05
        settings = compare_squared_errors(first, second, targets, run_variances=variances[:2])
        assert settings.over == OVER_SEEDS_AND_IMAGES
        of_settings += settings.p < 0.05
        better += compare_squared_errors(first, biased, targets, run_variances=variances[::2]).p < 0.05
    assert of_runs > 50  # these trained runs do differ
    assert of_settings <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)
    assert better > 80
