from collections import Counter

import numpy as np
import pytest
from scipy import stats

from ensemble.analysis.members.uncertainty import measure_uncertainty
from ensemble.analysis.predictions import evaluate_predictions
from tests.analysis.cases import Case, cases
from tests.analysis.draws import distributions

CASES = cases()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entropies_agree_with_scipy(case: Case) -> None:
    members = case[0].astype(float)
    found = measure_uncertainty(evaluate_predictions(*case))
    total = stats.entropy(members.mean(axis=0), axis=1)
    own = stats.entropy(members, axis=2).mean(axis=0)
    # SciPy makes rows sum to 1 first; stored ones do to float32's precision.
    np.testing.assert_allclose(found.predictive, total, atol=2e-6)
    np.testing.assert_allclose(found.expected, own, atol=2e-6)
    np.testing.assert_allclose(found.information, total - own, atol=2e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_information_is_the_mean_divergence_from_the_average(case: Case) -> None:
    members = case[0].astype(float)
    averaged = members.mean(axis=0)
    apart = np.mean([stats.entropy(member, averaged, axis=1) for member in members], axis=0)
    made = evaluate_predictions(*case)
    np.testing.assert_allclose(measure_uncertainty(made).information, apart, atol=2e-6)
    np.testing.assert_allclose(measure_uncertainty(made).information, made.information, atol=2e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_parts_are_the_whole_and_keep_to_their_ranges(case: Case) -> None:
    made = evaluate_predictions(*case)
    found = measure_uncertainty(made)
    np.testing.assert_allclose(found.expected + found.information, found.predictive, atol=1e-12)
    assert (found.information >= 0).all()
    most = np.log(min(made.members, made.averaged.shape[1]))
    assert (found.information <= most + 1e-6).all()
    assert (found.predictive <= np.log(made.averaged.shape[1]) + 1e-6).all()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_votes_are_what_a_count_finds(case: Case) -> None:
    made = evaluate_predictions(*case)
    found = measure_uncertainty(made)
    for n, column in enumerate(made.votes.T.tolist()):
        counts = [count for _, count in Counter(column).most_common(2)] + [0]
        assert found.variation_ratio[n] == pytest.approx(1 - counts[0] / made.members)
        assert found.vote_margin[n] == pytest.approx((counts[0] - counts[1]) / made.members)


def test_in_closed_form() -> None:
    """Four members sure of different classes differ in all; four that say nothing, in nothing."""
    sure, even = np.eye(4), np.full((4, 4), 0.25)
    made = evaluate_predictions(np.stack([sure, even], axis=1).astype(np.float32), np.array([0, 0]))
    found = measure_uncertainty(made)
    assert found.predictive.tolist() == pytest.approx([np.log(4)] * 2)
    assert found.expected.tolist() == pytest.approx([0, np.log(4)])
    assert found.information.tolist() == pytest.approx([np.log(4), 0])
    assert found.variation_ratio.tolist() == [0.75, 0]
    assert found.vote_margin.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["one member", "unanimous"])
def test_one_opinion_has_nothing_to_differ_in(name: str) -> None:
    found = measure_uncertainty(evaluate_predictions(*CASES[name]))
    np.testing.assert_allclose(found.information, 0, atol=1e-12)
    assert not found.variation_ratio.any()
    assert (found.vote_margin == 1).all()


def test_rounding_takes_no_information_below_nothing() -> None:
    alone = distributions(1, 2_000, 10)
    made = evaluate_predictions(np.repeat(alone, 7, axis=0), np.zeros(2_000, int))
    found = measure_uncertainty(made)
    assert (found.predictive < found.expected).any()
    assert (found.information >= 0).all()


def test_one_class_leaves_no_doubt() -> None:
    found = measure_uncertainty(evaluate_predictions(np.ones((3, 2, 1), np.float32), np.zeros(2, int)))
    assert found.vote_margin.tolist() == [1, 1]
    assert found.predictive.tolist() == [0, 0]
