"""What each member is worth: all of them against all without it."""

import numpy as np
import pytest

from ensemble.analysis.members.committees import evaluate_committees, member_contributions
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from tests.analysis.draws import distributions
from tests.analysis.members.test_committees import labels_for


@pytest.mark.parametrize("members", [2, 6, 13])
def test_worth_is_all_against_all_without_it(members: int) -> None:
    probabilities = distributions(members, 150, 10)
    labels = labels_for(probabilities)
    found = member_contributions(evaluate_committees(probabilities, labels))
    whole = average_probabilities(probabilities)
    for member in range(members):
        rest = average_probabilities(np.delete(probabilities, member, axis=0))
        hits = [(most_likely_classes(said) == labels).mean() for said in (whole, rest)]
        nll = [-np.log(said[np.arange(150), labels]).mean() for said in (whole, rest)]
        brier = [((said - np.eye(10)[labels]) ** 2).sum(axis=1).mean() for said in (whole, rest)]
        assert found.accuracy[member] == pytest.approx(hits[0] - hits[1], abs=1e-15)
        assert found.nll[member] == pytest.approx(nll[1] - nll[0], abs=1e-12)
        assert found.brier[member] == pytest.approx(brier[1] - brier[0], abs=1e-12)


def test_a_member_that_knows_is_worth_more_than_one_that_guesses() -> None:
    labels = np.arange(10).repeat(20)
    knows = np.eye(10)[labels] * 0.9 + 0.01
    guesses = np.full((200, 10), 0.1)
    found = member_contributions(evaluate_committees(np.stack([knows, guesses]), labels))
    assert found.nll[0] > 0 > found.nll[1]
    assert found.accuracy.tolist() == pytest.approx([0.9, 0.0])
