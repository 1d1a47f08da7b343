"""The smallest committee that cannot be told from the whole, against SciPy's binomial test."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from ensemble.analysis.members.committee import Committee, committee, enough
from ensemble.analysis.quality.averaging import average, votes


def test_enough_is_the_first_size_of_which_half_are_tied() -> None:
    """Members err alone and far apart: one is worse than the whole, and some size is not."""
    draws = np.random.default_rng(0)
    N, C = 3000, 4
    labels = draws.integers(0, C, N)
    sides = np.where(draws.random((7, N)) < 0.12, (labels + 1) % C, labels)
    probabilities = (np.eye(C)[sides] * 0.6 + 0.1).astype(np.float32)
    judged = committee(probabilities, labels)
    whole = votes(average(probabilities)) == labels
    shares = []
    for size in range(1, 8):
        tied = []
        for subset in combinations(range(7), size):
            right = votes(average(probabilities[list(subset)])) == labels
            won, lost = int((right & ~whole).sum()), int((whole & ~right).sum())
            tied.append(won + lost == 0 or binomtest(won, won + lost).pvalue >= 0.05)
        shares.append(np.mean(tied))
    expected = next(size for size, share in enumerate(shares, 1) if share >= 0.5)
    found = enough(judged)
    assert 1 < found.size < 7
    assert (found.size, found.share) == (expected, pytest.approx(shares[expected - 1]))


def test_half_of_a_size_is_enough_and_a_p_above_0_05_is_a_tie() -> None:
    """Five to nothing is p = 2 / 32 and six to nothing 2 / 64: one of two committees is tied."""
    none = np.zeros(3)
    judged = Committee(
        members=2, n=50, exact=True, masks=np.array([1, 2, 3], np.uint64),
        size=np.array([1, 1, 2]), accuracy=none, nll=none, brier=none, ece=none,
        won=np.zeros(3, int), lost=np.array([5, 6, 0]),
    )  # fmt: skip
    assert [binomtest(0, n).pvalue for n in (5, 6)] == pytest.approx([0.0625, 0.03125])
    assert (enough(judged).size, enough(judged).share) == (1, 0.5)
