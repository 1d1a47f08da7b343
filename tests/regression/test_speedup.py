"""The speed-up's figures by hand, and the break-even against a loop that counts."""

import itertools

import numpy as np
import pytest
from scipy import stats

from ensemble.regression import speedup as module
from ensemble.regression.speedup import compute_speedup, find_break_even

MOST = 200  # iterations that the loop looks at


def counted(without: list[float], with_pmap: list[float], compile_without: float, compile_with: float) -> int | None:
    """The definition: from which iteration on the sum with `pmap` is smaller, for good."""
    pace, pmap_pace = np.median(without), np.median(with_pmap)
    one, many, behind = compile_without, compile_with, -1
    for i in range(MOST + 1):
        if one <= many:
            behind = i
        one += without[i] if i < len(without) else pace
        many += with_pmap[i] if i < len(with_pmap) else pmap_pace
    return None if behind == MOST else behind + 1


# Whole and half seconds: sums of them are exact, so that a tie is a tie.
STEPS = [[1.0], [2.0, 2.0, 2.0], [3.0, 1.0, 1.0], [1.0, 1.0, 9.0], [1.0, 4.0, 2.0, 2.0], [8.0, 0.5]]
COMPILING = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (2.0, 12.5), (30.0, 2.0), (0.0, 400.0)]


def test_break_even_is_what_a_loop_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ITERATIONS", MOST)
    found = set()
    for without, with_pmap in itertools.product(STEPS, STEPS):
        both = min(len(without), len(with_pmap))
        for compiling in COMPILING:
            case = (without[:both], with_pmap[:both], *compiling)
            made = find_break_even(np.array(case[0]), np.array(case[1]), *compiling)
            assert made == counted(*case), case
            found.add(made)
    assert {None, 0, 1, 2} < found
    assert any(one is not None and one > 10 for one in found)


def test_the_ratios_are_of_each_iteration_and_compiling_stands_apart() -> None:
    made = compute_speedup(np.array([4.0, 6.0, 8.0, 99.0]), np.array([2.0, 2.0, 8.0]), 3.0, 9.0, 2)
    assert made.mean == pytest.approx((2 + 3 + 1) / 3)
    assert made.median == 2.0
    assert made.efficiency == 1.0
    assert made.whole == (3 + 18) / (9 + 12)
    # 3, 7, 13, 21 against 9, 11, 13, 21; after that 6 a step against 2.
    assert made.pays_after == 4


@pytest.mark.long
def test_the_interval_holds_the_true_median_as_often_as_it_says() -> None:
    draws = np.random.default_rng(3)
    for count in (6, 9, 40):
        steps = draws.exponential(size=(1_000, 2, count)) + 0.1
        made = [compute_speedup(one, many, 0, 0, 2) for one, many in steps]
        assert np.mean([one.low <= 1 <= one.high for one in made]) >= 0.93
        ratios = np.sort(steps[0, 0] / steps[0, 1])
        k = int(stats.binom.ppf(0.025, count, 0.5))  # as many may lie below it, each way
        assert (made[0].low, made[0].high) == (ratios[k - 1], ratios[-k])
    few = compute_speedup(np.ones(5), np.full(5, 0.5), 0, 0, 2)
    assert (few.low, few.high) == (0, np.inf)
