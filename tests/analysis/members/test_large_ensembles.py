"""Hundreds of members: blocks and sums give the same as computing everything at once."""

import numpy as np
import pytest

from ensemble.analysis import blocks
from ensemble.analysis.members.broken_members import find_double_members
from ensemble.analysis.members.committees import best_committees_by_size, committee_curve, evaluate_committees
from ensemble.analysis.members.diversity import disagreement_matrix
from ensemble.analysis.members.subsets import list_subset_masks, list_subset_sizes, membership_matrix
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.analysis.members.swing_votes import find_swing_votes
from ensemble.analysis.planning.committee_scores import list_committees, score_committees
from ensemble.analysis.positions.member_groups import measure_group_disagreement
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS, evaluate_predictions
from ensemble.analysis.quality.quality import measure_quality
from tests.analysis.draws import distributions

M, N, C = 90, 60, 4


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return np.random.default_rng(1).integers(C, size=N)


def test_only_some_sizes_of_many_members_are_drawn_each_member_as_likely() -> None:
    sizes = list_subset_sizes(1024)
    assert sizes[:6] == (1, 2, 3, 4, 5, 6)
    assert sizes[-3:] == (768, 1023, 1024)
    held = membership_matrix(list_subset_masks(1024), 1024)
    assert sorted(set(held.sum(axis=1).tolist())) == list(sizes)
    assert held[held.sum(axis=1) == 1].sum(axis=0).tolist() == [1] * 1024
    assert list_subset_sizes(64) == tuple(range(1, 65))


def test_committees_of_many_members_are_judged_as_averages_are(labels: np.ndarray) -> None:
    probabilities = distributions(M, N, C)
    judged = evaluate_committees(probabilities, labels)
    held = membership_matrix(judged.masks, M)
    for row in range(0, len(held), 7):
        averaged = probabilities[held[row]].astype(np.float64).mean(axis=0)
        quality = measure_quality(averaged, labels)
        assert judged.accuracy[row] == quality.accuracy
        assert judged.nll[row] == pytest.approx(quality.nll, abs=1e-12)
        assert judged.brier[row] == pytest.approx(quality.brier, abs=1e-12)
        assert judged.ece[row] == pytest.approx(quality.ece, abs=1e-12)
    curve = committee_curve(judged, "nll")
    assert curve.size.tolist() == list(list_subset_sizes(M))
    best = best_committees_by_size(probabilities, labels)
    assert [len(who) for who in best] == curve.size.tolist()
    assert {verdict.size for verdict in find_sufficient_size(judged, "nll", 10.0).sizes} == set(
        curve.size[:-1].tolist()
    )


def test_groups_of_examples_count_in_committees_of_many_members(labels: np.ndarray) -> None:
    probabilities, groups = distributions(M, N, C), np.arange(N) // 3
    once = evaluate_committees(probabilities, labels, groups=groups)
    apart = evaluate_committees(probabilities, labels, groups=np.arange(N))
    np.testing.assert_allclose(once.brier, apart.brier, atol=1e-12)
    assert (once.groups, apart.groups) == (N // 3, N)


def test_plans_of_many_members_have_every_member_in_a_committee_of_each_size(labels: np.ndarray) -> None:
    members = np.zeros((150, 200), int)
    for committee in list_committees(150):
        members[list(committee), len(committee)] += 1
    sizes = np.flatnonzero(members.sum(axis=0))
    assert (members[:, sizes] > 0).all()
    scores = score_committees(distributions(M, N, C), labels)
    assert np.isfinite(scores.member_nll).all()


def test_pairs_are_counted_as_one_after_the_other() -> None:
    votes = np.random.default_rng(2).integers(C, size=(M, N))
    np.testing.assert_array_equal(disagreement_matrix(votes), [(votes != own).mean(axis=1) for own in votes])
    parts = (tuple(range(30)), tuple(range(30, 70)), tuple(range(70, M)))
    owner = np.repeat([0, 1, 2], [30, 40, 20])
    sums, counts = np.zeros((2, N)), [0, 0]
    for first in range(M):
        for second in range(first + 1, M):
            kind = int(owner[first] != owner[second])
            sums[kind] += votes[first] != votes[second]
            counts[kind] += 1
    within, between = measure_group_disagreement(votes, parts)
    np.testing.assert_array_equal(within, sums[0] / counts[0])
    np.testing.assert_array_equal(between, sums[1] / counts[1])


@pytest.mark.parametrize("members", [2, 3, 9])
def test_swing_votes_are_those_of_the_averages_without_a_member_ties_included(members: int) -> None:
    rough = np.random.default_rng(3).integers(1, 4, size=(members, 500, 3)).astype(np.float32)
    probabilities = rough / rough.sum(axis=-1, keepdims=True)
    predictions = evaluate_predictions(probabilities, np.zeros(500, int))
    for member, swung in enumerate(find_swing_votes(predictions)):
        total = np.zeros((500, 3))
        for other in np.delete(probabilities, member, axis=0):
            total += other
        np.testing.assert_array_equal(swung, (total / (members - 1)).argmax(axis=1) != predictions.said)


def test_doubles_are_found_among_many_members() -> None:
    probabilities = distributions(M, N, C)
    probabilities[40], probabilities[80], probabilities[7] = probabilities[3], probabilities[3], probabilities[89]
    predictions = evaluate_predictions(probabilities, np.zeros(N, int))
    assert find_double_members(predictions) == ((3, 40, 80), (7, 89))


def test_examples_in_blocks_are_judged_as_all_at_once(monkeypatch: pytest.MonkeyPatch, labels: np.ndarray) -> None:
    probabilities = distributions(M, N, C)
    whole = evaluate_predictions(probabilities, labels)
    monkeypatch.setattr(blocks.iterate_blocks, "__defaults__", (3 * C,))
    parts = evaluate_predictions(probabilities, labels)
    for name in ("averaged", "votes", "tallies", "disagreement", "epistemic", "confidence"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_array_equal(whole.member_confidence, probabilities.max(axis=-1))


def test_the_members_that_stand_for_many_go_from_the_worst_to_the_best(labels: np.ndarray) -> None:
    predictions = evaluate_predictions(distributions(M, N, C), labels)
    right = (predictions.votes == labels).sum(axis=1)
    shown = predictions.spread_members
    assert len(set(shown)) == MAX_SHOWN_MEMBERS
    assert (right[list(shown)].min(), right[list(shown)].max()) == (right.min(), right.max())
    few = evaluate_predictions(distributions(5, N, C), labels)
    assert few.spread_members == (0, 1, 2, 3, 4)
