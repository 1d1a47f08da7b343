"""The best value of a setting: against SciPy's paired t-test, and against chance."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from ensemble.analysis.best_value import estimate_best_value
from ensemble.analysis.inference.crossed_means import RunVariance, estimate_crossed_mean
from ensemble.analysis.inference.paired_intervals import mean_p_value


def losses(means: list[float], n: int = 2000, seed: int = 0) -> np.ndarray:
    """(M, N), of images that are as hard for one member as for another, and a little noise."""
    draw = np.random.default_rng(seed)
    hard = draw.exponential(0.3, n)
    return np.array([hard + mean + draw.normal(0, 0.05, n) for mean in means])


def test_values_that_are_worse_by_more_than_noise_are_left_out() -> None:
    each = losses([0.5, 0.0005, 0.0, 0.0003, 0.4, 0.002])
    found = estimate_best_value([0.01, 0.03, 0.1, 0.3, 1.0, 3.0], each)
    assert found.equivalent_range == (0.03, 0.3)
    assert found.loss == pytest.approx(each.mean(axis=1))
    # The last is as good as the best, but what lies between is not: it is no part of the range.
    assert found.p[5] > 0.05


def test_the_p_of_two_values_is_that_of_a_paired_t_test() -> None:
    each = losses([0.0, 0.003])
    found = estimate_best_value([0.1, 0.2], each)
    assert found.best == 0
    assert found.p[1] == pytest.approx(ttest_rel(each[1], each[0]).pvalue, abs=0.01)


def test_members_of_equal_value_are_averaged() -> None:
    each = losses([0.0, 0.2, 0.1, 0.1])
    found = estimate_best_value([0.2, 0.1, 0.2, 0.1], each)
    assert found.values.tolist() == [0.1, 0.2]
    assert found.members.tolist() == [2, 2]
    assert found.loss == pytest.approx([each[[1, 3]].mean(), each[[0, 2]].mean()])


def test_values_that_are_all_as_good_are_seldom_told_apart() -> None:
    wrong = 0
    for seed in range(40):
        found = estimate_best_value(range(8), losses([0.0] * 8, n=400, seed=seed))
        wrong += bool((found.p < 0.05).any())
    # 5 % at most are promised: of 40 draws more than 5 would be seen once in fifty times.
    assert wrong <= 5


def trainings(
    draw: np.random.Generator, values: int, members: int, better: float = 0.0, apart: float = 1.0
) -> np.ndarray:
    """(values · members, N): trainings that differ by their seeds, the last value's most."""
    spread = np.repeat(0.003 * np.linspace(1, apart, values), members)
    own = draw.normal(0, spread)
    own[:members] -= better
    hard = draw.exponential(0.3, 1000)
    return hard + own[:, None] + draw.normal(0, 0.05, (len(own), 1000))


@pytest.mark.long_cases
@pytest.mark.parametrize(("values", "members", "apart"), [(2, 3, 1), (4, 2, 4), (8, 3, 1)])
def test_seeds_are_seldom_taken_for_values_and_values_are_found(values: int, members: int, apart: float) -> None:
    """By the images alone, seeds would be told apart in nearly every draw."""
    tried = np.repeat(np.arange(values), members)
    wrong = found = by_images = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        equal = trainings(draw, values, members, apart=apart)
        judged = estimate_best_value(tried, equal)
        assert judged.over == "seeds and images"
        wrong += bool((judged.p < 0.05).any())
        alone = estimate_best_value(range(values), equal[::members])
        assert alone.over == "images"
        by_images += bool((alone.p < 0.05).any())
        better = estimate_best_value(tried, trainings(draw, values, members, better=0.04))
        found += better.best == 0 and bool((better.p < 0.05).any())
    assert wrong <= 7  # 5 % of 60 are 3; of more than 7 the chance is 1 in 100
    assert found >= 50
    assert by_images >= 25


def test_p_is_multiplied_by_the_number_of_all_pairs_of_values() -> None:
    """Of five values there are ten pairs: any two might have been compared (Bonferroni)."""
    each = losses([0.0, 0.005, 0.009, 0.013, 0.017], n=300)
    found = estimate_best_value(range(5), each)
    assert (found.best, found.pair_count) == (0, 10)
    expected = [min(1.0, 10 * mean_p_value(one - each[0])) for one in each]
    assert found.p == pytest.approx(expected)
    assert 0 < min(expected) < 0.05 < expected[1]


def test_trainings_are_compared_by_their_pooled_variance_or_their_own_where_it_is_larger() -> None:
    """Two, three and four trainings; those of the second value differ the most."""
    count, spread = np.array([2, 3, 4]), [0.004, 0.02, 0.002]
    draw, place = np.random.default_rng(5), np.repeat(range(3), [2, 3, 4])
    own = np.concatenate([spread[at] * np.linspace(-1, 1, size) for at, size in enumerate(count)])
    each = draw.exponential(0.3, 300) + (0.02 * place + own)[:, None] + draw.normal(0, 0.02, (9, 300))
    found = estimate_best_value(place, each)
    means = np.array([each[place == at].mean(axis=0) for at in range(3)])
    variances = np.array([each[place == at].mean(axis=1).var(ddof=1) for at in range(3)])
    pooled = ((count - 1) * variances).sum() / 6
    assert found.best == 0
    assert variances[1] > pooled > variances[0]
    for other in (1, 2):
        apart = means[other] - means[0]
        by_runs = max(pooled, variances[other]) / count[other] + pooled / 2
        bound = float(np.abs(apart - apart.mean()).max())
        expected = estimate_crossed_mean(apart, bound=bound, run_variances=[RunVariance(by_runs, 6)]).p
        assert found.p[other] == pytest.approx(min(1.0, 3 * expected))
        assert 1e-9 < expected < 0.3


def test_copies_of_images_leave_p_as_it_is() -> None:
    each = losses([0.0, 0.02], n=60)
    once = estimate_best_value([0.1, 0.2], each)
    groups = np.arange(60).repeat(5)
    five = estimate_best_value([0.1, 0.2], each.repeat(5, axis=1), groups)
    assert five.p == pytest.approx(once.p, rel=0.1)
    assert estimate_best_value([0.1, 0.2], each.repeat(5, axis=1)).p[1] < once.p[1] / 2


def test_one_value_is_best_of_itself() -> None:
    found = estimate_best_value([0.1], losses([0.0]))
    assert (found.best, found.first, found.last, found.pair_count) == (0, 0, 0, 0)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (3,), (2, 5)])
def test_losses_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="are not"):
        estimate_best_value([0.1, 0.2, 0.3], np.zeros(shape))
