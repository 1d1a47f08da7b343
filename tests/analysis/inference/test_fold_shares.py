"""Folds whose labels are as wrong as each other's: alike where their judges are, else apart."""

import numpy as np
import pytest

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
