"""Planted faults are found, and none is found where there is none."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy.stats import binom, norm, spearmanr, t

from ensemble.analysis.inference.image_groups import grouped_mean_interval
from ensemble.analysis.inference.paired_intervals import mean_interval
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import (
    compare_rmse,
    compare_with_mean_member,
    compute_target_scores,
    find_suspect_targets,
    leave_out_members,
    measure_mean_error,
    measure_pit_histogram,
    measure_spread_skill,
)
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage
from ensemble.analysis.numeric.point_ensemble import PointEnsemble

N = 1500


def simulate(seed: int, stretch: float = 1.0, shift: float = 0.0) -> tuple[NormalMixture, Doubles]:
    """Four members that agree but for a little, and targets drawn from what they say."""
    rng = np.random.default_rng(seed)
    truth, sigma = rng.normal(size=N), rng.uniform(0.3, 2, N)
    mean = truth + rng.normal(0, 0.05, (4, N))
    targets = rng.normal(truth, sigma)
    return NormalMixture(mean + shift, np.tile((stretch * sigma) ** 2, (4, 1))), targets


@pytest.mark.parametrize(
    ("stretch", "shift", "shape"),
    [(1, 0, "even"), (0.6, 0, "narrow"), (1.7, 0, "wide"), (1, -0.6, "low"), (1, 0.6, "high")],
)
def test_the_shape_of_the_histogram_names_the_fault(stretch: float, shift: float, shape: str) -> None:
    found = measure_pit_histogram(*simulate(1, stretch, shift))
    assert found.shape == shape
    outside = [count for count in found.counts if not found.low <= count <= found.high]
    assert bool(outside) == (shape != "even")
    assert sum(found.counts) == N


def test_the_band_holds_all_bins_of_calibrated_predictions_as_often_as_it_says() -> None:
    rng, within = np.random.default_rng(2), 0
    for _ in range(120):
        mixture = NormalMixture(np.zeros((1, 200)), np.ones((1, 200)))
        found = measure_pit_histogram(mixture, rng.normal(size=200))
        within += all(found.low <= count <= found.high for count in found.counts)
    assert within / 120 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 120)


def test_the_spread_follows_the_error_where_it_was_told_so() -> None:
    mixture, targets = simulate(3)
    skill = measure_spread_skill(mixture, targets)
    assert skill is not None
    assert skill.rank_correlation > 0.3
    assert skill.p_value < 1e-6
    for each in skill.bins:
        assert each.low <= each.rmse <= each.high
    assert sum(each.low <= each.spread <= each.high for each in skill.bins) >= 8
    shuffled = NormalMixture(mixture.mean, np.random.default_rng(0).permuted(mixture.variance, axis=1))
    other = measure_spread_skill(shuffled, targets)
    assert other is not None
    assert abs(other.rank_correlation) < 0.1
    assert measure_spread_skill(PointEnsemble(mixture.mean[:1]), targets) is None


@pytest.mark.parametrize("count", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("noise", ["normal", "lognormal", "outliers"])
def test_the_ratio_of_two_errors_misses_its_truth_at_most_as_often_as_promised(noise: str, count: int) -> None:
    rng, missed = np.random.default_rng([4, count]), 0
    variance = {"normal": 1.0, "lognormal": (np.e - 1) * np.e, "outliers": 0.98 + 2.0}[noise]
    for _ in range(100):
        error = rng.normal(size=count)
        if noise == "lognormal":
            error = np.exp(error) - np.exp(0.5)
        elif noise == "outliers":
            error = error * np.where(rng.random(count) < 0.02, 10, 1)
        first = (error + rng.normal(0, 0.3, count)) ** 2
        second = (error + rng.normal(0, 0.8, count)) ** 2
        found = compare_rmse(first, second)
        truth = np.sqrt((variance + 0.09) / (variance + 0.64))
        missed += not found.low <= truth <= found.high
        assert found.low <= found.ratio <= found.high
    assert missed / 100 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


@pytest.mark.parametrize("count", [5, 20, 200])
def test_the_ratio_leaves_out_1_exactly_if_the_difference_leaves_out_0(count: int) -> None:
    rng = np.random.default_rng(count)
    claims = 0
    for _ in range(100):
        shared = rng.normal(size=count)
        first = (shared + rng.normal(0, 0.3, count)) ** 2
        second = (shared + rng.normal(0, 0.9, count)) ** 2
        found = compare_rmse(first, second)
        low, high = mean_interval(first - second)
        assert (found.low > 1, found.high < 1) == (low > 0, high < 0)
        claims += found.high < 1
    assert claims > 20 or count < 200


def test_an_error_of_0_has_no_interval() -> None:
    nothing = np.zeros(5)
    assert compare_rmse(nothing, nothing).ratio == 1
    assert compare_rmse(nothing, nothing + 1).ratio == 0
    assert compare_rmse(nothing + 1, nothing).ratio == np.inf


def test_the_mean_error_is_found_and_calibrated_groups_are_not_called_wrong() -> None:
    found = measure_mean_error(*simulate(7, shift=-0.3))
    assert 0.2 < found.low < 0.3 < found.high < 0.45
    rng, groups, wrong = np.random.default_rng(8), np.repeat(np.arange(20), 20), 0
    mixture = NormalMixture(np.zeros((1, 400)), np.ones((1, 400)))
    for _ in range(100):
        targets = rng.normal(size=20)[groups] * 0.7**0.5 + rng.normal(size=400) * 0.3**0.5
        error = measure_mean_error(mixture, targets, groups)
        coverage = measure_interval_coverage(mixture, targets, 0.9, groups)
        wrong += (
            measure_pit_histogram(mixture, targets, groups).shape != "even"
            or not error.low <= 0 <= error.high
            or not coverage.low <= 0.9 <= coverage.high
        )
    assert wrong <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)


def test_the_ensemble_is_no_worse_than_its_mean_member() -> None:
    mixture, targets = simulate(5)
    found = compare_with_mean_member(mixture, targets)
    members = ((targets - mixture.mean) ** 2).mean()
    ensemble = ((targets - mixture.mean.mean(axis=0)) ** 2).mean()
    assert found.ratio == pytest.approx(np.sqrt(ensemble / members))
    assert found.low <= found.ratio <= found.high <= 1


def test_a_bad_member_is_found_and_a_good_ensemble_has_none() -> None:
    mixture, targets = simulate(6)
    found = leave_out_members(mixture, targets)
    without = mixture.select_members([0, 1, 3])
    assert found[2].ratio.ratio == pytest.approx(
        np.sqrt(((targets - without.compute_mean()) ** 2).mean() / ((targets - mixture.compute_mean()) ** 2).mean())
    )
    assert all(each.ratio.high >= 1 for each in found)
    mean = mixture.mean.copy()
    mean[2] += 2.0
    harmful = [each.member for each in leave_out_members(PointEnsemble(mean), targets) if each.ratio.high < 1]
    assert harmful == [2]
    assert leave_out_members(PointEnsemble(mean[:1]), targets) == []


@pytest.mark.parametrize("count", [1, 2, 20, 200])
def test_wrong_targets_are_suspect_and_normal_noise_is_not(count: int) -> None:
    rng, wrong, found = np.random.default_rng(count), 0, 0
    for _ in range(200):
        spread = rng.uniform(0.5, 2, count)
        targets = 1.5 * spread * rng.normal(size=count)
        mixture = NormalMixture(np.zeros((2, count)), np.tile(spread**2, (2, 1)))
        wrong += len(find_suspect_targets(compute_target_scores(mixture, targets))) > 0
        targets[count // 2] += 15 * spread[count // 2]
        suspects = find_suspect_targets(compute_target_scores(mixture, targets))
        found += count // 2 in suspects[:1]
    assert wrong / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert found >= (190 if count >= 20 else 0)
    points = PointEnsemble(np.zeros((2, count)))
    np.testing.assert_array_equal(compute_target_scores(points, targets), targets)


def draw_normal(examples: int, members: int = 3) -> tuple[NormalMixture, np.ndarray]:
    """Members that differ, with spreads of their own, and targets of about that spread."""
    rng = np.random.default_rng(7)
    spread = rng.uniform(0.5, 2.0, examples)
    mean = rng.normal(0, 0.5, (members, examples)) + 3
    return NormalMixture(mean, np.tile(spread**2, (members, 1))), mean.mean(axis=0) + spread * rng.normal(size=examples)


def test_the_band_of_the_histogram_and_the_mean_error_are_corrected_for_all_that_are_looked_at() -> None:
    """Ten bins at once, and three tests of calibration at once (Bonferroni)."""
    mixture, targets = draw_normal(120)
    groups = np.arange(120) // 3
    whole, grouped = measure_pit_histogram(mixture, targets), measure_pit_histogram(mixture, targets, groups)
    assert (whole.low, whole.high) == tuple(binom.ppf([0.0025, 0.9975], 120, 0.1))
    assert (grouped.low, grouped.high) == pytest.approx(tuple(3 * binom.ppf([0.0025, 0.9975], 40, 0.1)))
    errors = targets - mixture.compute_mean()
    for index in (None, groups):
        found = measure_mean_error(mixture, targets, index)
        assert (found.low, found.high) == grouped_mean_interval(errors, index, 1 - 0.05 / 3)


def test_the_p_of_the_spread_is_that_of_spearmans_rank_correlation() -> None:
    mixture, targets = draw_normal(40)
    errors = np.abs(targets - mixture.compute_mean())
    expected = spearmanr(mixture.compute_spread(), errors)
    found = measure_spread_skill(mixture, targets)
    assert found is not None
    assert (found.rank_correlation, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert 1e-6 < found.p_value < 0.5
    freedom = 20 - 2
    t_value = expected.statistic * np.sqrt(freedom / (1 - expected.statistic**2))
    grouped = measure_spread_skill(mixture, targets, np.arange(40) // 2)
    assert grouped is not None
    assert grouped.p_value == pytest.approx(2 * t.sf(abs(t_value), freedom))


def test_members_that_are_left_out_are_judged_at_a_level_for_all_of_them() -> None:
    mixture, targets = draw_normal(60, members=4)
    squared = (targets - mixture.mean) ** 2
    whole = (targets - mixture.compute_mean()) ** 2
    for one in leave_out_members(mixture, targets):
        others = np.delete(mixture.mean, one.member, axis=0).mean(axis=0)
        assert astuple(one.ratio) == pytest.approx(astuple(compare_rmse((targets - others) ** 2, whole, 1 - 0.05 / 4)))
        rest = np.delete(squared, one.member, axis=0).mean(axis=0)
        against = compare_rmse(squared[one.member], rest, 1 - 0.05 / 4)
        assert astuple(one.against_others) == pytest.approx(astuple(against))


@pytest.mark.parametrize(("share", "suspects"), [(0.99, []), (1.01, [7])])
def test_a_target_is_suspect_just_beyond_the_quantile_for_all_targets(share: float, suspects: list[int]) -> None:
    scores = norm.ppf((np.arange(50) + 0.5) / 50)
    scale = np.median(np.abs(scores)) / norm.ppf(0.75)
    scores[7] = -share * scale * t.isf(0.025 / 50, 25)
    scale_after = np.median(np.abs(scores)) / norm.ppf(0.75)
    assert scale_after == pytest.approx(scale, rel=0.002)
    assert find_suspect_targets(scores).tolist() == suspects


@pytest.mark.parametrize("examples_per_group", [1, 2])
@pytest.mark.parametrize(
    ("lean", "wide", "shape"),
    [(1.97, 0, "uneven"), (2.03, 0, "low"), (-2.03, 0, "high"), (0, 1.97, "uneven"), (0, 2.03, "narrow")],
)
def test_a_shape_has_a_name_from_two_standard_errors_on(
    lean: float, wide: float, shape: str, examples_per_group: int
) -> None:
    """A uniform u has the variance 1/12, and (u − ½)² the variance 1/12 · 4/15 = 1/180."""
    count = 400
    worth = count / examples_per_group
    distance = np.sqrt(1 / 12 + wide * np.sqrt(1 / 180 / worth))
    shift = lean * np.sqrt(1 / 12 / worth)
    pit = 0.5 + shift + np.tile([-1, 1], count // 2) * np.sqrt(distance**2 - shift**2)
    mixture = NormalMixture(np.zeros((1, count)), np.ones((1, count)))
    groups = None if examples_per_group == 1 else np.arange(count) // examples_per_group
    assert measure_pit_histogram(mixture, norm.ppf(pit), groups).shape == shape
