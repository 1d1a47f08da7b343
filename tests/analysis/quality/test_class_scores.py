"""Figures of classes: scikit-learn's to the last bit, and intervals that hold."""

import numpy as np
import pytest
from scipy.stats import hypergeom, kurtosis, norm, t
from sklearn import metrics

from ensemble.analysis.quality.class_scores import (
    find_lowest_group,
    measure_class_scores,
    measure_classwise_calibration,
)

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(draw: np.random.Generator, n: int, classes: int, sure: float = 3.0) -> Arrays:
    """Probabilities, the likeliest class, and labels; classes are of unequal size."""
    labels = draw.choice(classes, n, p=np.arange(1, classes + 1) / (classes * (classes + 1) / 2))
    logits = draw.normal(size=(n, classes))
    logits[np.arange(n), labels] += sure
    raised = np.exp(logits)
    probabilities = raised / raised.sum(1, keepdims=True)
    return probabilities, probabilities.argmax(1), labels


@pytest.mark.parametrize(("n", "classes"), [(40, 3), (500, 10), (300, 120)])
def test_they_are_scikit_learns(n: int, classes: int) -> None:
    probabilities, said, labels = drawn(np.random.default_rng(n), n, classes)
    found = measure_class_scores(probabilities, said, labels)
    used = np.union1d(labels, said)
    precision, recall, f1, counts = metrics.precision_recall_fscore_support(
        labels, said, labels=used, zero_division=np.nan
    )
    present = counts > 0
    np.testing.assert_allclose(found.recall[used][present], recall[present])
    np.testing.assert_allclose(found.precision[used], precision)
    np.testing.assert_allclose(found.f1[used], f1)
    assert found.macro_f1.value == pytest.approx(metrics.f1_score(labels, said, average="macro"))
    balanced = metrics.recall_score(labels, said, labels=np.unique(labels), average="macro", zero_division=0)
    assert found.balanced_accuracy.value == pytest.approx(balanced)
    assert found.counts.sum() == found.said.sum() == n


def test_intervals_hold_and_equal_classes_are_seldom_told_apart() -> None:
    draw = np.random.default_rng(1)
    every = drawn(draw, 200_000, 5)
    labels, said = every[2], every[1]
    true = (metrics.balanced_accuracy_score(labels, said), metrics.f1_score(labels, said, average="macro"))
    missed, claimed = np.zeros(2), 0
    for _ in range(400):
        chosen = draw.integers(0, len(labels), 300)
        found = measure_class_scores(*(each[chosen] for each in every))
        intervals = found.balanced_accuracy, found.macro_f1
        missed += [not one.low <= value <= one.high for one, value in zip(intervals, true, strict=True)]
        # Every class is drawn alike but for its size.
        claimed += found.lowest_p < 0.05
    assert (missed / 400 < 0.08).all()
    assert claimed / 400 < 0.05


def test_of_many_examples_the_interval_is_as_wide_as_the_spread_of_draws() -> None:
    draw = np.random.default_rng(7)
    labels = np.arange(20_000) % 10
    said = np.where(draw.random(20_000) < 0.013, (labels + 1) % 10, labels)
    found = measure_class_scores(np.eye(10)[said], said, labels)
    by_chance = 3.92 * (0.013 * 0.987 / 20_000) ** 0.5
    for score in (found.balanced_accuracy, found.macro_f1):
        assert score.high - score.low == pytest.approx(by_chance, rel=0.1)


def test_the_interval_of_the_balanced_accuracy_is_wilsons_with_welchs_degrees() -> None:
    """Classes of 5 and 10 examples, of either of which 80 % are right."""
    labels = np.repeat([0, 1], [5, 10])
    said = labels.copy()
    said[[0, 5, 6]] = 1 - said[[0, 5, 6]]
    found = measure_class_scores(np.eye(2)[said], said, labels).balanced_accuracy
    parts = 0.16 / np.array([5, 10]) / 4
    freedom = parts.sum() ** 2 / (parts**2 / [4, 9]).sum()
    z = norm.ppf(0.975)
    n = 0.16 / parts.sum() * (z / t.ppf(0.975, freedom)) ** 2
    middle, half = 0.8 * n + z**2 / 2, z * np.sqrt(0.16 * n + z**2 / 4)
    assert (found.low, found.high) == pytest.approx(((middle - half) / (n + z**2), (middle + half) / (n + z**2)))


def test_the_interval_of_the_macro_f1_is_of_the_variance_of_examples_influences() -> None:
    """The influence is the derivative by an example's weight; the degrees are those of a variance by kurtosis."""
    _, said, labels = drawn(np.random.default_rng(8), 40, 3, sure=1.0)

    def score(weights: np.ndarray) -> float:
        right = np.bincount(labels, weights * (labels == said))
        return float((2 * right / (np.bincount(labels, weights) + np.bincount(said, weights))).mean())

    steps = np.eye(40) * 1e-5
    influence = np.array([40 * (score(np.ones(40) + step) - score(np.ones(40) - step)) / 2e-5 for step in steps])
    variance, value = influence.var(ddof=1) / 40, score(np.ones(40))
    freedom = min(39, 80 / (kurtosis(influence, fisher=False) - 37 / 39))
    z = norm.ppf(0.975)
    n = value * (1 - value) / variance * (z / t.ppf(0.975, freedom)) ** 2
    middle, half = value * n + z**2 / 2, z * np.sqrt(value * (1 - value) * n + z**2 / 4)
    found = measure_class_scores(np.eye(3)[said], said, labels).macro_f1
    ends = (middle - half) / (n + z**2), (middle + half) / (n + z**2)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-5)


def test_a_class_that_is_worse_is_found_and_one_interval_holds_all_classes() -> None:
    draw = np.random.default_rng(2)
    labels = np.repeat(np.arange(10), 100)
    said = labels.copy()
    worse = np.flatnonzero(labels == 7)[:30]
    said[worse] = 3
    said[draw.integers(0, 700, 20)] = 9
    found = measure_class_scores(np.eye(10)[said], said, labels)
    assert found.lowest == 7
    assert found.lowest_p < 1e-6
    assert found.low[7] < 0.7 < found.high[7] < found.others_recall
    # For ten classes at once it is wider than that of one.
    assert found.high[7] - found.low[7] > 0.2
    assert found.excess[3] > 0.02 > 0 > found.excess[7]


def test_where_all_is_right_the_intervals_keep_a_width() -> None:
    labels = np.arange(50) % 5
    found = measure_class_scores(np.eye(5)[labels], labels, labels)
    for score in (found.balanced_accuracy, found.macro_f1):
        assert (score.value, score.high) == pytest.approx((1, 1))
        assert 0.8 < score.low < 0.95
    alone = measure_class_scores(np.ones((1, 1)), np.zeros(1, int), np.zeros(1, int))
    assert (alone.lowest, alone.lowest_p) == (0, 1.0)
    with pytest.raises(ValueError, match="at least one example"):
        measure_class_scores(np.ones((0, 2)), np.zeros(0, int), np.zeros(0, int))


def test_copies_make_nothing_surer() -> None:
    probabilities, said, labels = drawn(np.random.default_rng(3), 120, 4, sure=2.0)
    once = measure_class_scores(probabilities, said, labels)
    groups = np.tile(np.arange(120), 5)
    five = measure_class_scores(np.tile(probabilities, (5, 1)), np.tile(said, 5), np.tile(labels, 5), groups)
    for name in ("balanced_accuracy", "macro_f1"):
        one, many = getattr(once, name), getattr(five, name)
        assert many.value == pytest.approx(one.value)
        assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.15)
    np.testing.assert_allclose(five.high - five.low, once.high - once.low, rtol=0.2)
    assert 0.8 * once.lowest_p < five.lowest_p <= 1


def test_class_wise_calibration_tells_chance_from_error() -> None:
    draw = np.random.default_rng(4)
    probabilities = draw.dirichlet(np.full(4, 0.7), 3000)
    labels = (probabilities.cumsum(1) < draw.random((3000, 1))).sum(1)
    calibrated = measure_classwise_calibration(probabilities, labels)
    assert calibrated.error < calibrated.chance_high
    assert calibrated.chance == pytest.approx(calibrated.error, rel=0.4)
    sharper = probabilities**3 / (probabilities**3).sum(1, keepdims=True)
    assert (worse := measure_classwise_calibration(sharper, labels)).error > 3 * worse.chance_high
    # By hand: one class in two bins, the other the mirror.
    two = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    by_hand = measure_classwise_calibration(two, np.array([0, 1, 1]), bins=2)
    assert by_hand.error == pytest.approx((abs(1 - 1.8) + abs(0 - 0.2)) / 3)


def test_the_p_and_the_interval_of_the_lowest_are_corrected_for_all_that_might_have_been_lowest() -> None:
    """By SciPy's hypergeometric law, and by Wilson's formula with the corrected quantile."""
    labels, hits = np.repeat(np.arange(20), 40), np.ones(800, bool)
    for number in range(20):
        hits[np.flatnonzero(labels == number)[: 9 if number == 7 else 4]] = False
    alone = hypergeom.cdf(31, 800, 715, 40)
    assert 20 * alone < 1
    lowest = find_lowest_group(hits, labels)
    assert lowest is not None
    assert lowest.p == pytest.approx(20 * alone)
    found = measure_class_scores(np.eye(20)[labels], np.where(hits, labels, (labels + 1) % 20), labels)
    assert (found.lowest, found.lowest_p) == (7, pytest.approx(20 * alone))
    z = norm.isf(0.025 / 20)
    middle, half = 31 + z**2 / 2, z * np.sqrt(31 * 9 / 40 + z**2 / 4)
    ends = (middle - half) / (40 + z**2), (middle + half) / (40 + z**2)
    assert (lowest.low, lowest.high) == pytest.approx(ends)
    assert (found.low[7], found.high[7]) == pytest.approx(ends)


def test_small_groups_are_not_among_those_that_the_lowest_is_compared_with() -> None:
    groups, hits = np.repeat(np.arange(5), [30, 30, 30, 9, 9]), np.ones(108, bool)
    hits[[0, 1, 2, 3, 4, 5, 30]] = False
    hits[90:] = False  # 18 images of two small groups
    lowest = find_lowest_group(hits, groups)
    assert lowest is not None
    assert (lowest.groups, lowest.others) == (3, 59 / 60)
    assert lowest.p == pytest.approx(3 * hypergeom.cdf(24, 90, 83, 30))


def test_the_lowest_group_is_compared_with_the_others() -> None:
    groups = np.repeat(np.arange(6), [40, 40, 40, 40, 9, 40])
    hits = np.ones(len(groups), bool)
    hits[groups == 4] = False  # too few to be looked at
    hits[np.flatnonzero(groups == 2)[:12]] = False
    lowest = find_lowest_group(hits, groups)
    assert lowest is not None
    assert (lowest.groups, lowest.first, lowest.count, lowest.right) == (5, 80, 40, 28)
    assert lowest.others == 1
    assert lowest.p < 0.001
    assert lowest.low < 0.7 < lowest.high
    assert find_lowest_group(hits[:50], groups[:50]) is not None
    assert find_lowest_group(hits[:45], groups[:45]) is None
