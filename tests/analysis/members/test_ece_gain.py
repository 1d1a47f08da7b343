"""The ensemble's calibration error against its members': scikit-learn's bins, and null draws."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from ensemble.analysis.members.ece_gain import estimate_ece_difference, estimate_ece_gain
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from tests.analysis.cases import labelled


def error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """The ECE from scikit-learn's bins, which are closed on the other side: no ties here."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    accuracy, confidence = calibration_curve(right, sure, n_bins=15)
    counts = np.histogram(sure, bins=np.linspace(0, 1, 16))[0]
    return float(counts[counts > 0] / len(labels) @ np.abs(accuracy - confidence))


def test_both_errors_are_those_of_scikit_learns_bins() -> None:
    made = evaluate_predictions(*labelled(4, 600, 10))
    found = estimate_ece_gain(made)
    assert found.ensemble == pytest.approx(error(made.averaged, made.labels), abs=1e-6)
    members = [error(member, made.labels) for member in made.probabilities]
    assert found.members == pytest.approx(np.mean(members), abs=1e-6)
    assert found.low < found.ensemble - found.members < found.high
    assert (found.ece_sign, found.overconfidence_sign) == (-1, -1), "averaged over random members: too unsure"


def test_a_better_ensemble_is_shown_to_be_and_one_seed_gives_one_answer() -> None:
    """Two members, too sure of what they err at in turn: their mean is not sure of these."""
    members = np.full((2, 600, 2), np.float32([0.99, 0.01]))
    members[0, :100], members[1, 100:200] = [0.02, 0.98], [0.02, 0.98]
    labels = np.zeros(600, int)
    labels[50:150] = 1
    found = estimate_ece_gain(evaluate_predictions(members, labels))
    assert found.ensemble < found.members
    assert found.ece_sign == 1
    assert found == estimate_ece_gain(evaluate_predictions(members, labels))


def as_calibrated(draws: np.random.Generator) -> EnsemblePredictions:
    """The ensemble is as often right as it says, of each example; its members say one and the
    same of all, and are right as often: nobody has a true error, but chance gives them more or
    less of one."""
    truth = np.clip(1 - draws.beta(0.5, 8, size=500), 0.5, 0.999)
    right = draws.random(500) < truth
    members = np.full((2, 500, 2), np.float32([0.9407, 0.0593]))  # the mean of `truth`
    made = evaluate_predictions(members, np.where(right, 0, 1))
    return replace(made, confidence=truth.astype(np.float32))


def test_with_equal_true_errors_one_is_called_worse_in_no_more_than_5_of_100_draws() -> None:
    draws = np.random.default_rng(1)
    found = [estimate_ece_gain(as_calibrated(draws)) for _ in range(60)]
    assert np.mean([one.ensemble > one.members for one in found]) > 0.8, "chance leans one way"
    assert np.mean([one.ece_sign != 0 for one in found]) <= 0.05


def test_the_interval_leaves_out_a_fortieth_at_either_end() -> None:
    """The others have no error in any resample, so the ensemble's alone varies: a mean of one bin."""
    confidence, right = np.full(400, 0.9), np.arange(400) < 240
    others = [(np.ones(400), np.ones(400, bool))]
    found = [estimate_ece_difference(confidence, right, others, seed=seed) for seed in range(8)]
    error = np.sqrt(0.6 * 0.4 / 400)
    chance = np.sqrt(2 / np.pi * 0.9 * 0.1 / 400)
    assert np.mean([one.high for one in found]) == pytest.approx(0.3 + 1.96 * error, abs=0.15 * error)
    assert np.mean([one.low for one in found]) == pytest.approx(0.3 - 1.96 * error - chance, abs=0.15 * error)
