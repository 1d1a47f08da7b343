"""Greedy selection: at each step the member with which the averaged probabilities are best."""

import numpy as np
import pytest

from ensemble.analysis.quality.proper_scores import label_probability
from ensemble.sweeps.selection import select_members_greedily


@pytest.mark.parametrize("again", [False, True])
def test_each_member_is_the_one_that_lowers_the_ensembles_nll_most(again: bool) -> None:
    draws = np.random.default_rng(0)
    labels = draws.integers(0, 4, 60)
    probabilities = draws.dirichlet(np.ones(4), (7, 60))
    chosen: list[int] = []
    for _ in range(5):
        losses = {
            one: -np.log(probabilities[[*chosen, one]].mean(0)[np.arange(60), labels]).mean()
            for one in range(7)
            if again or one not in chosen
        }
        chosen.append(min(losses, key=losses.__getitem__))
    assert list(select_members_greedily(label_probability(probabilities, labels), 5, again)) == chosen


def test_with_replacement_the_best_may_be_chosen_again_and_again() -> None:
    known = np.array([[0.9, 0.9], [0.1, 0.1]])
    assert select_members_greedily(known, 3, again=True) == (0, 0, 0)
    assert select_members_greedily(known, 2) == (0, 1)


@pytest.mark.parametrize(("size", "examples"), [(0, 5), (3, 5), (1, 0)])
def test_more_than_there_are_cannot_be_chosen(size: int, examples: int) -> None:
    with pytest.raises(ValueError, match="of 2 candidates"):
        select_members_greedily(np.ones((2, examples)), size)
