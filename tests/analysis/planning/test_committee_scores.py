"""Committees of each size on each example: what loops over all of them find."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from ensemble.analysis.planning.committee_scores import list_committee_sizes, list_committees, score_committees
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.proper_scores import log_loss
from tests.analysis.cases import Case, cases, labelled


@pytest.mark.parametrize("case", cases().values(), ids=cases())
def test_the_scores_of_a_size_are_the_means_over_all_its_committees(case: Case) -> None:
    probabilities, labels = case
    M = len(probabilities)
    found = score_committees(probabilities, labels)
    for row, size in enumerate(range(1, M + 1)):
        chosen = list(combinations(range(M), size))
        said = [average_probabilities(probabilities[list(who)]) for who in chosen]
        right = np.array([one.argmax(axis=1) == labels for one in said])
        nll = np.array([log_loss(one, labels) for one in said])
        np.testing.assert_allclose(found.right[row], right.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(found.nll[row], nll.mean(axis=0), rtol=1e-6, atol=1e-9)
        for member in range(M):
            within = [member in who for who in chosen]
            assert found.member_right[row, member] == pytest.approx(right[within].mean())
            assert found.member_nll[row, member] == pytest.approx(nll[within].mean(), abs=1e-9)


@pytest.mark.parametrize("M", [11, 16, 24, 64])
def test_of_more_members_committees_are_drawn_with_each_member_in_as_many(M: int) -> None:
    chosen = list_committees(M)
    assert list_committees(M) == chosen == sorted(chosen)
    assert len(chosen) <= (M + 64) * len(list_committee_sizes(M))
    for size in list_committee_sizes(M):
        ours = [who for who in chosen if len(who) == size]
        held = Counter(member for who in ours for member in who)
        assert sorted(held) == list(range(M))
        assert len(set(held.values())) == 1
    assert len([who for who in chosen if len(who) == 1]) == M
    assert list_committee_sizes(M)[0] == 1
    assert list_committee_sizes(M)[-1] == M


def test_what_is_drawn_comes_near_what_all_committees_come_to() -> None:
    probabilities, labels = labelled(11, 100, 4)
    found = score_committees(probabilities, labels)
    for size in (1, 5, 10, 11):
        said = [average_probabilities(probabilities[list(who)]) for who in combinations(range(11), size)]
        nll = np.mean([log_loss(one, labels).mean() for one in said])
        near = {"abs": 0.01} if size == 5 else {"rel": 1e-6}
        assert found.nll[size - 1].mean() == pytest.approx(nll, **near)


@pytest.mark.parametrize("M", [0, 4097])
def test_more_than_4096_members_are_refused(M: int) -> None:
    with pytest.raises(ValueError, match="1 to 4096"):
        list_committees(M)


def test_shapes_that_do_not_fit_are_refused() -> None:
    probabilities, labels = labelled(3, 20, 4)
    with pytest.raises(ValueError, match="20 predictions for 19"):
        score_committees(probabilities, labels[1:])
    with pytest.raises(ValueError, match="not"):
        score_committees(probabilities[0], labels)
