"""Doubtful labels in tables: the label and the class that the ensemble prefers keep their places."""

import numpy as np
import pytest

from ensemble.analysis.inference.fold_shares import FoldShares
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.label_errors import find_label_errors
from ensemble.views.examples import labels as words
from ensemble.wording.verdicts.ensemble_gain import describe_judges

NAMES = ["cat", "dog", "owl"]


@pytest.fixture(scope="module")
def predictions() -> EnsemblePredictions:
    """Of 90 images 3 cats are surely dogs, 2 owls surely cats, and no other label is in doubt."""
    labels = np.repeat([0, 1, 2], 30)
    classes = labels.copy()
    classes[[4, 5, 6]], classes[[70, 80]] = 1, 0
    probabilities = np.full((2, 90, 3), 0.01)
    probabilities[:, np.arange(90), classes] = 0.98
    probabilities[1, [4, 5, 6]] = [0.005, 0.99, 0.005]
    return evaluate_predictions(probabilities, labels)


def test_pairs_of_classes_are_counted_from_the_label_to_the_class_it_is_taken_for(
    predictions: EnsemblePredictions,
) -> None:
    table = words.tabulate_label_pairs(find_label_errors(predictions), NAMES, "image")
    assert list(table.columns) == ["labelled", "confidently", "images"]
    assert table.to_numpy().tolist() == [["cat", "dog", "3"], ["owl", "cat", "2"]]


def test_each_doubtful_label_is_next_to_the_suggested_class_and_the_label_probabilities(
    predictions: EnsemblePredictions,
) -> None:
    errors = find_label_errors(predictions)
    table = words.tabulate_doubtful_labels(
        errors, np.arange(90) + 1_000, predictions.labels, predictions.averaged, np.full(90, 2), NAMES
    )
    rows = table[["number", "label", "instead", "ensemble", "lowest member", "votes"]].to_numpy().tolist()
    cats = [[f"1,00{number}", "cat", "dog", "0.8 %", "0.5 %", "0 of 2"] for number in (4, 5, 6)]
    owls = [[f"1,0{number}", "owl", "cat", "1.0 %", "1.0 %", "0 of 2"] for number in (70, 80)]
    assert sorted(rows) == sorted([*cats, *owls])


def test_the_values_of_all_labels_are_those_of_their_own_image(predictions: EnsemblePredictions) -> None:
    errors = find_label_errors(predictions)
    table = words.tabulate_label_values(
        errors, np.arange(90), predictions.labels, predictions.averaged, np.full(90, 2), NAMES
    ).set_index("number")
    assert len(table) == 90
    assert table.loc[5, ["label", "suggested", "votes", "members"]].tolist() == ["cat", "dog", 0, 2]
    assert table.loc[80, ["label", "suggested", "votes", "members"]].tolist() == ["owl", "cat", 0, 2]
    assert table.loc[5, ["averaged", "lowest"]].tolist() == pytest.approx([0.0075, 0.005])
    assert table.loc[50, ["label", "averaged", "votes"]].tolist() == ["dog", pytest.approx(0.98), 2]


def test_folds_and_judges_are_listed_from_the_fewest_to_the_most() -> None:
    text = words.explain_fold_conflict(FoldShares(np.array([0.05, 0.012, 0.21]), 1e-9), "image")
    assert text.startswith("From 1.2 % of the labels in one fold to 21.0 % in another, ")
    text = describe_judges(np.array([3, 2, 4]), 5, 7)
    assert text == "Each is judged by the members that never learned from it, 2 to 4 of 5, after epoch 7"
