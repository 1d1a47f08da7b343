import numpy as np
import pytest

from ensemble.analysis.members.swing_votes import find_correct_minorities, find_swing_votes
from ensemble.analysis.predictions import evaluate_predictions
from tests.analysis.draws import distributions


@pytest.mark.parametrize("members", [1, 2, 5])
def test_a_verdict_hangs_on_whoever_changes_it_by_leaving(members: int) -> None:
    labels = np.random.default_rng(0).integers(4, size=200)
    made = evaluate_predictions(distributions(members, 200, 4, seed=members), labels)
    for m in range(members):
        for n in range(200):
            others = [made.probabilities[k, n].astype(float) for k in range(members) if k != m]
            now = int(sum(others).argmax()) if others else made.said[n]
            assert find_swing_votes(made)[m, n] == (now != made.said[n])
    assert find_swing_votes(made).any() == (members > 1)


def test_a_minority_was_right_where_all_together_were_not() -> None:
    labels = np.random.default_rng(1).integers(4, size=300)
    made = evaluate_predictions(distributions(3, 300, 4), labels)
    by_hand = [
        n
        for n in range(300)
        if made.averaged[n].argmax() != labels[n]
        and any(member[n].argmax() == labels[n] for member in made.probabilities)
    ]
    assert find_correct_minorities(made).tolist() == by_hand
    assert 0 < len(by_hand) < 300


def test_unanimous_members_leave_nothing_to_one() -> None:
    one = distributions(1, 50, 4)
    made = evaluate_predictions(one.repeat(4, axis=0), np.zeros(50, int))
    assert not find_swing_votes(made).any()
    assert not len(find_correct_minorities(made))
