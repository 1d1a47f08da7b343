"""On which labelled images the accuracy under shift is estimated, and which are judged."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble import datasets
from ensemble.analysis.quality.halves import split_halves
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.shift import StressResults
from ensemble.shift.accuracy_reference import AccuracyReference
from tests.pages.ensembles import probabilities, trained

LABELS = datasets.load_dataset("digits").test_labels
RESULTS = StressResults(tick=22, epoch=2, steps_after=0, dataset="digits", images=500, members=3)


def test_validation_images_are_fitted_on_where_there_are_some_of_the_same_members() -> None:
    run = trained(members=3, validation=0.1)
    held_out = evaluate_validation_predictions(run, 2)
    assert held_out is not None
    answers = probabilities("digits", 3, 3, 5.0)
    reference = AccuracyReference(run, LABELS, None)
    fit = reference.fit_images(answers, RESULTS)
    assert fit
    assert (fit["source"], fit["images"]) == ("validation", len(held_out.labels))
    assert fit["accuracy"] == held_out.right.mean()
    estimate = reference.estimate_images(answers)
    assert estimate
    assert estimate["images"] == len(LABELS)
    assert estimate["accuracy"] == (answers.mean(axis=0).argmax(axis=-1) == LABELS).mean()


@pytest.mark.parametrize("change", [{"steps_after": 3}, {"members": 2}])
def test_of_members_that_went_on_or_are_others_one_half_of_the_test_images_is(change: dict[str, int]) -> None:
    run, results = trained(members=3, validation=0.1), replace(RESULTS, **change)
    answers = probabilities("digits", results.members, 3, 5.0)
    reference = AccuracyReference(run, LABELS, None)
    fit = reference.fit_images(answers, results)
    assert fit
    fitted, rest = split_halves(LABELS)
    right = answers.mean(axis=0).argmax(axis=-1) == LABELS
    assert (fit["source"], fit["accuracy"]) == ("half", right[fitted].mean())
    estimate = reference.estimate_images(answers)
    assert estimate
    assert (estimate["images"], estimate["accuracy"]) == (rest.sum(), right[rest].mean())


def test_too_few_images_are_not_estimated() -> None:
    few = np.arange(59)
    reference = AccuracyReference(trained(members=3), LABELS[few], None)
    answers = probabilities("digits", 3, 3, 5.0)[:, few]
    assert reference.fit_images(answers, replace(RESULTS, images=59)) is None
    assert reference.estimate_images(answers) is None
