"""One plan against another: influences as the jackknife has them, intervals that hold."""

import numpy as np
import pytest
from scipy.stats import sem, t

from ensemble.analysis.inference.paired_intervals import mean_interval
from ensemble.analysis.planning.committee_scores import score_committees
from ensemble.analysis.planning.plan_grid import EnsemblePlan, PlanGrid, build_plan_grid
from ensemble.analysis.planning.plan_losses import compute_plan_losses, estimate_plan
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.proper_scores import log_loss
from tests.analysis.planning.populations import learning


def drawn(M: int, N: int, epochs: int = 2, seed: int = 0) -> PlanGrid:
    labels = np.random.default_rng([seed, 2]).integers(4, size=N)
    made = learning(M, labels, epochs, seed)
    return build_plan_grid(range(1, epochs + 1), [score_committees(one, labels) for one in made])


def test_the_influences_of_all_members_give_the_jackknifes_variance() -> None:
    labels = np.random.default_rng(0).integers(4, size=50)
    (made,) = learning(5, labels, 1, 0)
    found = build_plan_grid([1], [score_committees(made, labels)])
    without = np.array([log_loss(average_probabilities(np.delete(made, m, axis=0)), labels).mean() for m in range(5)])
    jackknife = 4 / 5 * ((without - without.mean()) ** 2).sum()
    for size in (4, 5):
        influence = found.member_influence(EnsemblePlan(size, 1), "nll")
        assert influence.var(ddof=1) / 5 == pytest.approx(jackknife)
    alone = log_loss(made, labels).mean(axis=1)
    np.testing.assert_allclose(found.member_influence(EnsemblePlan(1, 1), "nll"), alone - alone.mean(), atol=1e-12)


def test_a_loss_is_the_mean_over_the_same_examples_and_turns_its_sign_with_the_sides() -> None:
    found = drawn(4, 60)
    first, second = EnsemblePlan(3, 1), EnsemblePlan(1, 2)
    for figure, sign in (("nll", 1), ("accuracy", -1)):
        (one,) = compute_plan_losses(found, [first], second, figure)
        (other,) = compute_plan_losses(found, [second], first, figure)
        assert one.mean == pytest.approx(sign * (found.mean(first, figure) - found.mean(second, figure)), abs=1e-7)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        assert one.by_examples > 0
        assert one.by_members > 0


def test_intervals_of_several_plans_are_wider_so_that_all_hold_together() -> None:
    found = drawn(4, 60)
    (alone,) = compute_plan_losses(found, [EnsemblePlan(3, 1)], EnsemblePlan(1, 2), "nll")
    among = compute_plan_losses(
        found, [EnsemblePlan(3, 1), EnsemblePlan(2, 1), EnsemblePlan(4, 2)], EnsemblePlan(1, 2), "nll"
    )[0]
    assert among.mean == alone.mean
    assert among.low < alone.low
    assert alone.high < among.high


def test_the_ends_of_losses_are_students_over_members_and_those_of_a_mean_over_examples() -> None:
    """Both errors in quadrature, at a level for as many plans as are compared (Bonferroni)."""
    found, against = drawn(5, 60), EnsemblePlan(2, 2)
    plans = [EnsemblePlan(3, 1), EnsemblePlan(1, 1), EnsemblePlan(4, 2), EnsemblePlan(5, 2)]
    reference = found.example_scores(against, "accuracy")
    for loss in compute_plan_losses(found, plans, against, "accuracy"):
        values = reference - found.example_scores(loss.plan, "accuracy")
        influence = found.member_influence(loss.plan, "accuracy") - found.member_influence(against, "accuracy")
        half = t.isf(0.025 / 4, 4) * sem(influence)
        low, high = mean_interval(values, 1 - 0.05 / 4, 1.0)
        mean = values.mean()
        ends = mean - np.hypot(mean - low, half), mean + np.hypot(high - mean, half)
        assert (loss.mean, loss.low, loss.high) == pytest.approx((mean, *ends))
        assert loss.by_members == pytest.approx(sem(influence) ** 2)


def test_members_of_two_runs_have_welchs_degrees_of_freedom() -> None:
    found, other = drawn(3, 60), drawn(5, 60, seed=1)
    first, second = EnsemblePlan(2, 1), EnsemblePlan(3, 2)
    (loss,) = compute_plan_losses(found, [first], second, "accuracy", other)
    values = other.example_scores(second, "accuracy") - found.example_scores(first, "accuracy")
    parts = np.array([sem(found.member_influence(first, "accuracy")), sem(other.member_influence(second, "accuracy"))])
    freedom = (parts**2).sum() ** 2 / (parts**4 / [2, 4]).sum()
    half = t.isf(0.025, freedom) * np.sqrt((parts**2).sum())
    low, high = mean_interval(values, 0.95, 1.0)
    mean = values.mean()
    ends = mean - np.hypot(mean - low, half), mean + np.hypot(high - mean, half)
    assert (loss.low, loss.high) == pytest.approx(ends)


def test_intervals_hold_the_populations_own_difference() -> None:
    first, second = EnsemblePlan(3, 1), EnsemblePlan(1, 2)
    many = [drawn(4, 150, seed=seed) for seed in range(80)]
    # Of other members and other examples than those that the intervals are made of.
    population = [drawn(5, 2_000, seed=seed) for seed in range(200, 230)]
    for figure in ("nll", "accuracy"):
        sign = 1 if figure == "nll" else -1
        true = np.mean([sign * (one.mean(first, figure) - one.mean(second, figure)) for one in population])
        found = [one for seen in many for one in compute_plan_losses(seen, [first], second, figure)]
        assert np.mean([one.low <= true <= one.high for one in found]) >= 0.92
        # By the examples alone it would be missed too often.
        by_examples = [abs(one.mean - true) <= 1.96 * one.by_examples**0.5 for one in found]
        assert np.mean(by_examples) < 0.9


def test_after_the_same_epoch_more_members_never_cost_nll_and_intervals_know_it() -> None:
    found = drawn(5, 60)
    against = EnsemblePlan(4, 2)
    others = [plan for plan in found.plans if plan != against]
    every = {one.plan: one for one in compute_plan_losses(found, others, against, "nll")}
    for plan, one in every.items():
        assert one.low <= one.mean <= one.high
        if plan.epochs == 2:
            assert one.certain == (plan.members < 4)
            assert one.loss_sign == (1 if plan.members < 4 else -1 if one.high < 0 else 0)
            assert one.low >= 0 if plan.members < 4 else one.high <= 0
        larger = [each for each in every if each.epochs == plan.epochs and each > plan]
        assert all(one.low >= min(every[each].low, one.mean) for each in larger)
        assert all(every[each].high <= max(one.high, every[each].mean) for each in larger)
    # Of accuracy nothing of the kind is known.
    assert not any(one.certain for one in compute_plan_losses(found, others, against, "accuracy"))


def test_what_a_plan_comes_to_has_an_interval_within_what_is_possible() -> None:
    found = drawn(3, 40)
    for plan in found.plans:
        share = estimate_plan(found, plan, "accuracy")
        assert 0 <= share.low < share.mean < share.high <= 1
        nll = estimate_plan(found, plan, "nll")
        assert 0 <= nll.low < nll.mean < nll.high


def test_one_member_alone_has_an_interval_of_the_examples_only() -> None:
    found = drawn(1, 40)
    (one,) = compute_plan_losses(found, [EnsemblePlan(1, 1)], EnsemblePlan(1, 2), "nll")
    assert one.by_members == 0
    assert one.low < one.mean < one.high


def test_plans_of_two_runs_have_members_of_their_own() -> None:
    one, other = drawn(4, 50, seed=1), drawn(4, 50, seed=2)
    (together,) = compute_plan_losses(one, [EnsemblePlan(2, 2)], EnsemblePlan(2, 2), "nll")
    (apart,) = compute_plan_losses(one, [EnsemblePlan(2, 2)], EnsemblePlan(2, 2), "nll", other)
    assert together.mean == together.by_members == 0 < apart.by_members
    with pytest.raises(ValueError, match="50 and on 40"):
        compute_plan_losses(one, [EnsemblePlan(2, 2)], EnsemblePlan(2, 2), "nll", drawn(4, 40))


def test_a_plan_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="9 members for 1 epochs"):
        drawn(2, 20).locate(EnsemblePlan(9, 1))
