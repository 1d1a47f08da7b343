from itertools import chain, combinations

import numpy as np
import pytest
from scipy import optimize, stats

from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.inference.paired_intervals import difference_interval, mean_interval, mean_p_value
from tests.conftest import variant

Z = 1.959963984540054


def likeliest_lost(won: int, lost: int, n: int, difference: float) -> float:
    """By a search: the share of lost examples that fits best where won − lost is given."""

    def against(share: float) -> float:
        cells = np.array([share + difference, share, 1 - 2 * share - difference])
        counts = np.array([won, lost, n - won - lost])
        return -float(counts[counts > 0] @ np.log(np.maximum(cells[counts > 0], 1e-300)))

    bounds = (max(0.0, -difference), (1 - difference) / 2)
    return float(optimize.minimize_scalar(against, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x)


@pytest.mark.parametrize(("won", "lost", "n"), [(0, 0, 500), (3, 1, 500), (1, 0, 44), (40, 9, 360), (7, 90, 10_000)])
def test_an_end_is_as_far_out_as_the_constrained_score_test_and_the_pseudo_examples_put_it(
    won: int, lost: int, n: int
) -> None:
    def score(end: float) -> float:
        share = likeliest_lost(won, lost, n, end)
        return (won - lost - n * end) / np.sqrt(n * (2 * share + end * (1 - end)))

    mean = (won - lost) / n
    half = Z * np.sqrt(((won + lost + 2) / n - mean**2) / n)
    tango = [
        optimize.brentq(lambda end: score(end) - Z, -0.9, mean - 1e-9),
        optimize.brentq(lambda end: score(end) + Z, mean + 1e-9, 0.9),
    ]
    low, high = difference_interval(won, lost, n)
    assert low == pytest.approx(min(tango[0], mean - half), rel=1e-4)
    assert high == pytest.approx(max(tango[1], mean + half), rel=1e-4)


def test_where_none_differ_it_is_as_wide_as_so_few_examples_leave_open() -> None:
    low, high = difference_interval(0, 0, 500)
    assert high == pytest.approx(max(Z**2 / (500 + Z**2), Z * np.sqrt(2) / 500))
    assert low == -high


def test_it_excludes_0_only_where_mcnemars_chi_square_does() -> None:
    won, lost = np.meshgrid(np.arange(40), np.arange(40))
    low, high = difference_interval(won, lost, 1_000)
    chi_square = (won - lost) ** 2 / np.maximum(won + lost, 1)
    assert not (((low > 0) | (high < 0)) & (chi_square <= Z**2)).any()


def test_neither_end_is_wrong_more_often_than_it_promises_whatever_the_truth() -> None:
    counts, n = np.arange(140), 10_000
    won, lost = np.meshgrid(counts, counts, indexing="ij")
    low, high = difference_interval(won, lost, n)
    for more in (0, 0.3, 1, 2, 4, 8, 15, 30, 60):
        for fewer in (0, 0.3, 1, 2, 4, 8, 15, 30, 60):
            chances = stats.poisson.pmf(won, more) * stats.poisson.pmf(lost, fewer)
            truth = (more - fewer) / n
            assert chances[low > truth].sum() < 0.025
            assert chances[high < truth].sum() < 0.025


def test_arrays_of_counts_give_what_each_gives_alone() -> None:
    low, high = difference_interval(np.array([3, 0]), np.array([1, 5]), 300, level=0.9)
    alone = [difference_interval(3, 1, 300, level=0.9), difference_interval(0, 5, 300, level=0.9)]
    np.testing.assert_array_equal(np.stack([low, high], axis=1), alone)


@pytest.mark.parametrize(("won", "lost", "n"), [(1, 0, 0), (3, 3, 5), (-1, 0, 5)])
def test_counts_that_cannot_be_are_refused(won: int, lost: int, n: int) -> None:
    with pytest.raises(ValueError, match="not possible"):
        difference_interval(won, lost, n)


def test_the_interval_of_a_mean_is_students_where_values_are_many_and_even() -> None:
    values = np.random.default_rng(1).normal(3, 2, 20_000)
    theirs = stats.t.interval(0.95, 19_999, values.mean(), stats.sem(values))
    np.testing.assert_allclose(mean_interval(values), theirs, atol=2e-4)


def test_two_pseudo_examples_widen_it_as_bonett_and_price_do() -> None:
    won, lost, n = 4, 1, 500
    values = np.repeat([1.0, -1.0, 0.0], [won, lost, n - won - lost])
    low, high = mean_interval(values, bound=1.0)
    p12, p21 = (won + 1) / (n + 2), (lost + 1) / (n + 2)
    half = Z * np.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    assert (high - low) / 2 == pytest.approx(half, rel=0.01)
    assert (high + low) / 2 == pytest.approx((won - lost) / n)


@pytest.mark.parametrize("sign", [1, variant(-1)])
def test_the_interval_of_a_mean_holds_where_a_few_large_losses_decide(sign: int) -> None:
    rng = np.random.default_rng(3)
    rare = rng.random((800, 500)) < 0.02
    draws = sign * np.where(rare, rng.exponential(1, rare.shape), rng.normal(0, 0.004, rare.shape))
    ends = np.array([mean_interval(values, 0.90) for values in draws])
    wrong = (ends[:, 0] > sign * 0.02).mean(), (ends[:, 1] < sign * 0.02).mean()
    students = np.array([stats.t.interval(0.9, 499, v.mean(), stats.sem(v)) for v in draws])
    assert max(wrong) < 0.07
    assert ((students[:, 0] > sign * 0.02) | (students[:, 1] < sign * 0.02)).mean() > 0.1


def test_equal_values_have_an_interval_of_their_own_value() -> None:
    assert mean_interval(np.full(9, 0.25)) == (0.25, 0.25)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_of_few_even_values_the_ends_are_students_with_two_pseudo_values(level: float) -> None:
    """Without skewness Hall's ends are Student's, which lie farther in."""
    values = 0.4 + np.array([-3.0, -1.0, -0.5, 0.5, 1.0, 3.0])
    error = np.sqrt((values.var() + 2 * 3.0**2 / 6) / 6)
    half = stats.t.ppf((1 + level) / 2, 5) * error
    assert mean_interval(values, level) == pytest.approx((0.4 - half, 0.4 + half))
    assert mean_p_value(values) == pytest.approx(2 * stats.t.sf(0.4 / error, 5))


def test_p_is_one_less_the_level_at_which_an_end_of_the_interval_is_0() -> None:
    values = np.random.default_rng(4).exponential(1.0, 40) - 0.8
    p = mean_p_value(values)
    assert 0.05 < p < 0.9
    assert min(map(abs, mean_interval(values, 1 - p))) == pytest.approx(0, abs=1e-6)


def test_the_interval_of_a_single_value_is_machols() -> None:
    """Blachman and Machol: x ± 9.68 |x| holds the mean of a normal distribution in 95 of 100 draws."""
    assert mean_interval(np.array([-3.0])) == pytest.approx((-3 - 9.68 * 3, -3 + 9.68 * 3), rel=1e-3)


def test_no_values_and_no_level_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mean_interval(np.empty(0))
    with pytest.raises(ValueError, match="outside 0 to 1"):
        mean_interval(np.ones(3), 1.0)


def test_holm_is_bonferroni_over_every_set_of_the_tests() -> None:
    p = np.random.default_rng(2).uniform(0, 0.3, 6)
    sets = chain.from_iterable(combinations(range(6), size) for size in range(1, 7))
    closed = np.zeros(6)
    for chosen in map(list, sets):
        closed[chosen] = np.maximum(closed[chosen], min(1.0, len(chosen) * p[chosen].min()))
    np.testing.assert_allclose(adjust_p_holm(p), closed)
    assert adjust_p_holm([]).shape == (0,)
