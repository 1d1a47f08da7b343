"""OOD scores and the threshold on them, against slow plain reckonings."""

import numpy as np
import pytest
from scipy import stats

from ensemble.recognition.rejection import (
    Rarity,
    Rejection,
    find_enclosing_marks,
    find_judging_marks,
    has_too_many_rejected_marks,
    score_extra_loops,
    score_missing_paper,
)

DRAWS = np.random.default_rng(0)


def test_rarity_counts_within_and_goes_on_growing_beyond():
    held_out = DRAWS.normal(size=400)
    rarity = Rarity.from_held_out(held_out)
    for value in (-9.0, -1.0, 0.0, 1.0):
        assert rarity(np.array([value]))[0] == pytest.approx(-np.log(((held_out >= value).sum() + 1) / 401))
    rising = rarity(np.linspace(-3, 30, 200))
    assert (np.diff(rising) >= -1e-9).all()
    assert rising[-1] <= 20 - np.log(0.1) + 1e-9, "one measure off the scale does not decide alone"
    of_exponential = Rarity.from_held_out(DRAWS.exponential(size=200_000))(np.array([5.0, 8.0]))
    np.testing.assert_allclose(of_exponential, stats.expon.logsf([5.0, 8.0]) * -1, rtol=0.03)


@pytest.mark.parametrize("refuse", [0.01, 0.05, 0.3])
def test_the_threshold_turns_away_the_share_asked_for(refuse):
    fitted, judged = DRAWS.normal(size=(2, 4, 3000))
    rejection = Rejection.from_measures(fitted)
    own = rejection.held_out_scores
    np.testing.assert_allclose(own, np.sort(rejection.compute_scores(fitted)), rtol=0.2, atol=0.05)
    threshold = rejection.compute_threshold(refuse)
    share = (own > threshold).mean()
    assert refuse - 1.5 / 3000 <= share <= refuse  # a new one is the 3001st
    others = rejection.compute_scores(judged)
    assert (others > threshold).mean() == pytest.approx(refuse, abs=0.02)
    np.testing.assert_allclose(others, rejection.compute_contributions(judged).sum(axis=0))
    shares = rejection.compute_quantiles(others)
    assert shares[7] == (own < others[7]).mean()
    of_their_own = rejection.compute_quantiles(rejection.held_out_scores)
    np.testing.assert_array_equal(of_their_own, np.arange(3000) / 3000)  # nobody outdoes himself


@pytest.mark.parametrize(
    ("n", "refuse", "rank"),
    [
        (99, 0.01, 99),
        (98, 0.01, None),
        (100, 0.01, 100),
        (199, 0.01, 198),
        (9, 0.5, 5),
        (250, 0.03, 244),
        (19, 0.05, 19),
        (18, 0.05, None),
        (1, 0.5, 1),
        (99, 0.41, 59),
    ],
)
def test_the_threshold_is_the_score_of_the_finite_sample_rank(n, refuse, rank):
    scores = DRAWS.permutation(n).astype(float)
    threshold = Rejection((), np.sort(scores)).compute_threshold(refuse)
    assert threshold == (np.inf if rank is None else rank - 1)


def test_a_new_digit_is_rejected_no_more_often_than_asked_for():
    scores = DRAWS.normal(size=(20_000, 41))  # 40 held out, and a new one
    above = [one[40] > Rejection((), np.sort(one[:40])).compute_threshold(0.05) for one in scores]
    share = stats.binomtest(sum(above), 20_000).proportion_ci(0.999, method="wilson")
    assert share.low <= 0.05, "two of the 40 would be as many as 3 of 41 new ones: 7.3 %"


@pytest.mark.long
def test_held_out_digits_do_not_judge_themselves():
    """Each is scored without itself, as a new one is: else 1.8 % of new ones exceed that of 1 %."""
    above = []
    for _ in range(400):
        fitted, new = np.split(DRAWS.normal(size=(4, 400)), [110], axis=1)
        rejection = Rejection.from_measures(fitted)
        above.append((rejection.compute_scores(new) > rejection.compute_threshold(0.01)).mean())
    assert np.mean(above) <= 0.01 + 2 * stats.sem(above)
    fitted = DRAWS.normal(size=40)
    slow = [Rarity.from_held_out(np.delete(fitted, i))(fitted[[i]])[0] for i in range(40)]
    found = Rejection.from_measures(fitted[None]).held_out_scores
    np.testing.assert_allclose(found[:36], np.sort(slow)[:36])  # below the tail all is counted
    assert np.isfinite(Rejection.from_measures(np.ones((2, 1))).held_out_scores).all()


@pytest.mark.parametrize("refuse", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_cannot_be_rejected_is_said(refuse):
    with pytest.raises(ValueError, match="in \\(0, 1\\)"):
        Rejection.from_measures(np.zeros((1, 9)) + np.arange(9)).compute_threshold(refuse)


@pytest.mark.parametrize(
    ("rejected", "sizes", "refused"),
    [
        ("x", [9], False),  # one mark: what is said of it says all
        ("ooxo", [9, 9, 9, 9], False),
        ("oxx", [90, 8, 5], False),  # a digit and two specks of dirt
        ("oxx", [90, 80, 95], True),
        ("xxo", [300, 280, 20], True),  # a horse, a part of which looks like a one
        ("xooo", [300, 60, 60, 60], False),  # digits in a frame
        ("xxxxooooooxxxxx", [9] * 15, True),  # a line of text: an o is a 0, an l is a 1
        ("xxooooooooo", [9] * 11, False),
        ("xx", [9, 9], True),
        ("oxx", [100, 44, 44], False),  # what is under 0.45 of a digit's size is dirt
        ("oxx", [100, 46, 46], True),
        ("xxoooo", [100, 100, 14, 14, 14, 14], True),  # under 0.15 it is a chance likeness
        ("xxooooo", [100, 100, 16, 16, 16, 16, 16], False),
        ("xxxooooooo", [9] * 10, True),  # three in ten
        ("xxooooo", [9] * 7, False),
    ],
)
def test_a_picture_is_rejected_as_a_whole(rejected, sizes, refused):
    flags = np.array([one == "x" for one in rejected])
    assert has_too_many_rejected_marks(flags, np.array(sizes, float)) is refused


def test_what_lies_on_no_paper_grows_by_a_nat_with_each_3_in_100_beyond_15() -> None:
    ground = np.array([0.0, 0.149, 0.15, 0.18, 0.30, 0.60, 0.75, 0.9, 1.0])
    np.testing.assert_allclose(score_missing_paper(ground), [0, 0, 0, 1, 5, 15, 20, 20, 20], atol=1e-9)


def test_each_loop_more_than_an_8_has_is_as_rare_as_two_of_1208() -> None:
    assert round(-np.log(2 / 1208), 1) == 6.4
    np.testing.assert_allclose(score_extra_loops(np.array([0, 1, 2, 3, 4, 5, 9])), [0, 0, 0, 6.4, 12.8, 19.2, 20])


def test_parts_of_a_piece_of_ink_are_judged_by_the_strangest_of_them() -> None:
    scores = np.array([5.0, 1.0, 7.0, 3.0, 2.0, 9.0])
    pieces = np.array([-1, 0, 0, 4, 4, -1])
    assert find_judging_marks(scores, pieces).tolist() == [0, 2, 2, 3, 3, 5]


def test_what_a_rejected_mark_lies_within_is_no_digit_either() -> None:
    boxes = np.array([[0, 0, 9, 9], [2, 2, 5, 5], [0, 3, 5, 5], [6, 6, 12, 8]])
    none = np.zeros(4, bool)
    assert find_enclosing_marks(boxes, none).tolist() == [False] * 4
    for which, wanted in ((1, [0]), (2, []), (3, [])):
        rejected = none.copy()
        rejected[which] = True
        assert np.flatnonzero(find_enclosing_marks(boxes, rejected)).tolist() == wanted
