"""The surer of two is not called better for want of mistakes in the sample."""

from collections.abc import Callable

import numpy as np
import pytest

from ensemble.analysis.inference.image_groups import collapse_groups
from ensemble.analysis.inference.paired_intervals import mean_p_value
from ensemble.analysis.inference.unseen_mistakes import add_unseen_mistake, estimate_mistake_nll, saved_nll_p_value
from ensemble.analysis.members.gain import compute_gain
from tests.conftest import variant


def test_a_mistake_costs_what_second_guesses_say() -> None:
    rows = np.array([[0.9, 0.08, 0.02], [0.2, 0.2, 0.6]])
    by_hand = [0.8 * -np.log(0.08) + 0.2 * -np.log(0.02), -np.log(0.2)]
    assert estimate_mistake_nll(rows) == pytest.approx(np.mean(by_hand))
    certain = np.array([[1.0, 0.0]])
    assert estimate_mistake_nll(certain) == pytest.approx(87.3, abs=0.1)
    assert estimate_mistake_nll(np.ones((4, 1))) == estimate_mistake_nll(np.ones((0, 3))) == 0


def test_half_a_mistake_is_added_against_the_surer_one_alone() -> None:
    saved = np.array([0.1, 0.2, 0.3])
    assert add_unseen_mistake(saved, 4.0)[0].tolist() == [0.1, 0.2, 0.3, -2.0]
    assert add_unseen_mistake(-saved, -4.0)[0].tolist() == [-0.1, -0.2, -0.3, 2.0]
    for extra in (-4.0, 0.0):
        assert add_unseen_mistake(saved, extra) == (saved, None)
    values, groups = add_unseen_mistake(saved, 4.0, np.array([0, 1, 1]))
    assert groups is not None
    assert (len(values), groups.tolist()) == (4, [0, 1, 1, 2])


def test_p_of_examples_in_groups_is_that_of_the_groups() -> None:
    saved = np.random.default_rng(8).normal(0.3, 1.0, 60)
    groups = np.repeat(np.arange(20), 3)
    for extra in (0.0, 1.5):
        values, index = add_unseen_mistake(saved, extra, groups)
        assert index is not None
        p = saved_nll_p_value(saved, extra, groups)
        assert p == pytest.approx(mean_p_value(collapse_groups(values, index)))
    once = saved[:20] + 0.5 - saved[:20].mean()
    copies = np.repeat(once, 3)
    alone, grouped = saved_nll_p_value(once, 0.0), saved_nll_p_value(copies, 0.0, groups)
    assert grouped == pytest.approx(alone, rel=0.2)
    assert saved_nll_p_value(copies, 0.0) < 0.8 * alone


@pytest.mark.long_cases
@pytest.mark.parametrize("n", [50, variant(100), 500, variant(2000)])
def test_equally_good_ones_of_which_one_is_surer_are_seldom_told_apart(n: int, draws: Callable[[int], int]) -> None:
    draw = np.random.default_rng(n)

    def sample(count: int) -> tuple[np.ndarray, np.ndarray]:
        """Two classes at 97 %, and the label."""
        confidence = draw.beta(14, 0.45, count)
        return confidence, (draw.random(count) > confidence).astype(int)

    def as_rows(confidence: np.ndarray, power: float) -> np.ndarray:
        first, second = confidence**power, (1 - confidence) ** power
        return np.stack([first, second], axis=1) / (first + second)[:, None]

    def mean_saved(blunt: float, sharp: float, confidence: np.ndarray) -> float:
        rows = [as_rows(confidence, power) for power in (blunt, sharp)]
        loss = [-(np.stack([confidence, 1 - confidence], 1) * np.log(np.maximum(each, 1e-300))).sum(1) for each in rows]
        return float((loss[0] - loss[1]).mean())

    # What the blunt one has to be for both to lose as much on average.
    whole, sharp = np.random.default_rng(0).beta(14, 0.45, 100_000), 1.8
    low, high = 0.2, 1.0
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_saved(middle, sharp, whole) > 0 else (low, middle)
    wrong, plain, count = 0, 0, draws(1000)
    for _ in range(count):
        confidence, labels = sample(n)
        surer, blunter = as_rows(confidence, sharp), as_rows(confidence, low)
        gain = compute_gain(surer, blunter, labels)
        wrong += gain.nll_p < 0.05
        plain += gain.nll > 0
    assert plain > count / 3, "the surer one often looks better"
    assert wrong / count < 0.07
