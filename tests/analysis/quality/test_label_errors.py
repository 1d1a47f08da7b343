"""Labels that are wrong: counted as cleanlab counts them, found where some were planted."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, chi2

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.confident_joint import (
    build_joint_noise,
    calibrate_joint,
    compute_joint_interval,
    count_confident_joint,
    guess_classes,
)
from ensemble.analysis.quality.label_errors import LEAST_RATE, find_label_errors
from ensemble.analysis.quality.label_noise import (
    compute_rate_interval,
    estimate_likelihoods,
    fit_label_noise,
    raise_noise_rate,
)

N, C, M = 2_000, 5, 4


def draw_members(seed: int, n: int = N, classes: int = C, members: int = M) -> EnsemblePredictions:
    """Predictions whose averaged probabilities the true classes are drawn from."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 4, (n, classes))
    logits = centre + rng.normal(0, 1, (members, n, classes))
    probabilities = np.exp(logits - logits.max(axis=2, keepdims=True))
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    chances = probabilities.mean(axis=0).cumsum(axis=1)
    labels = (rng.random((n, 1)) * chances[:, -1:] > chances).sum(axis=1)
    return evaluate_predictions(probabilities, labels)


def plant(truth: EnsemblePredictions, share: float, seed: int) -> tuple[EnsemblePredictions, int]:
    """The same with a share of the labels changed to any other class, and how many."""
    rng = np.random.default_rng(seed)
    flipped, classes = rng.random(len(truth.labels)) < share, truth.averaged.shape[1]
    other = (truth.labels + rng.integers(1, classes, len(truth.labels))) % classes
    labels = np.where(flipped, other, truth.labels)
    return evaluate_predictions(truth.probabilities, labels), int(flipped.sum())


@pytest.mark.parametrize("classes", [2, 5, 40])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_joint_is_cleanlabs_to_the_last_count(classes: int, share: float) -> None:
    from cleanlab.count import compute_confident_joint

    made, _ = plant(draw_members(classes, classes=classes), share, 1)
    guessed = guess_classes(made.averaged, made.labels)
    joint = count_confident_joint(made.labels, guessed, classes)
    theirs = compute_confident_joint(made.labels, made.averaged, calibrate=False)
    np.testing.assert_array_equal(joint, theirs)
    assert find_label_errors(made).joint.tolist() == theirs.tolist()
    calibrated = compute_confident_joint(made.labels, made.averaged, calibrate=True)
    # Theirs is rounded to whole labels, row by row.
    np.testing.assert_allclose(calibrate_joint(joint, made.labels), calibrated, atol=1)


@pytest.mark.long_cases
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_planted_errors_lie_in_the_interval_and_first_in_the_order(share: float) -> None:
    inside, found, planted = 0, 0, 0
    for seed in range(20):
        truth = draw_members(seed)
        made, count = plant(truth, share, seed + 100)
        errors = find_label_errors(made)
        inside += errors.low <= count / N <= errors.high
        wrong = made.labels != truth.labels
        found += int(wrong[errors.order[:count]].sum())
        planted += count
    assert inside >= 16
    assert found >= 0.5 * planted  # A quarter of the examples might as well be of another class.


def test_at_least_as_many_are_found_as_were_expected_and_not_many_times_as_many() -> None:
    expected, found = np.zeros(4), np.zeros(4)
    for seed in range(20):
        truth = draw_members(seed)
        made, _ = plant(truth, 0.05, seed + 100)
        errors, wrong = find_label_errors(made), made.labels != truth.labels
        for place in range(4):
            first = 20 * place
            expected[place] += errors.expect_errors(first, first + 20)
            found[place] += int(wrong[errors.order[first : first + 20]].sum())
    # 400 images each: two standard deviations and a tenth for thresholds that are estimated.
    spread = 2 * np.sqrt(expected * (1 - expected / 400).clip(0.01))
    assert (expected <= found + spread + 0.1 * expected).all(), (expected, found)
    assert expected.sum() >= 0.5 * found.sum()
    assert expected[0] > expected[-1]


def test_doubt_is_bayes_rule_with_a_least_rate_of_mistakes() -> None:
    made, _ = plant(draw_members(5), 0.05, 6)
    noise = fit_label_noise(made.averaged, made.labels)
    softened = made.averaged ** (1 / noise.temperature)
    softened /= softened.sum(axis=1, keepdims=True)
    errors = find_label_errors(made)
    assert errors.by == "likelihood"  # Confident learning finds more if many are ambiguous.
    raised = raise_noise_rate(noise, LEAST_RATE).matrix
    np.testing.assert_allclose(raised.sum(axis=1), 1)
    assert (np.diag(raised) <= 1 - LEAST_RATE + 1e-12).all()
    for number in range(50):
        label = made.labels[number]
        joint = softened[number] * raised[:, label]
        assert errors.doubt[number] == pytest.approx(1 - joint[label] / joint.sum(), abs=1e-9)


def test_labels_that_all_members_contradict_come_first_whatever_their_class() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 3000)
    right = 1 - rng.exponential(0.002, 3000).clip(0, 0.4)
    p = np.repeat(((1 - right) / 9)[:, None], 10, axis=1)
    p[np.arange(3000), labels] = right
    wrong = rng.choice(np.flatnonzero(labels != 6), 12, replace=False)
    p[wrong] = 0.006 / 8
    p[wrong, (labels[wrong] + 1) % 10], p[wrong, labels[wrong]] = 0.99, 0.004
    six = np.flatnonzero(labels == 6)[0]
    p[six] = 0.0005 / 8
    p[six, 1], p[six, 6] = 0.999, 0.0005
    errors = find_label_errors(evaluate_predictions(np.repeat(p[None], 4, axis=0), labels))
    assert set(errors.order[:13]) == {*wrong, six}
    assert set(errors.queue) == {*wrong, six}
    assert (errors.doubt > 0).all()
    assert (errors.doubt[wrong] > 0.1).all()


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_mistakes_that_follow_the_image_are_not_overcounted(share: float) -> None:
    for seed in range(5):
        truth = draw_members(seed)
        rng = np.random.default_rng(seed)
        second = truth.averaged.copy()
        second[np.arange(N), truth.labels] = 0
        weight = second.max(axis=1) + 1e-4
        flipped = rng.choice(N, int(share * N), replace=False, p=weight / weight.sum())
        labels = truth.labels.copy()
        labels[flipped] = second[flipped].argmax(axis=1)
        errors = find_label_errors(evaluate_predictions(truth.probabilities, labels))
        assert errors.low * N <= len(flipped)
        assert errors.expect_errors(0, N) <= len(flipped)
        assert set(errors.queue) >= set(np.flatnonzero(errors.contradicted))


def test_a_queue_is_never_empty_while_a_member_contradicts_a_label() -> None:
    labels = np.zeros(100, int)
    p = np.tile([0.9, 0.1], (3, 100, 1))
    p[2, 30:33] = [0.3, 0.7]  # the average still has the label
    errors = find_label_errors(evaluate_predictions(p, labels))
    assert not errors.contradicted.any()
    assert set(errors.queue) >= {30, 31, 32}
    alone = find_label_errors(evaluate_predictions(p[:2], labels))
    assert not alone.disputed.any()


def test_a_temperature_that_was_taken_away_is_found() -> None:
    made, _ = plant(draw_members(7), 0.05, 8)
    assert fit_label_noise(made.averaged, made.labels).temperature == pytest.approx(1, abs=0.15)
    sharp = made.averaged**2
    sharp /= sharp.sum(axis=1, keepdims=True)
    assert fit_label_noise(sharp, made.labels).temperature == pytest.approx(2, abs=0.3)


def test_where_examples_come_in_copies_the_interval_is_as_wide_as_for_one_of_each() -> None:
    made, _ = plant(draw_members(3, n=400), 0.05, 4)
    noise = fit_label_noise(made.averaged, made.labels)
    right, wrong = estimate_likelihoods(made.averaged, made.labels, noise)
    kept = np.diag(noise.matrix)[made.labels]
    single = compute_rate_interval(right, wrong, kept)
    right, wrong, kept = (np.repeat(values, 5) for values in (right, wrong, kept))
    groups = np.repeat(np.arange(400), 5)
    grouped = compute_rate_interval(right, wrong, kept, groups)
    assert grouped == pytest.approx(single, rel=0.1)
    careless = compute_rate_interval(right, wrong, kept)
    assert careless[1] - careless[0] < 0.6 * (single[1] - single[0])


def test_what_the_ensemble_is_surer_of_than_a_temperature_can_say_is_left_to_thresholds() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, C, 500)
    said = np.where(rng.random(500) < 0.1, (labels + rng.integers(1, C, 500)) % C, labels)
    confidence = np.where(said == labels, 0.7, 0.6)  # It is right far more often than it says.
    probabilities = np.repeat((1 - confidence[:, None]) / (C - 1), C, axis=1)
    probabilities[np.arange(500), said] = confidence
    errors = find_label_errors(evaluate_predictions(probabilities[None], labels))
    guessed = guess_classes(probabilities, labels)
    calibrated = calibrate_joint(errors.joint, labels)
    assert errors.by == "confident learning"
    assert errors.share == pytest.approx(1 - np.trace(calibrated) / 500)
    low, high = compute_joint_interval(labels, guessed, C)
    assert errors.high == high
    assert 0 <= errors.low <= low  # It counts some right labels too.
    labelled = raise_noise_rate(build_joint_noise(calibrated), LEAST_RATE).matrix
    for number in range(50):  # Bayes' rule, with the probabilities as they are
        joint = probabilities[number] * labelled[:, labels[number]]
        right = joint[labels[number]] / joint.sum()
        assert errors.doubt[number] == pytest.approx(1 - right, abs=1e-9)
    each_its_own = compute_joint_interval(labels, guessed, C, np.arange(500))
    assert each_its_own == pytest.approx((low, high), abs=0.01)


def test_where_no_answer_is_right_there_is_something_sound_to_say() -> None:
    labels = np.arange(40) % 2
    probabilities = np.full((2, 40, 2), 0.0)
    probabilities[:, np.arange(40), 1 - labels] = 1
    errors = find_label_errors(evaluate_predictions(probabilities, labels))
    assert 0 <= errors.low <= errors.share <= errors.high <= 1
    assert np.isfinite(errors.doubt).all()


@pytest.mark.parametrize("members", [1, 3])
def test_one_example_one_class_and_a_class_without_labels_are_no_trouble(members: int) -> None:
    for labels, classes in (([0], 2), ([1, 1, 1], 2), ([0, 2, 2, 0], 4)):
        probabilities = np.full((members, len(labels), classes), 1 / classes)
        errors = find_label_errors(evaluate_predictions(probabilities, np.array(labels)))
        assert 0 <= errors.low <= errors.share <= errors.high <= 1
        assert np.isfinite(errors.doubt).all()
        assert sorted(errors.order) == list(range(len(labels)))
        assert (errors.suggested != labels).all()


def test_of_labels_that_are_known_to_be_wrong_the_rates_interval_is_that_of_a_binomial_likelihood() -> None:
    """Twice the fall of the log-likelihood is the 95 % quantile of chi-squared with one degree of freedom."""
    wrong = np.arange(400) < 20
    kept = np.full(400, 0.95)
    low, high = compute_rate_interval(np.where(wrong, 0.0, 0.95), np.where(wrong, 0.05, 0.0), kept)

    def fall(rate: float) -> float:
        return float(2 * (binom.logpmf(20, 400, 0.05) - binom.logpmf(20, 400, rate)) - chi2.ppf(0.95, 1))

    ends = brentq(fall, 0.001, 0.05), brentq(fall, 0.05, 0.5)
    assert (0.05 * low, 0.05 * high) == pytest.approx(ends, rel=0.03), "the steps of its grid are 2.7 %"


def test_the_interval_of_confident_learning_is_that_of_a_binomial_share() -> None:
    """All labels are of one class, and every example is confidently of it or of another."""
    labels, guessed = np.zeros(400, np.int64), 1 * (np.arange(400) < 120)
    low, high = compute_joint_interval(labels, guessed, 2)
    assert (400 * low, 400 * high) == pytest.approx(tuple(binom.ppf([0.025, 0.975], 400, 0.3)), abs=1.5)
