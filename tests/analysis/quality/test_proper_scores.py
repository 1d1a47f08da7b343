import math

import numpy as np
import pytest
from sklearn import metrics

from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY, brier_score, label_probability, log_loss
from tests.analysis.cases import Case, cases, labelled

CASES = cases()
EDGE = -math.log(1.1754943508222875e-38)  # float32's least normal number, by the book


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_scores_are_what_a_slow_loop_finds(case: Case) -> None:
    probabilities, labels = case
    for number, member in enumerate(probabilities):
        for n, label in enumerate(labels):
            row = [float(p) for p in member[n]]
            lost = EDGE if row[label] == 0 else -math.log(row[label])
            apart = sum((p - (c == label)) ** 2 for c, p in enumerate(row))
            assert log_loss(probabilities, labels)[number, n] == pytest.approx(lost, abs=1e-12)
            assert brier_score(probabilities, labels)[number, n] == pytest.approx(apart, abs=1e-12)


@pytest.mark.parametrize("classes", [3, 10])
def test_means_agree_with_scikit_learn(classes: int) -> None:
    probabilities, labels = labelled(1, 500, classes, seed=classes)
    rows = probabilities[0].astype(float)
    rows /= rows.sum(axis=1, keepdims=True)
    everyone = list(range(classes))
    expected = metrics.log_loss(labels, rows, labels=everyone)
    assert log_loss(rows, labels).mean() == pytest.approx(expected, abs=1e-12)
    expected = metrics.brier_score_loss(labels, rows, labels=everyone, scale_by_half=False)
    assert brier_score(rows, labels).mean() == pytest.approx(expected, abs=1e-12)


def test_two_classes_score_twice_the_usual_brier() -> None:
    probabilities, labels = labelled(1, 300, 2)
    usual = metrics.brier_score_loss(labels, probabilities[0, :, 1].astype(float))
    assert brier_score(probabilities[0], labels).mean() == pytest.approx(2 * usual, abs=1e-6)


def test_certainty_costs_nothing_or_all() -> None:
    sure = np.eye(4, dtype=np.float32)[[2, 2]]
    labels = np.array([2, 1])
    assert log_loss(sure, labels).tolist() == [0, pytest.approx(EDGE)]
    assert brier_score(sure, labels).tolist() == [0, 2]


def test_what_float32_holds_below_its_normal_numbers_counts_as_tiny() -> None:
    rows = np.array([[1, 1e-40], [1, 0], [1, MIN_PROBABILITY]], np.float32)
    assert label_probability(rows, np.array([1, 1, 1])).tolist() == [MIN_PROBABILITY] * 3


def test_the_probabilities_stay_as_they_are() -> None:
    probabilities, labels = labelled(2, 20, 4)
    doubles = probabilities.astype(float)
    before = doubles.copy()
    brier_score(doubles, labels)
    log_loss(doubles, labels)
    np.testing.assert_array_equal(doubles, before)
