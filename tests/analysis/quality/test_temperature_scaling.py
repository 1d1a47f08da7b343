"""Temperatures against closed forms, a search of all there are, and scikit-learn's own."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.calibration import reliability_bins
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.analysis.quality.quality import measure_quality
from ensemble.analysis.quality.temperature_scaling import (
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    apply_temperature,
    compare_fitted_temperatures,
    count_fitted_members,
    fit_temperature,
)
from tests.analysis.cases import Case, cases, labelled

CASES = cases()
HALVED = {name: case for name, case in CASES.items() if name != "one example"}


def loss(probabilities: np.ndarray, labels: np.ndarray, temperature: float) -> float:
    """Of the members' average, each tempered by its own loop."""
    members = probabilities.reshape(-1, *probabilities.shape[-2:]).astype(float)
    changed = [softmax(np.log(np.maximum(p, 1.2e-38)) / temperature, axis=1) for p in members]
    return float(log_loss(np.mean(changed, axis=0), labels).mean())


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_tempered_is_the_softmax_of_divided_logits(temperature: float) -> None:
    logits = np.random.default_rng(0).normal(size=(3, 50, 6)) * 4
    found = apply_temperature(softmax(logits, axis=-1), temperature)
    np.testing.assert_allclose(found, softmax(logits / temperature, axis=-1), atol=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_tempered_rows_are_distributions_with_the_same_favourite(case: Case) -> None:
    for temperature in (MIN_TEMPERATURE, 0.7, 3.0, MAX_TEMPERATURE):
        found = apply_temperature(case[0], temperature)
        np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-12)
        np.testing.assert_array_equal(found.argmax(axis=-1), case[0].argmax(axis=-1))


def test_certainty_stays_certain_and_evenness_even() -> None:
    np.testing.assert_allclose(apply_temperature(np.eye(3), 0.5), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(apply_temperature(np.full((1, 4), 0.25), 7.0), 0.25, atol=1e-12)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_is_above_zero(temperature: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        apply_temperature(np.eye(2), temperature)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_other_temperature_fits_better(case: Case) -> None:
    probabilities, labels = case
    for shown in (probabilities, average_probabilities(probabilities)):
        fitted = fit_temperature(shown, labels)
        assert MIN_TEMPERATURE <= fitted <= MAX_TEMPERATURE
        everywhere = [loss(shown, labels, t) for t in np.geomspace(MIN_TEMPERATURE, MAX_TEMPERATURE, 300)]
        assert loss(shown, labels, fitted) <= min(everywhere) + 1e-9


def test_in_closed_form() -> None:
    """All say 0.9 and 7 of 10 are right: ln(0.9/0.1) / T = ln(0.7/0.3)."""
    rows = np.tile([0.9, 0.1], (10, 1))
    labels = (np.arange(10) >= 7).astype(int)
    expected = np.log(9) / np.log(7 / 3)
    assert fit_temperature(rows, labels) == pytest.approx(expected, rel=1e-6)


def test_what_is_made_too_sure_is_cooled_by_as_much() -> None:
    probabilities, labels = labelled(4, 400, 5)
    doubles = probabilities.astype(float)
    before = fit_temperature(doubles, labels)
    assert fit_temperature(apply_temperature(doubles, 0.5), labels) == pytest.approx(2 * before, rel=1e-6)


def test_agrees_with_scikit_learn() -> None:
    draws = np.random.default_rng(0)
    labels = draws.integers(3, size=600)
    points = np.eye(3)[labels] + draws.normal(size=(600, 3))
    model = LogisticRegression(C=1e4).fit(points[:40], labels[:40])
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="temperature")
    expected = calibrated.fit(points, labels).predict_proba(points)
    own = model.predict_proba(points)
    found = apply_temperature(own, fit_temperature(own, labels))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert log_loss(found, labels).mean() <= log_loss(expected, labels).mean() + 1e-12


def test_at_the_ends() -> None:
    draws = np.random.default_rng(0)
    rows = draws.dirichlet(np.ones(4), size=50)
    assert fit_temperature(rows, rows.argmax(axis=1)) == MIN_TEMPERATURE
    assert fit_temperature(rows, rows.argmin(axis=1)) == MAX_TEMPERATURE
    assert fit_temperature(np.full((2, 9, 4), 0.25), np.arange(9) % 4) == 1
    with pytest.raises(ValueError, match="at least one example"):
        fit_temperature(rows[:0], np.zeros(0, int))


@pytest.mark.parametrize("case", HALVED.values(), ids=HALVED)
def test_compares_on_the_half_that_was_not_fitted(case: Case) -> None:
    probabilities, labels = case
    fitted, judged = split_halves(labels)
    found = compare_fitted_temperatures(probabilities, labels)
    averaged = average_probabilities(probabilities)
    before = fit_temperature(probabilities[:, fitted], labels[fitted])
    after = fit_temperature(averaged[fitted], labels[fitted])
    shown = {
        "unscaled": (1.0, averaged),
        "scaled_members": (before, np.mean([apply_temperature(p, before) for p in probabilities], axis=0)),
        "scaled_average": (after, apply_temperature(averaged, after)),
    }
    for name, (temperature, rows) in shown.items():
        one = getattr(found, name)
        assert one.temperature == temperature
        assert one.quality.nll == pytest.approx(measure_quality(rows[judged], labels[judged]).nll)
        right = rows[judged].argmax(axis=1) == labels[judged]
        expected = reliability_bins(rows[judged].max(axis=1), right)
        np.testing.assert_array_equal(one.reliability.count, expected.count)
        np.testing.assert_allclose(one.reliability.accuracy, expected.accuracy, atol=1e-9)
        assert one.quality.n == found.judged
    assert found.fitted + found.judged == len(labels)


def test_the_judged_half_has_no_say_in_the_temperature() -> None:
    probabilities, labels = labelled(3, 200, 10)
    found = compare_fitted_temperatures(probabilities, labels)
    other = probabilities.copy()
    other[:, split_halves(labels)[1]] = 0.1
    again = compare_fitted_temperatures(other, labels)
    assert again.scaled_members.temperature == found.scaled_members.temperature
    assert again.scaled_average.temperature == found.scaled_average.temperature
    assert again.scaled_average.quality.nll == pytest.approx(np.log(10), abs=1e-6)


@pytest.mark.parametrize("name", ["one member", "unanimous"])
def test_of_one_opinion_before_is_after(name: str) -> None:
    found = compare_fitted_temperatures(*CASES[name])
    assert found.scaled_members.temperature == pytest.approx(found.scaled_average.temperature, rel=1e-6)
    assert found.scaled_members.quality.nll == pytest.approx(found.scaled_average.quality.nll, abs=1e-9)


def test_one_example_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="two examples"):
        compare_fitted_temperatures(*CASES["one example"])


def drawn(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of the very distributions that are given: nothing is left to calibrate."""
    return (rows.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1).clip(max=9)


def test_it_helps_calibrated_answers_in_at_most_5_percent_of_draws(draws: Callable[[int], int]) -> None:
    """Before, "some of the error goes" was said in every fifth."""
    probabilities, _ = labelled(2, 500, 10)
    averaged, rng, count = (average_probabilities(probabilities), np.random.default_rng(0), draws(200))
    alone = averaged[None]
    spoke = sum(
        compare_fitted_temperatures(alone, drawn(averaged, rng)).scaled_average.improves_nll for _ in range(count)
    )
    assert spoke / count <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / count)


def test_what_is_far_too_sure_is_helped_and_by_how_much_is_a_mean_of_pairs() -> None:
    probabilities, _ = labelled(2, 500, 10)
    averaged = average_probabilities(probabilities)
    labels = drawn(averaged, np.random.default_rng(0))
    found = compare_fitted_temperatures(apply_temperature(averaged, 0.5)[None], labels)
    assert found.scaled_average.improves_nll
    assert found.scaled_average.saved == pytest.approx(found.unscaled.quality.nll - found.scaled_average.quality.nll)
    assert found.scaled_average.saved_low < found.scaled_average.saved < found.scaled_average.saved_high
    assert (found.unscaled.saved, found.unscaled.saved_low, found.unscaled.improves_nll) == (0, 0, False)


def test_too_few_to_judge_on_are_never_said_to_be_helped() -> None:
    rows = np.tile([0.9, 0.1], (8, 1))
    found = compare_fitted_temperatures(rows[None], np.zeros(8, int))
    # Being surer saves on each, and a single mistake would cost more than all of it.
    assert found.scaled_average.saved > 0 > found.scaled_average.saved_low
    assert not found.scaled_average.improves_nll


def test_fitted_on_one_set_and_judged_on_all_of_another() -> None:
    probabilities, labels = labelled(3, 120, 10)
    others, theirs = labelled(3, 80, 10, seed=5)
    found = compare_fitted_temperatures(probabilities, labels, (others, theirs))
    after = fit_temperature(average_probabilities(others), theirs)
    assert found.scaled_average.temperature == after
    assert found.scaled_members.temperature == fit_temperature(others, theirs)
    assert (found.fitted, found.judged, found.halved) == (80, 120, False)
    expected = loss(average_probabilities(probabilities), labels, after)
    assert found.scaled_average.quality.nll == pytest.approx(expected, abs=1e-9)
    assert found.unscaled.quality.n == 120
    assert compare_fitted_temperatures(probabilities, labels).halved
    with pytest.raises(ValueError, match="at least one example"):
        compare_fitted_temperatures(probabilities, labels, (others[:, :0], theirs[:0]))


@pytest.mark.parametrize(("members", "fitted"), [(1, 1), (64, 64), (65, 33), (1024, 64)])
def test_the_temperature_before_averaging_rests_on_64_members_at_most(members: int, fitted: int) -> None:
    assert count_fitted_members(members) == fitted
    labels = np.arange(60) % 3
    every = softmax(np.random.default_rng(1).normal(0, 2, (members, 60, 3)) + 3 * np.eye(3)[labels], axis=-1)
    own = every[:: -(-members // 64)]
    assert len(own) == fitted
    scaled = compare_fitted_temperatures(every, labels, (every, labels))
    assert scaled.scaled_members.temperature == fit_temperature(own, labels)
