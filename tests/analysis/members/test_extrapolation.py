"""What is expected beyond the members that there are, held against members that there are."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import curve_fit
from scipy.stats import norm, t

from ensemble.analysis.members.committees import committee_curve, evaluate_committees
from ensemble.analysis.members.extrapolation import extrapolate_committee_curve
from tests.conftest import variant

Drawn = tuple[NDArray[np.float32], NDArray[np.int64]]
C = 6


def drawn(members: int, n: int, seed: int, own: float = 1.0) -> Drawn:
    """Members that share most of what they think of an image, some of which are hard."""
    draws = np.random.default_rng([seed, members])
    labels = draws.integers(0, C, n)
    shared = 1.5 * draws.normal(size=(n, C))
    shared[np.arange(n), labels] += 6 * draws.random(n)
    hard = own * draws.exponential(1, (n, 1))
    logits = shared + hard * draws.normal(size=(members, n, C))
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32), labels


def real(made: Drawn, figure: str) -> float:
    """The figure of all members together."""
    said, labels = made[0].astype(float).mean(axis=0), made[1]
    if figure == "nll":
        return float(-np.log(said[np.arange(len(labels)), labels]).mean())
    return float(((said - np.eye(C)[labels]) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("members", [6, variant(8)])
def test_the_interval_holds_what_16_members_really_get(members: int) -> None:
    held = {"nll": 0, "brier": 0}
    for seed in range(30):
        made = drawn(16, 400, seed, own=1.0 + seed % 2)
        judged = evaluate_committees(made[0][:members], made[1])
        for figure in held:
            found = extrapolate_committee_curve(judged, figure)
            assert found
            at = list(found.size).index(min(16, 2 * members))
            first = made[0][: found.size[at]], made[1]
            held[figure] += found.low[at] <= real(first, figure) <= found.high[at]
    assert min(held.values()) >= 27


def test_the_interval_is_of_the_change_and_grows_with_it() -> None:
    """The figure of the members that there are is known: only what is added to it is not."""
    probabilities, labels = drawn(8, 1000, 3)
    judged = evaluate_committees(probabilities, labels)
    at_label = probabilities.astype(float).mean(axis=0)[np.arange(1000), labels]
    of_the_images = np.log(at_label).std() / 1000**0.5
    for figure in ("nll", "brier"):
        found = extrapolate_committee_curve(judged, figure)
        assert found
        half = (found.high - found.low) / 2
        assert (np.diff(half) > 0).all()
        assert half[0] < half[-1] / 1.5
        assert half[-1] < of_the_images
        np.testing.assert_allclose((found.high + found.low) / 2, found.mean)


def test_the_brier_score_lies_on_its_law_exactly() -> None:
    """Over all committees of a size its mean is a + b / k: fitted to any sizes it is the rest."""
    judged = evaluate_committees(*drawn(7, 300, 1))
    measured = committee_curve(judged, "brier").mean
    b = (measured[0] - measured[-1]) / (1 - 1 / 7)
    a = measured[0] - b
    np.testing.assert_allclose(measured, a + b / np.arange(1, 8), rtol=1e-12)
    found = extrapolate_committee_curve(judged, "brier")
    assert found
    assert (found.power, found.limit) == (1, pytest.approx(a))
    np.testing.assert_allclose(found.mean, a + b / np.arange(8, 15), rtol=1e-9)


def test_the_power_of_nll_is_scipys_least_squares() -> None:
    judged = evaluate_committees(*drawn(8, 500, 2))
    found = extrapolate_committee_curve(judged, "nll")
    assert found

    def law(k: NDArray[np.float64], a: float, b: float, c: float) -> NDArray[np.float64]:
        return a + b * k**-c

    (a, b, c), _ = curve_fit(law, np.arange(1.0, 9), committee_curve(judged, "nll").mean, (0.5, 1, 1))
    assert (found.power, found.limit) == (pytest.approx(c, abs=1e-4), pytest.approx(a, abs=1e-5))
    np.testing.assert_allclose(found.mean, law(found.size.astype(float), a, b, c), rtol=1e-5)


def test_members_that_all_say_the_same_gain_nothing_by_more_of_them() -> None:
    probabilities, labels = drawn(1, 300, 4)
    judged = evaluate_committees(probabilities.repeat(5, axis=0), labels)
    found = extrapolate_committee_curve(judged, "nll")
    assert found
    np.testing.assert_allclose(found.mean, judged.nll[0])


def test_nothing_is_said_where_nothing_can_be_said() -> None:
    made = drawn(3, 100, 0)
    judged = evaluate_committees(*made)
    assert extrapolate_committee_curve(judged, "brier")
    assert extrapolate_committee_curve(judged, "accuracy") is None
    assert extrapolate_committee_curve(evaluate_committees(made[0][:2], made[1]), "nll") is None
    assert extrapolate_committee_curve(evaluate_committees(made[0][:, :99], made[1][:99]), "nll") is None
    assert extrapolate_committee_curve(dataclasses.replace(judged, members=65), "nll") is None


def test_drawn_committees_serve_too_up_to_twice_as_many_members() -> None:
    """Of the committees of 32 one is without a given member, of some sizes perhaps none."""
    found = extrapolate_committee_curve(evaluate_committees(*drawn(33, 100, 5)), "nll")
    assert found
    assert (found.size[0], found.size[-1]) == (34, 66)
    assert np.isfinite([found.low, found.mean, found.high]).all()
    assert (found.low < found.mean).all()


def test_the_interval_of_few_members_is_that_of_a_jackknife_with_students_quantile() -> None:
    """The Brier score follows its law exactly, so that each part is that of a straight line over 1 / k."""
    probabilities, labels = drawn(4, 200, 6)
    judged = evaluate_committees(probabilities, labels)
    found = extrapolate_committee_curve(judged, "brier")
    assert found

    def fit(curve: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.polyfit(1 / np.arange(1, len(curve) + 1), curve, 1)

    def jackknife(values: NDArray[np.float64]) -> float:
        return float(np.sqrt((len(values) - 1) * values.var()))

    by_member, sums = [], judged.by_block["brier"] * judged.block
    for member in range(4):
        others = evaluate_committees(np.delete(probabilities, member, axis=0), labels)
        by_member.append(fit(committee_curve(others, "brier").mean))
    by_block = [fit((sums.sum(axis=1) - own) / (200 - count)) for own, count in zip(sums.T, judged.block, strict=True)]
    member_slopes, block_slopes = np.array(by_member)[:, 0], np.array(by_block)[:, 0]
    for size, half in zip(found.size, found.high - found.mean, strict=True):
        change = abs(1 / size - 1 / 4)
        new = jackknife(np.array(by_member) @ [1 / 4, 1]) * np.sqrt(1 - 4 / size)
        of_members = t.ppf(0.975, 3) * np.hypot(jackknife(member_slopes) * change, new)
        of_images = norm.ppf(0.975) * jackknife(block_slopes) * change
        assert half == pytest.approx(np.hypot(of_members, of_images), rel=1e-5)
