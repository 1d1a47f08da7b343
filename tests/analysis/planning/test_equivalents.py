"""Deep ensemble equivalents: k independent members are worth k."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t

from ensemble.analysis.planning.equivalents import (
    MemberEquivalent,
    calibrated_log_likelihood,
    equivalent_of_trainings,
    interpolate_size,
    likelihood_curve,
)
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.temperature_scaling import apply_temperature
from tests.analysis.planning.populations import learning

LABELS = np.random.default_rng(5).integers(4, size=800)


def members(M: int, seed: int = 0) -> np.ndarray:
    return learning(M, LABELS, 1, seed)[0]


def worth_of(some: np.ndarray, candidate: np.ndarray) -> MemberEquivalent:
    return equivalent_of_trainings(likelihood_curve(some, LABELS), LABELS, candidate[None])


def test_k_independent_members_are_worth_k() -> None:
    pools = [members(22, seed) for seed in range(2)]
    known = [likelihood_curve(pool[:6], LABELS) for pool in pools]
    for k in (1, 2, 3, 4):
        found = [
            equivalent_of_trainings(one, LABELS, average_probabilities(pool[start : start + k])[None])
            for one, pool in zip(known, pools, strict=True)
            for start in (6, 10, 14, 18)
        ]
        assert np.median([min(max(one.value, 1), 6) for one in found]) == pytest.approx(k, abs=0.6)
        assert np.mean([one.low <= k <= one.high for one in found]) >= 0.85


def test_all_committees_of_a_size_together_are_worth_exactly_that_size() -> None:
    drawn = members(4)
    known = likelihood_curve(drawn, LABELS)
    for size in (1, 2, 3, 4):
        each = [
            calibrated_log_likelihood(average_probabilities(drawn[list(who)]), LABELS).mean()
            for who in combinations(range(4), size)
        ]
        assert interpolate_size(known.sizes, known.mean, float(np.mean(each))) == pytest.approx(size)


def test_a_temperature_changes_nothing_of_what_predictions_are_worth() -> None:
    drawn = members(6)
    candidate = average_probabilities(drawn[4:])
    as_it_is = worth_of(drawn[:4], candidate)
    bolder = worth_of(drawn[:4], apply_temperature(candidate, 0.5))
    assert bolder.value == pytest.approx(as_it_is.value, rel=1e-3)
    assert 1 < as_it_is.value < 4


def test_what_is_beyond_all_members_or_below_one_is_said_to_be() -> None:
    drawn = members(20)
    better = worth_of(drawn[:2], average_probabilities(drawn[2:]))
    assert math.isinf(better.value)
    assert math.isinf(better.high)
    assert better.members == 2
    worse = worth_of(drawn[:2], np.full((len(LABELS), 4), 0.25))
    assert (worse.value, worse.low, worse.high) == (0, 0, 0)


def test_between_sizes_it_is_a_straight_line_and_the_first_crossing_counts() -> None:
    sizes, mean = np.array([1, 2, 4]), np.array([-3.0, -2.0, -1.0])
    assert interpolate_size(sizes, mean, -3.0) == 1
    assert interpolate_size(sizes, mean, -2.5) == 1.5
    assert interpolate_size(sizes, mean, -1.5) == 3
    assert interpolate_size(sizes, mean, -1.0) == 4
    assert interpolate_size(sizes, mean, -0.9) == math.inf
    assert interpolate_size(sizes, mean, -3.1) == 0
    assert interpolate_size(np.array([1, 2, 3]), np.array([-3.0, -1.0, -2.0]), -1.5) == 1.75
    assert interpolate_size(np.array([1]), np.array([-3.0]), -3.0) == 1


def test_the_log_likelihood_is_at_a_temperature_that_the_other_half_gave() -> None:
    logits = np.random.default_rng(0).normal(size=(4_000, 3)) * 2
    powers = np.exp(logits)
    true = powers / powers.sum(axis=1, keepdims=True)
    draws = np.random.default_rng(1)
    labels = np.array([draws.choice(3, p=one) for one in true])
    bold = apply_temperature(true, 0.4)
    wanted = np.log(true[np.arange(4_000), labels]).mean()
    assert calibrated_log_likelihood(bold, labels).mean() == pytest.approx(wanted, abs=0.003)
    assert np.log(bold[np.arange(4_000), labels]).mean() < wanted - 0.1


def test_shapes_that_do_not_fit_are_refused() -> None:
    drawn = members(2)
    with pytest.raises(ValueError, match="same examples"):
        worth_of(drawn, drawn[0][1:])
    with pytest.raises(ValueError, match="not"):
        worth_of(drawn[0], drawn[0])


def test_a_members_spread_is_a_line_over_1_by_size_between_one_member_and_all_but_one() -> None:
    known = likelihood_curve(members(4), LABELS)
    by_size = {
        size: np.std(
            [
                value
                for who, value in zip(known.committees, known.committee_likelihoods, strict=True)
                if len(who) == size
            ],
            ddof=1,
        )
        for size in (1, 3)
    }
    first, last = by_size[1], 3 * by_size[3]
    assert [known.member_spread(1), known.member_spread(3)] == pytest.approx([first, last])
    assert known.member_spread(2) == pytest.approx(last + (1 / 2 - 1 / 3) / (1 - 1 / 3) * (first - last))


def test_the_draw_of_two_members_is_known_with_one_degree_of_freedom() -> None:
    """The curve is the same for all examples, and so is a guess at random: nothing but members is drawn."""
    constant = np.full(len(LABELS), -math.log(4))
    known = replace(
        likelihood_curve(members(2), LABELS),
        likelihood=np.stack([constant - 0.5, constant + 0.5]),
        committees=((0,), (1,), (0, 1)),
        committee_likelihoods=np.array([-0.005, 0.005, 0.0]),
    )
    found = equivalent_of_trainings(known, LABELS, np.full((1, len(LABELS), 4), 0.25))
    spread = np.std([-0.005, 0.005], ddof=1)
    tails = []
    for end in (found.low, found.high):
        # At a draw of t the curve falls by it: −0.5 + (size − 1) = t · ((2 − size) · apart₁ + (size − 1) · apart₂).
        apart = spread * ((2 - end) * math.sqrt(3 / 2) + (end - 1) * 1)
        tails.append(t.cdf((end - 1.5) / apart, 1))
    assert tails == pytest.approx([0.025, 0.975], abs=0.02)
