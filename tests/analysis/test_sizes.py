"""From 2 classes to 1,000: measures take little memory, and are what the plain formula gives."""

import tracemalloc

import numpy as np
import pytest

from benchmarks.screens import sizes
from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.subset_layout import arrange_probabilities
from ensemble.analysis.members.swing_votes import find_swing_votes
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality import temperature_scaling
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.conformal import fit_conformal_threshold
from ensemble.views.calibration import describe_temperature_evidence

M, N, C = 4, 3_000, 400
MEASURES = dict(sizes.measures(*sizes.drawn(M, N, C)))
SUMMED = ("mean KL", "KL to the ensemble", "temperature")  # by blocks of more than there is here
FEW = ("gain in calibration",)  # 400 resamples of N, whatever C is


@pytest.mark.parametrize("name", [one for one in MEASURES if one not in SUMMED + FEW])
def test_a_measure_takes_less_memory_than_the_predictions_are(name: str) -> None:
    tracemalloc.start()
    try:
        MEASURES[name]()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * M * N * C


def test_blocks_are_all_examples_in_order() -> None:
    assert [(one.start, one.stop) for one in iterate_blocks(7, 10, 30)] == [(0, 3), (3, 6), (6, 7)]
    assert [(one.start, one.stop) for one in iterate_blocks(2, 10, 3)] == [(0, 1), (1, 2)]
    assert list(iterate_blocks(0, 10)) == []


def test_predictions_judged_in_blocks_have_the_bits_of_the_plain_formulas() -> None:
    probabilities, labels = sizes.drawn(3, 500, 300)
    made = evaluate_predictions(probabilities, labels)
    doubles = probabilities.astype(np.float64)
    averaged = sum(doubles) / 3
    assert (made.averaged == averaged).all()
    assert (made.votes == probabilities.argmax(axis=-1)).all()
    counts = [np.bincount(one, minlength=300) for one in made.votes.T]
    assert (made.tallies == np.array(counts)).all()

    def entropy(one: np.ndarray) -> np.ndarray:
        return -(one * np.log(np.where(one > 0, one, 1))).sum(axis=-1)

    expected = sum(map(entropy, doubles)) / 3
    assert (made.epistemic == np.maximum(entropy(averaged) - expected, 0)).all()
    assert (compute_measures(made)["aleatoric"] == expected).all()
    leads = [(one[-1] - one[-2]) / 3 for one in map(np.sort, counts)]
    assert (compute_measures(made)["vote_margin"] == leads).all()
    for member in range(3):
        others = average_probabilities(np.delete(probabilities, member, axis=0)).argmax(axis=1)
        assert (find_swing_votes(made)[member] == (others != made.said)).all()


@pytest.mark.parametrize("method", ["aps", "raps"])
@pytest.mark.parametrize("error_rate", [0.5, 0.1, 0.01])
def test_sets_of_many_classes_are_those_of_a_stable_sort(method: str, error_rate: float) -> None:
    """Probabilities in steps of 1 / 64, so that most classes are as likely as another."""
    draws = np.random.default_rng(5)
    averaged = draws.multinomial(64, draws.dirichlet(np.full(200, 0.2), 900)) / 64
    labels = np.array([draws.choice(200, p=row) for row in averaged])
    made = fit_conformal_threshold(averaged[:450], labels[:450], error_rate, method)
    scores = []
    for row, label in zip(averaged[:450], labels[:450], strict=True):
        order = np.argsort(-row, kind="stable").tolist()
        place = order.index(label)
        scores.append(row[order[:place]].sum() + made.penalty_at(place + 1))
    rank = int(np.ceil(451 * (1 - error_rate) - 1e-9))
    assert made.threshold == np.sort(scores)[rank - 1]
    for row, found in zip(averaged[450:], made.build_sets(averaged[450:]), strict=True):
        order = np.argsort(-row, kind="stable")
        ahead = np.concatenate([[0], np.cumsum(row[order])[:-1]])
        kept = max(1, (ahead + made.penalty_at(np.arange(200) + 1) <= made.threshold).sum())
        assert sorted(order[:kept]) == np.flatnonzero(found).tolist()


def test_of_many_classes_only_those_that_a_committee_may_say_are_followed() -> None:
    probabilities, labels = sizes.drawn(4, 300, 500)
    arranged = arrange_probabilities(probabilities, labels)
    assert 0 < len(arranged.below) < 0.2 * arranged.contested * 499
    judged = evaluate_committees(probabilities, labels)
    for mask, share in zip(judged.masks.tolist(), judged.accuracy, strict=True):
        said = average_probabilities(probabilities[[m for m in range(4) if mask >> m & 1]]).argmax(axis=1)
        assert share == (said == labels).mean()


def test_a_temperature_says_on_how_many_of_many_it_was_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities, labels = sizes.drawn(3, 4_000, 10)
    whole = temperature_scaling.compare_fitted_temperatures(probabilities, labels)
    assert (whole.fitted, whole.offered) == (2_000, 2_000)
    assert "one half of the test images (2,000)" in describe_temperature_evidence(whole, "image")
    monkeypatch.setattr(temperature_scaling, "MAX_FITTED_PROBABILITIES", 40_000)  # of 60,000
    some = temperature_scaling.compare_fitted_temperatures(probabilities, labels)
    assert (some.fitted, some.offered, some.judged) == (1_333, 2_000, 2_000)
    assert "Fitted on 1,333 of one half of the test images (2,000)" in describe_temperature_evidence(some, "image")
    assert some.scaled_average.temperature == pytest.approx(whole.scaled_average.temperature, rel=0.05)
    given = temperature_scaling.compare_fitted_temperatures(probabilities, labels, (probabilities, labels))
    assert "1,333 of the 4,000 validation images" in describe_temperature_evidence(given, "image")
