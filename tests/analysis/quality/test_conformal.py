"""Conformal sets: the rank, MAPIE's own sets one by one, and the coverage that is promised."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores import RAPSConformityScore
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit

from ensemble.analysis.quality import conformal
from ensemble.analysis.quality.conformal import (
    ConformalThreshold,
    conformal_quantile,
    conformal_rank,
    fit_conformal_threshold,
)
from ensemble.analysis.quality.coverage import (
    coverage_p_value,
    cross_conformal_sets,
    evaluate_conformal_sets,
    measure_coverage,
)
from ensemble.analysis.quality.halves import split_halves

C = 6
RATES = (0.01, 0.05, 0.1, 0.3)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities."""

    classes_ = np.arange(C)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)

    def __sklearn_is_fitted__(self):
        return True


class NoChance(np.random.RandomState):
    """MAPIE draws a uniform number for each calibration example: here it is always 1."""

    def uniform(self, low=0.0, high=1.0, size=None):
        return np.ones(size)


def drawn(n: int, seed: int, sharp: float = 0.4) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probabilities (n, C) and labels drawn from others, so that the ensemble errs at times."""
    draws = np.random.default_rng(seed)
    p = draws.dirichlet(np.full(C, sharp), n)
    p = (p + 1e-4) / (p + 1e-4).sum(axis=1, keepdims=True)
    truth = 0.8 * p + 0.2 / C
    return p, (truth.cumsum(axis=1) > draws.random((n, 1))).argmax(axis=1)


def of_mapie(score, rate, calibration, others, *, chance=False):
    """MAPIE's classifier, calibrated, and its sets up to and with the label at the threshold."""
    judge = SplitConformalClassifier(
        Given(), confidence_level=1 - rate, conformity_score=score, random_state=3 if chance else NoChance(3)
    ).conformalize(*calibration)
    sets = judge.predict_set(others, conformity_score_params={"include_last_label": True})[1]
    return judge, sets[:, :, 0]


@pytest.mark.parametrize("n", [1, 8, 9, 10, 18, 19, 20, 99, 100, 999])
@pytest.mark.parametrize("percent", ["0.1", "1", "5", "10", "41", "50"])
def test_the_rank_is_the_whole_number_that_exact_fractions_give(n: int, percent: str) -> None:
    exact = Fraction(percent) / 100
    k = conformal_rank(n, float(exact))
    assert k == math.ceil((n + 1) * (1 - exact))
    values = np.random.default_rng(n).permutation(n).astype(float)
    assert conformal_quantile(values, float(exact)) == (k - 1 if k <= n else math.inf)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("method", ["lac", "aps"])
def test_sets_are_mapies_one_by_one(method: str, rate: float) -> None:
    calibration, (others, _) = drawn(431, 1), drawn(700, 2)
    _, theirs = of_mapie(method, rate, calibration, others)
    mine = fit_conformal_threshold(*calibration, rate, method)
    np.testing.assert_array_equal(mine.build_sets(others), theirs)
    assert mine.has_enough_examples
    assert 0 < mine.build_sets(others).mean() < 1


def raps_scores(p: NDArray[np.float64], penalty: float, free: int) -> NDArray[np.float64]:
    """Every class's score as the paper defines it, (N, C), class by class; u = 0."""
    scores = np.empty_like(p)
    for n, row in enumerate(p):
        order = np.argsort(-row, kind="stable")
        for rank, label in enumerate(order, start=1):
            scores[n, label] = row[order[: rank - 1]].sum() + penalty * max(rank - free, 0)
    return scores


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("free", [0, 1, 3])
def test_raps_sets_hold_the_classes_whose_score_is_at_most_the_threshold(free: int, rate: float) -> None:
    (p, labels), (others, _) = drawn(431, 3), drawn(700, 4)
    mine = fit_conformal_threshold(p, labels, rate, "raps", penalty=0.1, free=free)
    of_labels = raps_scores(p, 0.1, free)[np.arange(len(p)), labels]
    assert mine.threshold == pytest.approx(np.sort(of_labels)[conformal_rank(431, rate) - 1])
    sets = raps_scores(others, 0.1, free) <= mine.threshold + 1e-12
    np.testing.assert_array_equal(mine.build_sets(others), sets)


def test_the_penalty_of_raps_buys_no_more_than_the_promised_coverage() -> None:
    excess = []
    for seed in range(60):
        p, labels = drawn(400, 100 + seed)
        made = fit_conformal_threshold(p[:200], labels[:200], 0.1, "raps")
        excess.append(made.build_sets(p[200:])[np.arange(200), labels[200:]].mean() - 0.9)
    # Beta(181, 20) has a mean of 0.9005, and each draw differs by 0.03: a penalty that sets and
    # scores take at different ranks gives 0.03 more.
    assert np.mean(excess) == pytest.approx(0.0005, abs=4 * 0.03 / np.sqrt(60))


@pytest.mark.parametrize("rate", [0.2, 0.3, 0.4])
def test_mapie_takes_the_penalty_of_the_class_ahead_for_its_sets(rate: float) -> None:
    """Its scores are ours, and its sets hold one class more where that penalty makes the step."""
    (p, labels), (others, _) = drawn(500, 3), drawn(700, 4)
    judge, theirs = of_mapie(RAPSConformityScore(), rate, (p, labels), others)
    chosen = judge._mapie_classifier.conformity_score_function_
    split = StratifiedShuffleSplit(1, test_size=chosen.size_raps, random_state=NoChance(3))
    kept, _ = next(split.split(p, labels))
    penalty, free = float(chosen.lambda_star), int(chosen.k_star[0])
    mine = fit_conformal_threshold(p[kept], labels[kept], rate, "raps", penalty=penalty, free=free)
    assert mine.penalty > 0
    assert mine.free < C
    assert (theirs >= mine.build_sets(others)).all()
    np.testing.assert_array_equal(raps_scores(others, penalty, free + 1) <= mine.threshold + 1e-12, theirs)


def test_mapies_own_random_scores_give_its_sets_too() -> None:
    calibration, (others, _) = drawn(431, 5), drawn(700, 6)
    judge, theirs = of_mapie("aps", 0.1, calibration, others, chance=True)
    threshold = conformal_quantile(judge.conformity_scores[:, 0], 0.1)
    mine = ConformalThreshold("aps", 0.1, threshold, 431).build_sets(others)
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("method", conformal.METHODS)
def test_coverage_over_draws_is_what_theory_says(method: str, draws: Callable[[int], int]) -> None:
    n, rate = 39, 0.1
    p, labels = drawn(60_000, 7)
    new, truth = drawn(4_000, 8)
    coverages = []
    for one in range(draws(600)):
        part = slice(n * one, n * (one + 1))
        made = fit_conformal_threshold(p[part], labels[part], rate, method)
        coverages.append(made.build_sets(new)[np.arange(len(new)), truth].mean())
    mean, error = np.mean(coverages), np.std(coverages) / np.sqrt(len(coverages))
    assert mean >= 1 - rate - 3 * error, "the promise: at least 1 − α on the average over draws"
    if method == "lac":  # without ties it is exactly Beta(36, 4)
        low, high = made.expected_coverage
        assert (low, high) == pytest.approx(stats.beta.interval(0.95, 36, 4))
        assert mean == pytest.approx(36 / 40, abs=4 * error)
        assert np.mean([low <= one <= high for one in coverages]) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("method", conformal.METHODS)
def test_too_few_examples_rule_nothing_out(method: str) -> None:
    p, labels = drawn(19, 9)
    few, just = (fit_conformal_threshold(p[:n], labels[:n], 0.05, method) for n in (18, 19))
    assert (few.has_enough_examples, just.has_enough_examples, few.min_examples) == (False, True, 19)
    assert few.build_sets(p).all()
    assert few.expected_coverage == (1.0, 1.0)
    assert just.threshold < math.inf


@pytest.mark.parametrize("method", conformal.METHODS)
def test_equal_scores_keep_the_promise(method: str) -> None:
    """Doubles of float32 are often equal: a set holds whatever is as good as the threshold."""
    p = np.tile([0.5, 0.3, 0.2, 0, 0, 0], (40, 1))
    labels = np.array([1] * 40)
    assert fit_conformal_threshold(p, labels, 0.1, method).build_sets(p)[:, 1].all()


def test_only_least_ambiguous_sets_are_ever_empty() -> None:
    p, labels = drawn(2_000, 10, sharp=0.03)
    each = {m: evaluate_conformal_sets(p, labels, 0.4, m)[1] for m in conformal.METHODS}
    assert each["lac"].empty_count > 0
    assert each["aps"].empty_count == each["raps"].empty_count == 0


def test_figures_are_counted_on_the_other_half_class_by_class() -> None:
    p, labels = drawn(401, 11)
    made, found = evaluate_conformal_sets(p, labels, 0.1, "aps")
    assert made.n + found.n == 401
    assert abs(made.n - found.n) <= 1
    order = np.argsort(labels, kind="stable")
    judged = np.sort(order[1::2])
    sets, truth = made.build_sets(p[judged]), labels[judged]
    assert found.covered == sum(row[label] for row, label in zip(sets, truth, strict=True))
    assert found.sizes.tolist() == [int((sets.sum(axis=1) == k).sum()) for k in range(C + 1)]
    hits = sets.sum(axis=1)[sets[np.arange(len(sets)), truth]]
    assert found.sizes_covered.tolist() == [int((hits == k).sum()) for k in range(C + 1)]
    assert found.mean_size == pytest.approx(sets.sum() / len(sets))
    for c in range(C):
        mine = sets[truth == c]
        assert (found.class_n[c], found.class_covered[c]) == (len(mine), mine[:, c].sum())
        assert found.class_size[c] == pytest.approx(mine.sum(axis=1).mean())
    low, high = stats.binomtest(found.covered, found.n).proportion_ci(method="wilson")
    assert found.coverage_interval == pytest.approx((low, high))


def test_every_example_has_the_set_of_the_half_that_it_is_not_in() -> None:
    p, labels = drawn(401, 13)
    first, second = split_halves(labels)
    sets = cross_conformal_sets(p, labels, 0.1, "lac")
    of_first = fit_conformal_threshold(p[first], labels[first], 0.1, "lac")
    np.testing.assert_array_equal(sets[second], of_first.build_sets(p[second]))
    of_second = fit_conformal_threshold(p[second], labels[second], 0.1, "lac")
    np.testing.assert_array_equal(sets[first], of_second.build_sets(p[first]))


def test_examples_apart_calibrate_for_all_of_the_others() -> None:
    apart, (p, labels) = drawn(300, 14), drawn(200, 15)
    made, found = evaluate_conformal_sets(p, labels, 0.1, "raps", apart)
    assert made == fit_conformal_threshold(*apart, 0.1, "raps")
    assert found.n == 200
    sets = cross_conformal_sets(p, labels, 0.1, "raps", apart)
    np.testing.assert_array_equal(sets, made.build_sets(p))
    assert found.covered == sets[np.arange(200), labels].sum()


def test_what_cannot_be_calibrated_is_refused_in_a_sentence() -> None:
    p, labels = drawn(30, 12)
    for rate in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="outside 0 to 1"):
            fit_conformal_threshold(p, labels, rate)
    with pytest.raises(ValueError, match="none of aps, raps, lac"):
        fit_conformal_threshold(p, labels, 0.1, "naive")
    with pytest.raises(ValueError, match="30, 6"):
        fit_conformal_threshold(p, labels[:-1], 0.1)
    with pytest.raises(ValueError, match="No example"):
        measure_coverage(np.zeros((0, C), bool), labels[:0])


@pytest.mark.parametrize("n", [60, 250])
def test_a_promise_that_is_kept_is_rarely_called_broken(n: int) -> None:
    """Both halves are drawn: an interval of the coverage alone calls it broken in 7 % of draws."""
    rate, draws = 0.05, np.random.default_rng(10)
    scores = np.sort(draws.random((20_000, n)), axis=1)[:, conformal_rank(n, rate) - 1]
    covered = draws.binomial(n, scores)  # of new examples, as many as calibrated
    made = ConformalThreshold("lac", rate, 0.5, n)
    each = [measure_coverage(np.arange(n)[:, None] < [hit, n], np.zeros(n, int)) for hit in range(n + 1)]
    called = np.array([coverage_p_value(made, one) < 0.05 for one in each])[covered].mean()
    alone = np.array([one.coverage_interval[1] < 1 - rate for one in each])[covered].mean()
    assert 0.03 < called < 0.053
    assert alone > 0.06
    assert coverage_p_value(ConformalThreshold("lac", rate, math.inf, 18), each[0]) == 1
