"""Folds whose labels are as wrong as each other's: alike where their judges are, else apart."""

import numpy as np
import pytest
from scipy.stats import chi2

from ensemble.analysis.inference.fold_shares import estimate_fold_shares
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.label_errors import find_label_errors
from tests.analysis.quality.test_label_errors import N, draw_members, plant

FOLDS = np.arange(N) % 4


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_folds_with_judges_alike_are_not_said_to_be_apart(share: float) -> None:
    for seed in range(6):
        made, _ = plant(draw_members(seed, members=1), share, seed + 100)
        found = estimate_fold_shares(made, FOLDS)
        assert not found.are_apart, (seed, found)
        own = evaluate_predictions(made.probabilities[:, FOLDS == 2], made.labels[FOLDS == 2])
        assert found.shares[2] == pytest.approx(find_label_errors(own).share)


def test_a_fold_whose_judge_is_sure_of_its_mistakes_stands_apart() -> None:
    made, _ = plant(draw_members(1, members=1), 0.05, 2)
    probabilities = made.probabilities.copy()
    # It takes three classes in four of its fold for the next one, as surely as the others are.
    taken = (FOLDS == 3) & (made.labels > 0)
    probabilities[:, taken] = np.roll(probabilities[:, taken], 1, axis=2)
    found = estimate_fold_shares(evaluate_predictions(probabilities, made.labels), FOLDS)
    assert found.are_apart
    assert found.shares.argmax() == 3


@pytest.mark.parametrize("groups", [None, np.arange(N) // 8])
def test_shares_are_compared_by_cochrans_test(groups: np.ndarray | None) -> None:
    """Σ (share − mean)² / variance has the chi-squared law of one degree less than there are folds."""
    truth = draw_members(3, members=1)
    few, many = plant(truth, 0.02, 4)[0].labels, plant(truth, 0.06, 4)[0].labels
    labels = np.where(FOLDS == 1, many, few)
    found = estimate_fold_shares(evaluate_predictions(truth.probabilities, labels, groups), FOLDS)
    each = []
    for fold in range(4):
        rows = fold == FOLDS
        own = None if groups is None else groups[rows]
        each.append(find_label_errors(evaluate_predictions(truth.probabilities[:, rows], labels[rows], own)))
    shares, errors = np.array([(one.share, (one.high - one.low) / 3.92) for one in each]).T
    mean = shares.mean()
    weights = 1 / np.maximum(errors**2, mean * (1 - mean) / (N / 4))
    distance = (weights * (shares - np.average(shares, weights=weights)) ** 2).sum()
    assert found.p_value == pytest.approx(chi2.sf(distance, 3))
    assert 1e-6 < found.p_value < 0.5
