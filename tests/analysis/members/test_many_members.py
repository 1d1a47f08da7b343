"""More members than a mask of 64 bits has: a forest's trees, as they are imported."""

import numpy as np
import pytest

from ensemble.analysis.members import committee_brier
from ensemble.analysis.members.committee_brier import committee_brier_scores
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.subsets import list_subset_masks, members_of_mask, membership_matrix
from tests.analysis.draws import distributions


def test_masks_of_100_members_are_as_those_of_fewer() -> None:
    masks = list_subset_masks(100)
    held = membership_matrix(masks, 100)
    assert len(set(masks.tolist())) == len(masks)
    for row in (0, 99, 150, len(masks) - 1):
        assert members_of_mask(masks[row]) == tuple(np.flatnonzero(held[row]))
    assert held[:100].sum() == 100
    assert held[-1].all()


def test_brier_scores_of_averages_are_those_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    probabilities, labels = distributions(7, 50, 3), draw.integers(3, size=50)
    held = draw.random((20, 7)) < 0.5
    held[:, 0] = held[-1] = True
    block = draw.integers(4, size=50)
    pairs = committee_brier_scores(probabilities, labels, held, block)
    monkeypatch.setattr(committee_brier, "MAX_MEMBERS_ALL_SIZES", 2)
    averages = committee_brier_scores(probabilities, labels, held, block)
    np.testing.assert_allclose(averages.mean, pairs.mean, rtol=1e-9)
    np.testing.assert_allclose(averages.blocks, pairs.blocks, rtol=1e-9)
    np.testing.assert_allclose(averages.loss.mean, pairs.loss.mean, atol=1e-9)
    np.testing.assert_allclose(averages.loss.variance, pairs.loss.variance, atol=1e-6)


def test_group_losses_are_computed_in_blocks_within_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities, labels = distributions(3, 6, 2), np.arange(6) % 2
    sizes, find_terms = list[int](), committee_brier._brier_loss_terms

    def record_size(apart: np.ndarray, pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        sizes.append(apart.shape[1])
        return find_terms(apart, pairs)

    monkeypatch.setattr(committee_brier, "_brier_loss_terms", record_size)
    monkeypatch.setattr(committee_brier, "SUM_BLOCK_SIZE", 2 * (3 + 6) + 5)  # Three members have six pairs.
    held = np.array([[True, False, True], [True, True, True]])
    committee_brier_scores(probabilities, labels, held, np.zeros(6, int), np.arange(6))
    assert sizes == [2, 2, 2]


def test_committees_of_66_members_are_judged_as_their_averages_are() -> None:
    draw = np.random.default_rng(0)
    probabilities, labels = distributions(66, 12, 2), draw.integers(2, size=12)
    judged = evaluate_committees(probabilities, labels)
    for row in (0, 70, len(judged.masks) - 1):
        members = list(members_of_mask(judged.masks[row]))
        average = probabilities[members].mean(axis=0)
        right = (average.argmax(axis=1) == labels).mean()
        brier = ((average - np.eye(2)[labels]) ** 2).sum(axis=1).mean()
        assert judged.accuracy[row] == pytest.approx(right)
        assert judged.brier[row] == pytest.approx(brier)
