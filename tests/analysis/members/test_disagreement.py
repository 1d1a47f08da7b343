from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import hamming_loss

from ensemble.analysis.members.disagreement import (
    entropy,
    measure_disagreement,
    mutual_information,
    pairwise_disagreement,
)
from ensemble.analysis.quality.averaging import average_probabilities, count_votes, most_likely_classes
from tests.analysis.draws import distributions


@pytest.mark.parametrize("members", [2, 3, 8, 33])
def test_pairs_are_those_that_a_count_of_all_finds(members: int) -> None:
    voted = most_likely_classes(distributions(members, 60, 10))
    pairs = list(combinations(range(members), 2))
    counted = [np.mean([voted[a, n] != voted[b, n] for a, b in pairs]) for n in range(60)]
    np.testing.assert_allclose(pairwise_disagreement(count_votes(voted, 10)), counted, atol=1e-12)


def test_pairs_in_closed_form() -> None:
    """Of five members, one against four: 4 of 10 pairs; all apart: every pair."""
    voted = np.array([[7, 7], [7, 1], [7, 2], [1, 3], [7, 4]])
    assert pairwise_disagreement(count_votes(voted, 10)).tolist() == pytest.approx([0.4, 1.0])


def test_one_member_does_not_disagree_with_itself() -> None:
    alone = distributions(1, 20, 10)
    assert not pairwise_disagreement(count_votes(most_likely_classes(alone), 10)).any()
    np.testing.assert_allclose(mutual_information(alone, average_probabilities(alone)), 0, atol=1e-6)


@pytest.mark.parametrize("members", [2, 5])
def test_shares_on_which_members_differ_are_scikit_learns_hamming_losses(members: int) -> None:
    probabilities = distributions(members, 80, 10)
    found, voted = measure_disagreement(probabilities), probabilities.argmax(-1)
    pairs = [hamming_loss(one, other) for one, other in combinations(voted, 2)]
    said = probabilities.astype(float).mean(0).argmax(-1)
    assert found.pairwise == pytest.approx(np.mean(pairs))
    np.testing.assert_allclose(found.of_members, [hamming_loss(said, one) for one in voted])


def test_one_member_makes_no_pair_and_is_its_own_ensemble() -> None:
    found = measure_disagreement(distributions(1, 20, 10))
    assert np.isnan(found.pairwise)
    assert found.of_members.tolist() == [0.0]


def test_information_agrees_with_scipys_divergences() -> None:
    """It is the mean Kullback-Leibler divergence of the members from their average."""
    probabilities = distributions(6, 50, 10).astype(float)
    averaged = average_probabilities(probabilities)
    apart = np.mean([stats.entropy(member, averaged, axis=1) for member in probabilities], axis=0)
    np.testing.assert_allclose(mutual_information(probabilities, averaged), apart, atol=1e-6)


def test_entropy_agrees_with_scipy_and_takes_zeros() -> None:
    rows = np.vstack([distributions(1, 50, 10)[0].astype(float), np.eye(10)])
    np.testing.assert_allclose(entropy(rows), stats.entropy(rows, axis=1), atol=1e-6)
    assert entropy(np.full((1, 10), 0.1)).tolist() == pytest.approx([np.log(10)])


def test_information_of_members_that_are_sure_of_different_classes() -> None:
    sure = np.eye(4)[:, None, :]  # four members, each certain of its own class
    assert mutual_information(sure, average_probabilities(sure)).tolist() == pytest.approx([np.log(4)])


def test_members_that_say_the_same_tell_nothing() -> None:
    same = np.repeat(distributions(1, 100, 10), 5, axis=0)
    found = mutual_information(same, average_probabilities(same))
    assert (found >= 0).all()
    np.testing.assert_allclose(found, 0, atol=1e-6)
