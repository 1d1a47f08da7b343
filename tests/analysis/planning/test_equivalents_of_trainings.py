"""Deep ensemble equivalents of what was trained several times."""

from itertools import combinations

import numpy as np
import pytest

from ensemble.analysis.planning.equivalents import equivalent_of_trainings, likelihood_curve
from ensemble.analysis.quality.averaging import average_probabilities
from tests.analysis.planning.populations import learning

LABELS = np.random.default_rng(5).integers(4, size=600)


def test_ensembles_of_k_independent_members_are_worth_k() -> None:
    pool = learning(30, LABELS, 1, 3)[0]
    known = likelihood_curve(pool[:6], LABELS)
    for k in (1, 2, 3):
        each = np.stack([average_probabilities(pool[start : start + k]) for start in range(6, 30, k)][: 24 // k])
        found = equivalent_of_trainings(known, LABELS, each)
        assert found.low <= k <= found.high


def test_all_committees_of_k_of_these_members_are_worth_exactly_k() -> None:
    drawn = learning(4, LABELS, 1, 1)[0]
    known = likelihood_curve(drawn, LABELS)
    for k in (1, 2, 3):
        each = np.stack([average_probabilities(drawn[list(who)]) for who in combinations(range(4), k)])
        assert equivalent_of_trainings(known, LABELS, each).value == pytest.approx(k)


def test_one_training_is_worth_what_it_is_alone_and_more_are_known_better() -> None:
    pool = learning(16, LABELS, 1, 0)[0]
    known = likelihood_curve(pool[:6], LABELS)
    each = np.stack([average_probabilities(pool[start : start + 2]) for start in range(6, 16, 2)])
    together = equivalent_of_trainings(known, LABELS, each)
    alone = [equivalent_of_trainings(known, LABELS, one[None]) for one in each]
    assert together.high - together.low < np.median([one.high - one.low for one in alone])


def test_shapes_that_do_not_fit_are_refused() -> None:
    pool = learning(3, LABELS, 1, 0)[0]
    with pytest.raises(ValueError, match="are not predictions"):
        equivalent_of_trainings(likelihood_curve(pool, LABELS), LABELS, pool[:, :5])
