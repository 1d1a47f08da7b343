"""Examples that belong together count together: intervals and tests against formulas and draws."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm, t

from ensemble.analysis.inference.image_groups import (
    collapse_groups,
    effective_examples,
    estimate_design_effect,
    grouped_share_interval,
    join_groups,
    number_groups,
    select_groups,
)
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.members.gain import compute_gain, gain_over_mean_member
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.calibration_test import calibration_test
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.quality import measure_quality
from tests.analysis.draws import distributions


def test_collapsed_values_have_the_cluster_robust_variance() -> None:
    rng = np.random.default_rng(3)
    groups = number_groups(rng.integers(0, 17, 400))
    values = rng.normal(size=(2, 400)) + rng.normal(size=17)[groups]
    collapsed = collapse_groups(values, groups)
    count = groups.max() + 1
    np.testing.assert_allclose(collapsed.mean(axis=1), values.mean(axis=1), atol=1e-12)
    for row, own in zip(collapsed, values, strict=True):
        residual = own - own.mean()
        sums = np.array([residual[groups == g].sum() for g in range(count)])
        robust = count / (count - 1) * (sums**2).sum() / 400**2
        assert row.var() / count == pytest.approx(robust)


def test_the_design_effect_is_the_variance_of_group_sums_over_that_of_independent_answers() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(80), rng.integers(2, 6, 80))
    expected = rng.uniform(0.3, 0.9, 80)[groups]
    right = (rng.random(80) < 0.6)[groups] ^ (rng.random(len(groups)) < 0.1)
    sums = [float((right[groups == g] - expected[groups == g]).sum()) for g in range(80)]
    alone = float((expected * (1 - expected)).sum())
    for level in (0.95, 0.8):
        student = t.ppf((1 + level) / 2, 79) / norm.ppf((1 + level) / 2)
        found = estimate_design_effect(right, expected, groups, level)
        assert found == pytest.approx(np.square(sums).sum() / alone * student**2)
        assert found > 1.5


def test_of_few_groups_that_err_the_design_effect_takes_each_group_as_one_answer() -> None:
    """Groups of sizes s are worth (Σ s)² / Σ s² answers (Kish)."""
    groups = np.repeat(np.arange(40), [11, *[1] * 39])
    right = np.ones(50, bool)
    right[20:25] = False
    assert estimate_design_effect(right, np.full(50, 0.8), groups) == pytest.approx((11**2 + 39) / 50)


def test_examples_in_groups_are_worth_n_over_the_design_effect_of_their_share() -> None:
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(25), 4)
    hits = np.where(rng.random(100) < 0.2, rng.random(100) < 0.5, (rng.random(25) < 0.5)[groups])
    m, sums = hits.mean(), hits.reshape(25, 4).sum(axis=1)
    variance = 25 / 24 * ((sums - 4 * m) ** 2).sum() / 100**2
    student = norm.ppf(0.975) / t.ppf(0.975, 24)
    assert effective_examples(hits, groups) == pytest.approx(m * (1 - m) / variance * student**2)


def test_groups_are_joined_where_they_share_a_member_and_numbered_anew() -> None:
    first, second = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])
    assert join_groups(first, second).tolist() == [0, 0, 0, 1, 2]
    chosen = select_groups(np.array([0, 1, 2, 2]), np.array([False, True, True, True]))
    assert chosen is not None
    assert chosen.tolist() == [0, 1, 1]
    assert select_groups(None, np.array([True])) is None
    assert number_groups(np.array(["b", "a", "b"])).tolist() == [1, 0, 1]


def test_copies_count_once_in_every_interval() -> None:
    made = distributions(3, 200, 10, seed=4)
    labels = np.random.default_rng(5).integers(0, 10, 200)
    made[:, np.arange(200), labels] *= 12
    made /= made.sum(axis=-1, keepdims=True)
    once = evaluate_predictions(made, labels)
    five, groups = np.tile(made, (1, 5, 1)), np.tile(np.arange(200), 5)
    often = evaluate_predictions(five, np.tile(labels, 5), groups)
    naive = evaluate_predictions(five, np.tile(labels, 5))
    own, repeated, wrong = (gain_over_mean_member(each) for each in (once, often, naive))
    assert repeated.nll == pytest.approx(own.nll)
    width = own.nll_high - own.nll_low
    assert repeated.nll_high - repeated.nll_low == pytest.approx(width, rel=0.02)
    assert wrong.nll_high - wrong.nll_low < 0.6 * width
    share = measure_quality(once.averaged, labels)
    grouped = measure_quality(often.averaged, often.labels, often.groups)
    assert grouped.accuracy == share.accuracy
    assert grouped.high - grouped.low == pytest.approx(share.high - share.low, rel=0.03)
    p = calibration_test(once.confidence, once.right).overall.p
    robust = calibration_test(often.confidence, often.right, groups=groups).overall
    assert robust.groups == 200
    assert robust.p == pytest.approx(p, abs=0.05)


def test_a_level_that_blocks_alone_vary_is_known_by_their_number() -> None:
    hits = np.repeat([True, True, True, False], 25)
    groups = np.repeat(np.arange(4), 25)
    low, high = grouped_share_interval(hits, groups)
    assert low < 0.25
    assert high > 0.95
    assert grouped_share_interval(hits, None) == wilson_interval(75, 100)
    assert effective_examples(hits, groups) < 4
    assert grouped_share_interval(np.ones(100, bool), groups) == wilson_interval(4, 4)


@pytest.mark.long_cases
@pytest.mark.parametrize("copies", [5, 1])
def test_equal_classifiers_are_seldom_told_apart_though_images_come_in_copies(
    copies: int, draws: Callable[[int], int]
) -> None:
    """By images alone, "better" was said in 45 % of draws with five copies."""
    rng, found, naive = np.random.default_rng(6), 0, 0
    n, count = 200, draws(600)
    labels = np.zeros(n * copies, int)
    groups = np.repeat(np.arange(n), copies)
    for _ in range(count):
        logits = rng.normal(size=(2, n, 4)) + np.array([1.5, 0, 0, 0])
        sides = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        first, second = (np.repeat(side, copies, axis=0) for side in sides)
        gain = compute_gain(first, second, labels, groups)
        found += gain.p < 0.05
        naive += compute_gain(first, second, labels).p < 0.05
    assert found / count <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / count)
    if copies > 1:
        assert naive / count > 0.2


def test_a_difference_is_found_as_often_as_with_one_of_each() -> None:
    rng, found, once = np.random.default_rng(7), 0, 0
    n, draws = 200, 100
    for _ in range(draws):
        logits = rng.normal(size=(2, n, 4)) + np.array([1.2, 0, 0, 0])
        logits[0, :, 0] += 0.7
        sides = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        labels = np.zeros(n, int)
        once += compute_gain(sides[0], sides[1], labels).p < 0.05
        twice = [np.repeat(side, 2, axis=0) for side in sides]
        groups = np.repeat(np.arange(n), 2)
        found += compute_gain(twice[0], twice[1], np.repeat(labels, 2), groups).p < 0.05
    assert once > 30
    assert found >= 0.85 * once


def test_halves_do_not_share_a_group() -> None:
    labels = np.arange(100) % 5
    groups = np.arange(100) // 7
    fitted, judged = split_halves(labels, groups)
    assert not set(groups[fitted]) & set(groups[judged])
    assert (fitted ^ judged).all()
    assert abs(int(fitted.sum()) - int(judged.sum())) <= 7


def test_predictions_carry_their_groups() -> None:
    made = distributions(2, 6, 3, seed=1)
    groups = np.array([0, 0, 1, 1, 2, 2])
    assert evaluate_predictions(made, np.zeros(6, int), groups).groups is groups
    assert evaluate_predictions(made, np.zeros(6, int)).groups is None


def test_classifiers_that_agree_on_every_image_are_not_known_to_be_equal() -> None:
    made = distributions(2, 100, 4, seed=2)
    made[1] = made[0]
    groups = np.arange(100) // 5
    predictions = evaluate_predictions(made, np.zeros(100, int), groups)
    gain = compute_gain(made[0], made[1], predictions.labels, groups)
    member = gain_over_mean_member(predictions)
    assert gain.p == 1
    for found in (gain, member):
        assert found.digits == 0
        assert found.digits_low < -5
        assert found.digits_high > 5
