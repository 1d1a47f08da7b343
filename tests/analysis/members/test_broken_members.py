"""Members that guess, that are doubles, and that the ensemble is better without."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from ensemble.analysis.members.broken_members import (
    find_double_members,
    find_guessing_members,
    find_member_faults,
    judge_member_removal,
)
from ensemble.analysis.members.gain import compute_gain
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.halves import split_halves

N, C = 500, 10


def members(M: int, seed: int = 0, n: int = N, own: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Equally good members that share what is in the images: (M, n, C), and the labels."""
    draws = np.random.default_rng(seed)
    labels = draws.integers(C, size=n)
    shared = draws.normal(0, 1, (n, C))
    shared[np.arange(n), labels] += draws.normal(8, 3.5, n)
    probabilities = softmax(shared + draws.normal(0, own, (M, n, C)), axis=-1)
    return probabilities.astype(np.float32), labels, draws


def spoilt(kind: str, n: int = N, seed: int = 0) -> EnsemblePredictions:
    """Five members, of which the third says nothing of the images."""
    probabilities, labels, draws = members(5, seed, n)
    probabilities[2] = {
        "noise": softmax(draws.normal(0, 4, (n, C)), axis=-1),
        "uniform": np.full((n, C), 1 / C),
        "one class": np.eye(C)[np.full(n, 7)],
    }[kind]
    return evaluate_predictions(probabilities, labels)


@pytest.mark.parametrize("kind", ["noise", "uniform", "one class"])
def test_a_member_that_says_nothing_of_the_images_is_named(kind: str) -> None:
    faults = find_member_faults(spoilt(kind))
    assert faults.guessing == (2,)
    assert faults.doubles == ()
    assert faults.removal is not None
    assert faults.removal.member == 2
    assert faults.removal.is_better
    assert faults.removal.nll_without < 0.9 * faults.removal.nll


def test_what_leaving_it_out_gives_is_counted_on_the_half_that_did_not_pick_it() -> None:
    made = spoilt("noise")
    removal = judge_member_removal(made)
    assert removal is not None
    picked, judged = split_halves(made.labels)
    others = average_probabilities(made.probabilities[[0, 1, 3, 4]][:, judged])
    truth = made.labels[judged]
    assert removal.gain == compute_gain(others, made.averaged[judged], truth)
    nll = -np.log(others[np.arange(len(truth)), truth]).mean()
    assert removal.nll_without == pytest.approx(nll)
    assert removal.nll - removal.nll_without == pytest.approx(removal.gain.nll)
    assert (removal.chosen_from, removal.held_out) == (picked.sum(), False)


def test_with_held_out_images_it_is_picked_on_these_and_judged_on_all_others() -> None:
    made = spoilt("uniform")
    fit = spoilt("noise", 300, seed=1)
    removal = judge_member_removal(made, fit)
    assert removal is not None
    assert (removal.member, removal.chosen_from, removal.held_out) == (2, 300, True)
    assert removal.gain.n == N
    with pytest.raises(ValueError, match="4 members were held out for, and 5 are judged"):
        judge_member_removal(made, evaluate_predictions(*members(4)[:2]))


def test_a_significant_but_tiny_loss_by_one_of_many_members_is_no_fault() -> None:
    removal = judge_member_removal(spoilt("noise"))
    assert removal is not None
    assert removal.is_better
    assert replace(removal, nll=0.825, nll_without=0.823).is_better
    assert not replace(removal, nll=0.825, nll_without=0.824).is_better


def test_equally_good_members_are_rarely_left_out(draws: Callable[[int], int]) -> None:
    """The member is picked beforehand, so that 2.5 % of draws are the most that may show it."""
    count = draws(600)
    better = [
        removal.is_better
        for seed in range(count)
        if (removal := judge_member_removal(evaluate_predictions(*members(4, seed, 200)[:2])))
    ]
    assert len(better) == count
    assert np.mean(better) <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / count)


def test_sound_members_have_no_fault() -> None:
    assert not find_member_faults(evaluate_predictions(*members(5)[:2])).found


def test_members_that_are_the_same_but_for_rounding_are_doubles() -> None:
    probabilities, labels, draws = members(5)
    probabilities[3] = probabilities[1] * (1 + 1e-7 * draws.choice([-1, 1], (N, C)))
    made = evaluate_predictions(probabilities.copy(), labels)
    assert find_double_members(made) == ((1, 3),)
    assert find_member_faults(made).found
    probabilities[3, 400, 0] += 1e-3  # beyond the examples that are looked at first
    assert find_double_members(evaluate_predictions(probabilities, labels)) == ()


def test_every_group_of_doubles_is_told() -> None:
    probabilities, labels, _ = members(3)
    made = evaluate_predictions(probabilities[[0, 1, 0, 2, 1, 0]], labels)
    assert find_double_members(made) == ((0, 2, 5), (1, 4))


def test_where_all_guess_no_member_is_named() -> None:
    draws = np.random.default_rng(3)
    guesses = softmax(draws.normal(0, 1, (4, N, C)), axis=-1)
    assert find_guessing_members(evaluate_predictions(guesses, draws.integers(C, size=N))) == ()


def test_members_that_are_right_more_often_than_guessing_are_not_named_on_few_examples() -> None:
    draws = np.random.default_rng(6)
    labels = np.arange(50) % 2
    right = draws.random((200, 5, 50)) < 0.7
    for votes in np.where(right, labels, 1 - labels):
        shares = np.where(votes[..., None] == np.arange(2), 0.75, 0.25)
        named = find_guessing_members(evaluate_predictions(shares.astype(np.float32), labels))
        assert all((votes == labels)[member].mean() < 0.5 for member in named)


@pytest.mark.parametrize("examples", [1, 2, 100])
def test_where_one_class_alone_is_tested_nobody_guesses(examples: int) -> None:
    votes = np.zeros((3, examples), int)
    votes[0] = 1
    shares = np.eye(4, dtype=np.float32)[votes]
    predictions = evaluate_predictions(shares, np.zeros(examples, int))
    assert find_guessing_members(predictions) == ()


def test_a_member_that_always_says_the_most_frequent_class_guesses() -> None:
    labels = np.repeat([4, 1, 2], [350, 100, 50])
    probabilities = np.repeat(0.9 * np.eye(C)[labels][None] + 0.1 / C, 3, axis=0)
    probabilities[0] = np.eye(C)[np.full(N, 4)]
    assert find_guessing_members(evaluate_predictions(probabilities, labels)) == (0,)


def test_one_member_or_few_images_have_no_removal() -> None:
    assert judge_member_removal(evaluate_predictions(*members(1)[:2])) is None
    assert judge_member_removal(evaluate_predictions(*members(3, n=19)[:2])) is None


def test_votes_that_agree_by_chance_and_single_examples_are_no_doubles() -> None:
    labels = np.arange(60) % 3
    votes = np.tile(np.eye(3)[labels], (3, 1, 1))
    assert find_double_members(evaluate_predictions(votes, labels)) == ()
    one = np.tile([[0.1, 0.7, 0.2]], (3, 1, 1))
    assert find_double_members(evaluate_predictions(one, labels[:1])) == ()
