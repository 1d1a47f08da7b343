"""Gains against SciPy's binomial test, its bootstrap, and loops over the same draws."""

import numpy as np
import pytest
from scipy import stats

from ensemble.analysis.members.gain import (
    RESAMPLES,
    gain,
    gain_over_mean,
    mcnemar,
    resampled_means,
    typical_member,
)
from ensemble.analysis.predictions import Predictions, judge
from ensemble.analysis.quality.scores import log_loss
from tests.analysis.cases import Case, cases, labelled

CASES = cases()


@pytest.mark.parametrize(
    ("won", "lost"), [(0, 0), (1, 0), (0, 1), (5, 5), (6, 5), (31, 12), (0, 40), (700, 600)]
)
def test_mcnemar_is_the_exact_binomial_test(won: int, lost: int) -> None:
    expected = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert mcnemar(won, lost) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(lost, won) == mcnemar(won, lost)


def test_mcnemar_takes_many_at_once() -> None:
    won, lost = np.meshgrid(np.arange(25), np.arange(25))
    found = mcnemar(won, lost)
    assert found.shape == (25, 25)
    for w, b, p in zip(won.ravel(), lost.ravel(), found.ravel(), strict=True):
        expected = stats.binomtest(int(w), int(w + b)).pvalue if w + b else 1.0
        assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gain_is_what_a_loop_counts(case: Case) -> None:
    made = judge(*case)
    theirs = made.probabilities[-1]
    found = gain(made.averaged, theirs, made.labels)
    won = lost = 0
    saved = 0.0
    for ours, other, label in zip(made.averaged, theirs, made.labels, strict=True):
        won += bool(ours.argmax() == label != other.argmax())
        lost += bool(other.argmax() == label != ours.argmax())
        least = 2.0**-126
        saved += float(np.log(max(ours[label], least)) - np.log(max(float(other[label]), least)))
    assert (found.won, found.lost, found.digits, found.n) == (won, lost, won - lost, len(case[1]))
    assert found.nll == pytest.approx(saved / found.n, abs=1e-9)
    assert found.p == mcnemar(won, lost)
    assert found.digits_low <= found.digits <= found.digits_high
    assert found.nll_low - 1e-12 <= found.nll <= found.nll_high + 1e-12


@pytest.mark.parametrize("seed", [0, 5])
def test_resamples_are_the_means_of_what_was_drawn(seed: int) -> None:
    """The same draws, taken one by one and summed exactly."""
    draws = np.random.default_rng(9)
    first, second = draws.integers(-1, 2, size=83).astype(float), draws.normal(size=83)
    found = resampled_means(first, second, seed)
    assert found.shape == (2, RESAMPLES)
    rng = np.random.default_rng(seed)
    for resample in range(100):
        rows = [int(row) for row in rng.integers(83, size=83)]
        assert found[0, resample] == pytest.approx(sum(first[r] for r in rows) / 83, abs=1e-12)
        assert found[1, resample] == pytest.approx(sum(second[r] for r in rows) / 83, abs=1e-12)


def test_intervals_agree_with_scipys_bootstrap() -> None:
    made = judge(*labelled(3, 2_000, 10))
    theirs = made.probabilities[0]
    found = gain(made.averaged, theirs, made.labels)
    hits = made.right.astype(float) - (theirs.argmax(axis=1) == made.labels)
    ours, others = (p[np.arange(2_000), made.labels] for p in (made.averaged, theirs))
    figures = {"digits": hits * 2_000, "nll": np.log(ours / others.astype(float))}
    for name, values in figures.items():
        expected = stats.bootstrap(
            (values,), np.mean, n_resamples=4_000, method="percentile", rng=1
        ).confidence_interval
        width = expected.high - expected.low
        assert getattr(found, f"{name}_low") == pytest.approx(expected.low, abs=0.1 * width)
        assert getattr(found, f"{name}_high") == pytest.approx(expected.high, abs=0.1 * width)


def test_the_other_way_round_is_a_loss_by_as_much() -> None:
    made = judge(*labelled(2, 400, 10))
    first, second = made.probabilities
    there, back = gain(first, second, made.labels), gain(second, first, made.labels)
    assert (there.won, there.lost, there.p) == (back.lost, back.won, back.p)
    assert there.digits == -back.digits
    assert there.nll == pytest.approx(-back.nll)
    assert there.nll_low == pytest.approx(-back.nll_high)
    assert there.digits_low == pytest.approx(-back.digits_high)


def test_nothing_is_gained_over_oneself() -> None:
    probabilities, labels = CASES["one member"]
    found = gain(probabilities[0], probabilities[0], labels)
    assert (found.won, found.lost, found.digits, found.p) == (0, 0, 0, 1)
    assert (found.nll, found.nll_low, found.nll_high) == (0, 0, 0)
    for name in ("one member", "unanimous"):
        mean = gain_over_mean(judge(*CASES[name]))
        assert (mean.digits, mean.digits_low, mean.digits_high) == (0, 0, 0)
        assert [mean.nll, mean.nll_low, mean.nll_high] == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gain_over_the_mean_is_the_mean_of_gains(case: Case) -> None:
    made = judge(*case)
    each = [gain(made.averaged, member, made.labels) for member in made.probabilities]
    found = gain_over_mean(made)
    assert found.n == len(made.labels)
    assert found.digits == pytest.approx(np.mean([one.digits for one in each]), abs=1e-9)
    assert found.nll == pytest.approx(np.mean([one.nll for one in each]), abs=1e-9)
    assert found.nll >= -1e-12
    # With one seed all draw the same examples, so that resamples average as the gains do.
    saved = [log_loss(p, made.labels) - log_loss(made.averaged, made.labels) for p in case[0]]
    hits = [made.right.astype(float) - (votes == made.labels) for votes in made.votes]
    each_means = [resampled_means(h, s) for h, s in zip(hits, saved, strict=True)]
    low, high = np.percentile(np.mean(each_means, axis=0), [2.5, 97.5], axis=1)
    assert [found.digits_low / found.n, found.nll_low] == pytest.approx(low.tolist(), abs=1e-9)
    assert [found.digits_high / found.n, found.nll_high] == pytest.approx(high.tolist(), abs=1e-9)


def test_one_seed_gives_one_answer() -> None:
    made = judge(*labelled(3, 200, 10))
    again = judge(*labelled(3, 200, 10))
    assert gain_over_mean(made) == gain_over_mean(again)
    assert gain_over_mean(made, seed=1).nll_low != gain_over_mean(made).nll_low


def with_hits(*hits: int) -> Predictions:
    """Members that have so many of ten right."""
    said = np.array([[0] * count + [1] * (10 - count) for count in hits])
    return judge(np.eye(2, dtype=np.float32)[said], np.zeros(10, int))


@pytest.mark.parametrize(
    ("hits", "typical"),
    [((4,), 0), ((9, 2, 5), 2), ((5, 5, 5), 1), ((8, 3), 1), ((7, 9, 7, 1), 0), ((2, 6, 6, 9), 1)],
)
def test_the_typical_member_is_the_lower_median(hits: tuple[int, ...], typical: int) -> None:
    assert typical_member(with_hits(*hits)) == typical


def test_no_example_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        gain(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, int))
