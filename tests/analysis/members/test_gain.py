"""Gains against SciPy's binomial test, loops over the examples, and draws without a gain."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from ensemble.analysis.inference.paired_intervals import difference_interval, mean_interval
from ensemble.analysis.members.gain import (
    compute_gain,
    find_best_member,
    gain_over_mean_member,
    mcnemar_p_value,
    mean_p_value,
    paired_gain,
)
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from tests.analysis.cases import Case, cases, labelled

CASES = cases()


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (0, 1), (5, 5), (6, 5), (31, 12), (0, 40), (700, 600)])
def test_mcnemar_is_the_exact_binomial_test(won: int, lost: int) -> None:
    expected = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert mcnemar_p_value(won, lost) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_p_value(lost, won) == mcnemar_p_value(won, lost)


def test_mcnemar_takes_many_at_once() -> None:
    won, lost = np.meshgrid(np.arange(25), np.arange(25))
    found = mcnemar_p_value(won, lost)
    assert found.shape == (25, 25)
    for w, b, p in zip(won.ravel(), lost.ravel(), found.ravel(), strict=True):
        expected = stats.binomtest(int(w), int(w + b)).pvalue if w + b else 1.0
        assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gain_is_what_a_loop_counts(case: Case) -> None:
    made = evaluate_predictions(*case)
    theirs = made.probabilities[-1]
    found = compute_gain(made.averaged, theirs, made.labels)
    won = lost = 0
    saved = 0.0
    for ours, other, label in zip(made.averaged, theirs, made.labels, strict=True):
        won += bool(ours.argmax() == label != other.argmax())
        lost += bool(other.argmax() == label != ours.argmax())
        least = 2.0**-126
        saved += float(np.log(max(ours[label], least)) - np.log(max(float(other[label]), least)))
    assert (found.won, found.lost, found.digits, found.n) == (won, lost, won - lost, len(case[1]))
    assert found.nll == pytest.approx(saved / found.n, abs=1e-9)
    assert found.p == mcnemar_p_value(won, lost)
    assert found.digits_low <= found.digits <= found.digits_high
    assert found.nll_low - 1e-12 <= found.nll <= found.nll_high + 1e-12


def test_the_interval_leaves_0_out_only_where_mcnemars_exact_p_is_small() -> None:
    """5 won and none lost: p = 0.06, which a score interval alone would call significant."""
    for won, lost, n in product((0, 1, 4, 5, 6, 8), (0, 1, 2, 6), (20, 500)):
        hits, others = np.zeros((2, n), bool)
        hits[:won], others[won : won + lost] = True, True
        found = paired_gain(hits, others, np.zeros(n))
        p = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert found.p == pytest.approx(p)
        assert (found.accuracy_sign != 0) == (p < 0.05)
        low, high = difference_interval(won, lost, n)
        assert found.digits_low <= n * low
        assert found.digits_high >= n * high
        assert found.digits_low <= won - lost <= found.digits_high


@pytest.mark.parametrize("shift", [-0.05, 0.02, 0.1])
def test_the_p_of_a_mean_is_where_its_interval_touches_0(shift: float) -> None:
    values = np.random.default_rng(1).gamma(0.5, size=300) - 0.5 + shift
    p = mean_p_value(values)
    low, high = mean_interval(values, 1 - p)
    assert min(abs(low), abs(high)) < 1e-9
    assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.06)


def test_there_is_no_p_where_nothing_differs() -> None:
    assert mean_p_value(np.zeros(9)) == 1
    with pytest.raises(ValueError, match="at least one"):
        mean_p_value(np.zeros(0))


def test_the_other_way_round_is_a_loss_by_as_much() -> None:
    made = evaluate_predictions(*labelled(2, 400, 10))
    first, second = made.probabilities
    there, back = compute_gain(first, second, made.labels), compute_gain(second, first, made.labels)
    assert (there.won, there.lost, there.p) == (back.lost, back.won, back.p)
    assert there.digits == -back.digits
    assert there.nll == pytest.approx(-back.nll)
    assert there.nll_low == pytest.approx(-back.nll_high)
    assert there.digits_low == pytest.approx(-back.digits_high)


def test_nothing_is_gained_over_oneself_nor_by_members_that_say_the_same() -> None:
    probabilities, labels = CASES["one member"]
    found = compute_gain(probabilities[0], probabilities[0], labels)
    assert (found.won, found.lost, found.digits, found.p, found.nll_p) == (0, 0, 0, 1, 1)
    assert (found.nll, found.nll_low, found.nll_high) == (0, 0, 0)
    for name in ("one member", "unanimous"):
        mean = gain_over_mean_member(evaluate_predictions(*CASES[name]))
        assert (mean.won, mean.lost, mean.digits, mean.accuracy_sign) == (0, 0, 0, 0)
        assert (mean.nll, mean.nll_low, mean.nll_high, mean.nll_sign) == (0, 0, 0, 0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gain_over_the_mean_is_the_mean_of_gains(case: Case) -> None:
    made = evaluate_predictions(*case)
    each = [compute_gain(made.averaged, member, made.labels) for member in made.probabilities]
    found = gain_over_mean_member(made)
    assert found.n == len(made.labels)
    assert found.digits == pytest.approx(np.mean([one.digits for one in each]), abs=1e-9)
    assert found.nll == pytest.approx(np.mean([one.nll for one in each]), abs=1e-9)
    assert found.nll >= -1e-12
    assert found.won == pytest.approx(np.mean([one.won for one in each]))
    assert found.lost == pytest.approx(np.mean([one.lost for one in each]))
    apart = made.right - (made.votes == made.labels).mean(axis=0)
    ends = found.n * np.array(mean_interval(apart, bound=1.0))
    assert [found.digits_low, found.digits_high] == pytest.approx(ends.tolist())


def tossed(draws: np.random.Generator, n: int, share: float) -> EnsemblePredictions:
    """Two members; where they differ, a coin says which is right and surer: nothing is gained."""
    split, first = draws.random(n) < share, draws.random(n) < 0.5
    members = np.tile(np.float32([0.9, 0.1]), (2, n, 1))
    members[0, split] = np.where(first[split, None], [0.95, 0.05], [0.6, 0.4])
    members[1, split] = np.where(first[split, None], [0.4, 0.6], [0.05, 0.95])
    return evaluate_predictions(members, np.zeros(n, int))


def flipped(draws: np.random.Generator, n: int, share: float) -> EnsemblePredictions:
    """As `tossed`, but the surer of the two is wrong as often as it is right."""
    made = tossed(draws, n, share)
    wrong = made.split & (draws.random(n) < 0.5)
    turned = np.where(wrong[:, None], made.probabilities[..., ::-1], made.probabilities)
    return evaluate_predictions(turned, made.labels)


@pytest.mark.parametrize("share", [0.006, 0.03])
def test_where_nothing_is_gained_a_gain_is_shown_in_no_more_than_5_of_100_draws(share: float) -> None:
    draws = np.random.default_rng(3)
    found = [gain_over_mean_member(flipped(draws, 500, share)) for _ in range(225)]
    assert np.mean([one.accuracy_sign != 0 for one in found]) <= 0.05
    error = np.std([one.digits for one in found]) / 15
    assert abs(np.mean([one.digits for one in found])) < 3 * error


def test_the_best_member_is_the_first_with_the_most_right() -> None:
    hits = np.array([7, 9, 2, 9])
    said = np.array([[0] * count + [1] * (10 - count) for count in hits])
    made = evaluate_predictions(np.eye(2, dtype=np.float32)[said], np.zeros(10, int))
    assert find_best_member(made) == (1, 9)


def test_no_example_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        compute_gain(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, int))


def test_predictions_that_differ_by_float32s_rounding_alone_are_not_told_apart() -> None:
    draws = np.random.default_rng(2)
    labels = draws.integers(10, size=4_000)
    logits = draws.normal(0, 1.5, (4_000, 10))
    logits[np.arange(4_000), labels] += draws.normal(8, 3.5, 4_000)
    exact = softmax(logits, axis=1)
    rounded = softmax(logits.astype(np.float32), axis=1).astype(np.float32)
    assert (exact.astype(np.float32) != rounded).any()
    found = compute_gain(rounded, exact.astype(np.float32), labels)
    assert found.nll_p == 1
    assert found.nll_sign == 0
    # A difference that is there is still found: a thousandth sharper.
    sharper = compute_gain(softmax(1.02 * logits, axis=1), exact, labels)
    assert sharper.nll_p < 0.05
