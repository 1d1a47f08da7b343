"""Diversity against SciPy's relative entropy, slow counts and closed forms."""

import math

import numpy as np
import pytest
from scipy.special import rel_entr

from ensemble.analysis.members.diversity import (
    disagreement_matrix,
    double_fault,
    mean_kl_divergence,
    nll_decomposition,
    oracle_accuracy,
    q_statistic,
)
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.proper_scores import log_loss
from tests.analysis.cases import Case, cases, labelled

CASES = cases()
LEAST = 2.0**-126


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pairs_are_what_slow_counts_find(case: Case) -> None:
    made = evaluate_predictions(*case)
    right = made.votes == made.labels
    disagreement, q, both = (disagreement_matrix(made.votes), q_statistic(right), double_fault(right))
    for a in range(made.members):
        for b in range(made.members):
            pairs = list(zip(right[a].tolist(), right[b].tolist(), strict=True))
            n11, n10, n01, n00 = (
                pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))
            )
            n = len(pairs)
            differ = sum(made.votes[a, k] != made.votes[b, k] for k in range(n))
            assert disagreement[a, b] == pytest.approx(differ / n)
            assert both[a, b] == pytest.approx(n00 / n)
            whole = n11 * n00 + n01 * n10
            expected = (n11 * n00 - n01 * n10) / whole if whole else math.nan
            assert q[a, b] == pytest.approx(1.0 if a == b else expected, nan_ok=True)


def test_q_at_its_ends() -> None:
    right = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]], bool)
    q = q_statistic(right)
    assert q[0, :4].tolist() == [1, 1, -1, 0]
    assert np.isnan(q[4, :4]).all()
    assert np.diag(q).tolist() == [1] * 5


@pytest.mark.parametrize("name", ["random", "two classes", "unanimous", "one example"])
def test_mean_kl_agrees_with_scipy(name: str) -> None:
    probabilities = CASES[name][0].astype(float)
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    found = mean_kl_divergence(probabilities)
    for r, row in enumerate(probabilities):
        for c, column in enumerate(probabilities):
            expected = rel_entr(row, column).sum(axis=1).mean()
            assert found[r, c] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_mean_kl_is_what_a_slow_loop_finds(case: Case) -> None:
    probabilities = case[0][:, :40]
    found = mean_kl_divergence(probabilities)
    for r, row in enumerate(probabilities.tolist()):
        for c, column in enumerate(probabilities.tolist()):
            total = sum(
                p * (math.log(max(p, LEAST)) - math.log(max(q, LEAST)))
                for ps, qs in zip(row, column, strict=True)
                for p, q in zip(ps, qs, strict=True)
            )
            assert found[r, c] == pytest.approx(max(total / len(row), 0), abs=1e-10)
    assert not np.diag(found).any()


def test_certain_members_that_contradict_each_other_are_far_apart_not_endlessly() -> None:
    found = mean_kl_divergence(np.eye(2, dtype=np.float32)[:, None, :])
    np.testing.assert_allclose(found, -math.log(LEAST) * (1 - np.eye(2)), rtol=1e-12)


def test_rows_that_are_rounded_take_no_divergence_below_nothing() -> None:
    row = np.array([0.3, 0.7])
    found = mean_kl_divergence(np.stack([row * (1 - 1e-7), row])[:, None, :])
    assert (found >= 0).all()
    np.testing.assert_allclose(found, 0, atol=2e-7)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_ensembles_loss_is_the_members_less_their_diversity(case: Case) -> None:
    probabilities, labels = case
    found = nll_decomposition(probabilities, labels)
    assert abs(found.mean_member_nll - found.diversity - found.ensemble_nll) < 1e-6
    assert found.ensemble_nll == pytest.approx(log_loss(average_probabilities(probabilities), labels).mean())
    assert found.mean_member_nll == pytest.approx(log_loss(probabilities, labels).mean())
    total = 0.0
    for n, label in enumerate(labels):
        own = [float(member[n, label]) for member in probabilities]
        middle = max(math.fsum(own) / len(own), LEAST)
        total += sum(math.log(middle / max(p, LEAST)) for p in own) / len(own)
    assert found.diversity == pytest.approx(total / len(labels), abs=1e-9)
    assert found.diversity >= -1e-12


@pytest.mark.parametrize("name", ["one member", "unanimous"])
def test_one_opinion_has_no_diversity(name: str) -> None:
    found = nll_decomposition(*CASES[name])
    assert found.diversity == pytest.approx(0, abs=1e-12)
    assert found.ensemble_nll == pytest.approx(found.mean_member_nll)
    made = evaluate_predictions(*CASES[name])
    assert not disagreement_matrix(made.votes).any()
    np.testing.assert_allclose(mean_kl_divergence(made.probabilities), 0, atol=1e-12)


def test_diversity_in_closed_form() -> None:
    """Two members that give the label 0.9 and 0.1: ln 0.5 − (ln 0.9 + ln 0.1) / 2."""
    found = nll_decomposition(np.array([[[0.9, 0.1]], [[0.1, 0.9]]]), np.array([0]))
    assert found.diversity == pytest.approx(math.log(0.5) - math.log(0.09) / 2)
    assert found.ensemble_nll == pytest.approx(math.log(2))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_oracle_is_right_where_anyone_is(case: Case) -> None:
    made = evaluate_predictions(*case)
    seen = sum(label in column for label, column in zip(made.labels.tolist(), made.votes.T.tolist(), strict=True))
    assert oracle_accuracy(made.votes, made.labels) == pytest.approx(seen / len(made.labels))


def test_the_oracle_is_at_least_as_good_as_any_member() -> None:
    probabilities, labels = labelled(6, 300, 10)
    made = evaluate_predictions(probabilities, labels)
    assert oracle_accuracy(made.votes, labels) >= (made.votes == labels).mean(axis=1).max()
