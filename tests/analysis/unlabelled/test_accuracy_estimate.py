"""Accuracy without labels: planted truths are found, and failed checks lower the trust."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chi2_contingency, ks_2samp, kstwobign, norm, permutation_test

from benchmarks.verdicts.trials import Setting
from benchmarks.verdicts.unlabeled_trials import unlike, unlike_groups
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.temperature_scaling import apply_temperature, fit_temperature
from ensemble.analysis.unlabelled.accuracy_estimate import (
    ESTIMATORS,
    MAX_CHANGE,
    MIN_IMAGES,
    EstimatedShare,
    estimate_accuracy,
    fit_accuracy,
    fit_half_accuracy,
    widen_range,
)
from ensemble.analysis.unlabelled.distribution_test import (
    LEVEL,
    LEVEL_SHARES,
    compare_distributions,
    mean_difference_p_value,
)
from ensemble.analysis.unlabelled.output_measures import measure_outputs

MEMBERS, CLASSES = 4, 5


def draw_labelled(seed: int, images: int, *, scale: float = 4.0, sharpness: float = 1.0) -> EnsemblePredictions:
    """Members whose average is right with the probability that it says, where sharpness is 1.

    Args:
      seed: of the draw.
      images: N.
      scale: how well classes can be told apart.
      sharpness: the power that members raise their probabilities to after the labels were drawn.
    """
    random = np.random.default_rng(seed)
    shared = random.normal(size=(images, CLASSES)) * scale
    logits = shared + random.normal(size=(MEMBERS, images, CLASSES)) * 1.5
    probabilities = _softmax(logits)
    cumulated = probabilities.mean(axis=0).cumsum(axis=1)
    labels = (random.random((images, 1)) > cumulated).sum(axis=1).clip(0, CLASSES - 1)
    return evaluate_predictions(_softmax(logits * sharpness), labels)


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def describe(predictions: EnsemblePredictions) -> dict[str, float]:
    """What an estimate is to find: the share that is right, of the ensemble and of a member."""
    member = float((predictions.votes == predictions.labels).mean())
    return {**dict.fromkeys(ESTIMATORS, float(predictions.right.mean())), "member": member}


def test_what_calibrated_members_promise_comes_true_as_often_as_is_said(draws: Callable[[int], int]) -> None:
    """Each interval holds the share that is right in 95 % of draws; checks refuse few of them."""
    repeats, hits, refused = draws(250), Counter[str](), 0
    for seed in range(repeats):
        labelled, new = draw_labelled(seed, 300), draw_labelled(10_000 + seed, 100)
        estimate = estimate_accuracy(fit_accuracy(labelled), measure_outputs(new.probabilities))
        assert estimate.member
        truth = describe(new)
        for name, share in {**estimate.estimates, "member": estimate.member}.items():
            hits[name] += share.low - 1e-9 <= truth[name] <= share.high + 1e-9
        refused += not estimate.can_be_told
    for name in (*ESTIMATORS, "member"):  # 92 %: 95 % less what the bootstrap is short of
        assert binom.cdf(hits[name], repeats, 0.92) > 1e-3, f"{name}: {hits[name]} of {repeats}"
    # 5 % for either check, and both are on the safe side.
    assert binom.sf(refused - 1, repeats, 0.10) > 1e-3


@pytest.mark.parametrize("change", [{"scale": 1.5}, {"scale": 8.0}, {"sharpness": 3.0}])
def test_images_that_are_not_like_the_labelled_are_refused(change: dict[str, float]) -> None:
    fit = fit_accuracy(draw_labelled(0, 500))
    assert fit.is_calibrated
    new = draw_labelled(1, 300, **change)
    estimate = estimate_accuracy(fit, measure_outputs(new.probabilities))
    assert estimate.refusals == ("unlike",)
    assert estimate.likeness
    assert estimate.likeness.strongest[1] < 1e-3
    low, high = widen_range(estimate.estimates.values(), fit.accuracy)
    assert low <= new.right.mean() <= high
    assert estimate.range == (None if (low, high) == (0, 1) else (low, high))
    assert estimate.trust == ("lower" if estimate.range else "none")
    changes = [share.value - fit.accuracy for share in estimate.estimates.values()]
    assert (low == 0) == (max(map(abs, changes)) > MAX_CHANGE)


def test_a_temperature_mends_what_is_too_sure_but_not_what_no_temperature_can() -> None:
    sharp = draw_labelled(2, 2_000, sharpness=2.0)
    fit = fit_accuracy(sharp)
    assert fit.temperature == pytest.approx(fit_temperature(sharp.averaged, sharp.labels))
    assert fit.temperature > 1.5
    assert fit.is_calibrated
    # Wrong where it is surest, which no temperature brings in order.
    labels = sharp.labels.copy()
    labels[np.argsort(-sharp.confidence)[:400:2]] += 1
    broken = evaluate_predictions(sharp.probabilities, labels % CLASSES)
    fit = fit_accuracy(broken)
    assert not fit.is_calibrated
    estimate = estimate_accuracy(fit, measure_outputs(sharp.probabilities[:, :500]))
    assert "calibration" in estimate.refusals
    assert estimate.trust == "lower"
    assert estimate.range


def test_a_range_of_lower_trust_is_widened_by_the_change_of_each_estimate() -> None:
    near, far = EstimatedShare(0.88, 0.86, 0.91), EstimatedShare(0.81, 0.78, 0.83)
    # 90 % right before: 2 points less by the one estimate, 9 points less by the other.
    assert widen_range([near, far], 0.9) == pytest.approx((0.69, 0.93))
    assert widen_range([near], 0.9) == pytest.approx((0.84, 0.93))
    # 11 points less by one of them: no lower end.
    assert widen_range([near, far], 0.92) == pytest.approx((0, 0.95))
    assert widen_range([EstimatedShare(0.99, 0.98, 1.0)], 0.95) == pytest.approx((0.94, 1))


def test_a_range_that_excludes_nothing_is_none() -> None:
    """Members that are sure and all agree, of which 70 % are right, seem 30 points better now."""
    sure, unsure = np.full((2, 200, 2), [0.999, 0.001]), np.full((2, 200, 2), [0.7, 0.3])
    fit = fit_accuracy(evaluate_predictions(unsure, np.arange(200) % 10 // 7))
    estimate = estimate_accuracy(fit, measure_outputs(sure))
    assert estimate.refusals == ("unlike",)
    assert (estimate.range, estimate.trust) == (None, "none")
    assert len(estimate.estimates) == 2


def test_the_estimates_are_what_their_papers_say() -> None:
    labelled, new = draw_labelled(3, 400), draw_labelled(4, 200)
    fit = fit_accuracy(labelled)
    estimates = estimate_accuracy(fit, measure_outputs(new.probabilities)).estimates

    tempered = apply_temperature(new.averaged, fit.temperature)
    assert estimates["confidence"].value == pytest.approx(tempered.max(axis=1).mean())

    def certainty(averaged: NDArray[np.float64]) -> NDArray[np.float64]:
        p = apply_temperature(averaged, fit.temperature)
        return np.asarray((p * np.log(p)).sum(axis=1))

    # ATC: as large a share of the labelled images is above the threshold as is right.
    above = certainty(labelled.averaged) >= fit.threshold - 1e-12
    assert above.mean() == labelled.right.mean()
    assert estimates["threshold"].value == (certainty(new.averaged) >= fit.threshold).mean()

    def pairs(votes: NDArray[np.int64]) -> float:
        apart = [(votes[m] != votes[k]).mean() for m in range(MEMBERS) for k in range(m)]
        return float(np.mean(apart))

    errors = 1 - labelled.right.mean()
    expected = 1 - errors * pairs(new.votes) / pairs(labelled.votes)
    assert estimates["agreement"].value == pytest.approx(expected)


def test_members_that_differ_as_labels_do_err_as_often_as_two_disagree() -> None:
    """The equality of Jiang and others: votes and label are draws from one distribution."""
    random = np.random.default_rng(5)
    thought = _softmax(random.normal(size=(20_000, CLASSES)) * 2)
    cumulated = thought.cumsum(axis=1)
    drawn = [(random.random((20_000, 1)) > cumulated).sum(axis=1) for _ in range(MEMBERS + 1)]
    votes = np.eye(CLASSES)[np.stack(drawn[:-1]).clip(0, CLASSES - 1)]
    labels = drawn[-1].clip(0, CLASSES - 1)
    fit = fit_accuracy(evaluate_predictions(votes, labels))
    assert fit.member_errors_per_disagreement == pytest.approx(1, abs=0.03)


def test_copies_of_images_leave_the_estimates_as_uncertain_as_the_images_alone() -> None:
    labelled, new = draw_labelled(15, 100), measure_outputs(draw_labelled(16, 2_000).probabilities)
    five = np.repeat(np.arange(100), 5)
    copied = evaluate_predictions(labelled.probabilities[:, five], labelled.labels[five], five)
    alone, grouped = (estimate_accuracy(fit_accuracy(each), new).estimates for each in (labelled, copied))
    for name in ESTIMATORS:
        widths = [share.high - share.low for share in (alone[name], grouped[name])]
        assert widths[1] == pytest.approx(widths[0], rel=0.15), name


def test_without_an_error_seen_some_may_still_come() -> None:
    answers = np.full((3, 200, 2), [0.999, 0.001])
    fit = fit_accuracy(evaluate_predictions(answers, np.zeros(200, np.int64)))
    estimate = estimate_accuracy(fit, measure_outputs(answers[:, :100]))
    assert "agreement" not in estimate.estimates, "no two members disagree"
    assert estimate.member is None
    for share in estimate.estimates.values():
        assert 0.93 < share.low < 0.995
        assert share.high == pytest.approx(1, abs=1e-3)


def test_thousands_of_labeled_images_are_drawn_in_blocks() -> None:
    labelled, new = draw_labelled(1, 5000), draw_labelled(2, 1000)
    estimate = estimate_accuracy(fit_accuracy(labelled), measure_outputs(new.probabilities))
    for share in estimate.estimates.values():
        assert share.low < new.right.mean() < share.high
        assert 0.01 < share.high - share.low < 0.1


def test_too_few_images_say_nothing() -> None:
    many, few = draw_labelled(6, 100), draw_labelled(7, MIN_IMAGES - 1)
    assert estimate_accuracy(fit_accuracy(many), measure_outputs(few.probabilities)).refusals == ("few_new",)
    estimate = estimate_accuracy(fit_accuracy(few), measure_outputs(many.probabilities))
    assert estimate.refusals == ("few_labelled",)
    assert (estimate.estimates, estimate.range, estimate.trust) == ({}, None, "none")
    with pytest.raises(ValueError, match="half"):
        fit_half_accuracy(evaluate_predictions(many.probabilities[:, :3], many.labels[:3]))


def test_one_half_is_fitted_on_and_the_other_left() -> None:
    groups = np.arange(200) // 4
    grouped = draw_labelled(8, 200)
    whole = evaluate_predictions(grouped.probabilities, grouped.labels, groups)
    fit, rest = fit_half_accuracy(whole)
    assert fit.n + rest.sum() == 200
    assert fit.groups is not None
    assert not set(groups[rest]) & set(groups[~rest])
    estimate = estimate_accuracy(fit, measure_outputs(whole.probabilities[:, rest]))
    assert estimate.likeness
    assert estimate.likeness.reference == fit.groups.max() + 1 < fit.n


def test_the_comparisons_are_those_of_scipy() -> None:
    old, new = (measure_outputs(draw_labelled(seed, 300).probabilities) for seed in (9, 10))
    found = compare_distributions(old, new).p_values
    for name in ("confidence", "entropy", "epistemic"):
        largest = ks_2samp(getattr(old, name), getattr(new, name)).statistic
        assert found[name] == pytest.approx(kstwobign.sf(np.sqrt(300 / 2) * largest))
    counts = [np.bincount(outputs.answers, minlength=CLASSES) for outputs in (old, new)]
    assert found["answers"] == pytest.approx(chi2_contingency(counts, correction=False).pvalue)
    assert found["mean_confidence"] == mean_difference_p_value(old.confidence, new.confidence, 300)


@pytest.mark.parametrize(("labelled", "new"), [(400, 40), (60, 60), (30, 500)])
@pytest.mark.parametrize("errors", [-2.2, 0.7, 2.2])
def test_the_mean_of_skewed_confidences_is_tested_as_by_permutations(labelled: int, new: int, errors: float) -> None:
    random = np.random.default_rng(11)
    first, second = (1 - random.beta(0.3, 4, size) for size in (labelled, new))
    standard_error = np.sqrt(first.var() / labelled + second.var() / new)
    second = second - second.mean() + first.mean() + errors * standard_error
    found = mean_difference_p_value(first, second, labelled)
    permuted = permutation_test(
        (first, second),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        n_resamples=20_000,
        vectorized=True,
        rng=random,
    )
    assert found == pytest.approx(permuted.pvalue, rel=0.15, abs=0.0015)
    assert mean_difference_p_value(second, first, new) == pytest.approx(found)


def test_of_two_samples_of_equal_size_the_p_of_their_means_is_the_normal_one_of_the_permutation() -> None:
    """A sum of n of the 2n values has the variance n σ² · n / (2n − 1), and no skewness."""
    first, second = np.array([0.9, 0.8, 0.95, 0.7]), np.array([0.6, 0.75, 0.85, 0.5])
    pooled = np.concatenate([first, second])
    z = 4 * (second.mean() - pooled.mean()) / np.sqrt(4 * pooled.var() * 4 / 7)
    assert mean_difference_p_value(first, second, 4) == pytest.approx(2 * norm.sf(abs(z)))
    # Two copies of each are worth what the originals are.
    assert mean_difference_p_value(np.tile(first, 2), second, 4) == pytest.approx(2 * norm.sf(abs(z)))


def test_equal_confidences_have_no_difference() -> None:
    assert mean_difference_p_value(np.full(50, 0.9), np.full(30, 0.9), 50) == 1
    assert mean_difference_p_value(np.array([0.9]), np.array([0.8]), 1) == 1


def test_all_tests_together_have_few_false_alarms_and_see_four_times_the_errors(draws: Callable[[int], int]) -> None:
    """Of 2,000 draws 93 % are seen, 27 % by the other four tests alone."""
    repeats, random = draws(200), np.random.default_rng(12)
    assert sum(LEVEL_SHARES.values()) == pytest.approx(1)
    for trial in (unlike, unlike_groups):
        alarms = sum(trial(Setting(200, 5, 0), random).claimed for _ in range(repeats))
        assert binom.sf(alarms - 1, repeats, LEVEL) > 1e-3, trial.__name__
    seen = sum(unlike(Setting(200, 5, 3), random).claimed for _ in range(repeats))
    assert binom.cdf(seen, repeats, 0.9) > 1e-3
    assert not unlike(Setting(MIN_IMAGES - 1, 5, 3), random).claimed


def test_groups_of_unequal_sizes_count_as_few_images() -> None:
    labelled, new = (measure_outputs(draw_labelled(seed, 100).probabilities) for seed in (13, 14))
    groups = np.r_[np.zeros(50, int), np.arange(1, 51)]
    found = compare_distributions(labelled, new, groups)
    assert found.reference == 100**2 // (50**2 + 50)


def test_a_class_that_hardly_occurs_does_not_make_a_difference() -> None:
    answers = np.zeros((2, 100, 3))
    answers[:, :, 0] = 1
    rare = answers.copy()
    rare[:, 0] = [0, 0, 1]
    found = compare_distributions(measure_outputs(answers), measure_outputs(rare))
    assert found.p_values["answers"] == 1
    assert not found.is_unlike


def test_what_is_no_set_of_probabilities_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not \(M, N, C\)"):
        measure_outputs(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="finite"):
        measure_outputs(np.full((2, 3, 4), np.nan))
