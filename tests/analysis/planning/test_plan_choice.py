"""The plan for a budget: the best that it pays for, and those not shown to be worse."""

import numpy as np
import pytest

from ensemble.analysis.planning.plan_choice import choose_best_plan, select_possible_plans
from ensemble.analysis.planning.plan_grid import EnsemblePlan, build_plan_grid
from ensemble.analysis.planning.power import POWER, required_sample_size
from tests.analysis.planning.test_plan_losses import drawn


@pytest.mark.parametrize("figure", ["nll", "accuracy"])
@pytest.mark.parametrize("budget", [1, 4, 7, 12, 99])
def test_the_best_plan_is_the_best_of_those_that_the_budget_pays_for(figure: str, budget: int) -> None:
    found = drawn(4, 200, epochs=3)
    sign = 1 if figure == "nll" else -1
    each = {
        (m, e): sign * found.scores[figure][e - 1, m - 1].mean(dtype=float)
        for m in range(1, 5)
        for e in range(1, 4)
        if m * e <= budget
    }
    chosen = choose_best_plan(found, budget, figure)
    assert chosen is not None
    assert chosen.best == min(each, key=lambda plan: each[plan])
    largest = {e: max(m for m, epochs in each if epochs == e) for _, e in each}
    can_be = {plan for plan in each if figure == "accuracy" or plan[0] == largest[plan[1]]}
    assert {loss.plan for loss in chosen.losses} == can_be - {chosen.best}
    assert chosen.affordable_plans == len(each)
    assert chosen.best_estimate.mean == pytest.approx(sign * each[chosen.best])
    if len(can_be) > 1:
        assert chosen.runner_up
        assert chosen.sample_size
        assert chosen.runner_up.plan == sorted(can_be, key=lambda plan: each[plan])[1]
        assert chosen.runner_up.mean >= 0


def test_by_nll_the_largest_committee_of_each_epoch_alone_can_be_the_best() -> None:
    found = drawn(4, 60, epochs=3)
    for epoch in (1, 2, 3):  # whatever was drawn
        of_epoch = [found.mean(EnsemblePlan(m, epoch), "nll") for m in (1, 2, 3, 4)]
        assert of_epoch == sorted(of_epoch, reverse=True)
    plans = [plan for plan in found.plans if plan.cost <= 6]
    assert sorted(select_possible_plans(plans, "nll")) == [EnsemblePlan(2, 3), EnsemblePlan(3, 2), EnsemblePlan(4, 1)]
    assert select_possible_plans(plans, "accuracy") == plans


def test_a_budget_that_pays_for_nothing_gives_no_plan() -> None:
    assert choose_best_plan(drawn(2, 20), 0) is None


def test_candidates_are_those_that_are_not_shown_to_lose_the_cheapest_first() -> None:
    chosen = choose_best_plan(drawn(4, 800, epochs=3), 12, "accuracy")
    assert chosen
    worse = {loss.plan for loss in chosen.losses if loss.low > 0}
    assert worse
    assert not worse & set(chosen.candidates)
    assert chosen.best in chosen.candidates
    lost = {chosen.best: 0.0, **{loss.plan: loss.mean for loss in chosen.losses}}
    least = {cost: min(lost[plan] for plan in lost if plan.cost <= cost) for cost in range(1, 13)}
    sensible = [one for one in chosen.candidates if lost[one] == least[one.cost]]
    assert chosen.cheapest == min(sensible, key=lambda plan: plan.cost)
    assert len(chosen.candidates) + len(worse) == 12


def test_what_is_chosen_on_other_images_is_reported_on_these() -> None:
    found, by = drawn(4, 100, epochs=3, seed=1), drawn(4, 100, epochs=3, seed=2)
    order = sorted(by.plans, key=lambda plan: by.mean(plan, "accuracy"), reverse=True)
    chosen = choose_best_plan(found, 12, "accuracy", by)
    assert chosen
    assert chosen.runner_up
    assert by.mean(chosen.best, "accuracy") == by.mean(order[0], "accuracy")
    assert chosen.best_estimate.mean == pytest.approx(found.mean(chosen.best, "accuracy"))
    assert by.mean(chosen.runner_up.plan, "accuracy") == by.mean(order[1], "accuracy")


def test_a_map_is_of_the_same_members_and_examples() -> None:
    one = drawn(2, 20)
    with pytest.raises(ValueError, match="at least"):
        build_plan_grid([], [])
    assert one.plans[0] == EnsemblePlan(1, 1)
    assert len(one.plans) == 4


def test_as_many_examples_or_members_as_are_asked_for_show_the_difference() -> None:
    found = drawn(4, 200)
    chosen = choose_best_plan(found, 3)
    assert chosen
    assert chosen.runner_up
    loss, draws = chosen.runner_up, np.random.default_rng(0)
    sure = required_sample_size(loss, found.n, found.members)
    assert sure.times
    assert sure.times >= 1
    examples, members = loss.by_examples * found.n, loss.by_members * found.members
    ways = [(sure.examples, found.members), (found.n, sure.members), (sure.times * found.n, sure.times * found.members)]
    for n, m in ways:
        if n is None or m is None:
            continue
        error = (examples / n + members / m) ** 0.5
        shown = np.abs(draws.normal(abs(loss.mean), error, 100_000)) > 1.96 * error
        assert shown.mean() >= POWER - 0.01
        if (n, m) != (found.n, found.members):
            assert shown.mean() <= 1


def test_no_number_of_examples_shows_what_hangs_on_the_members() -> None:
    found = drawn(4, 200)
    chosen = choose_best_plan(found, 3)
    assert chosen
    assert chosen.runner_up
    loss = chosen.runner_up
    hidden = type(loss)(loss.plan, loss.against, 0.01, -0.1, 0.1, 1e-9, 0.01)
    sure = required_sample_size(hidden, 200, 4)
    assert sure.examples is None
    assert sure.members == pytest.approx(7.849 * 0.04 / 1e-4, rel=1e-3)
    none = required_sample_size(type(loss)(loss.plan, loss.against, 0.0, -0.1, 0.1, 1e-9, 0.01), 200, 4)
    assert (none.examples, none.members, none.times) == (None, None, None)
