"""Plans in words: one claim a line, signs that fit, and what it would take to be sure."""

import math
from dataclasses import replace

import pytest

from ensemble.analysis.planning.equivalents import MemberEquivalent
from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.planning.plan_losses import PlanEstimate, PlanLoss
from ensemble.analysis.planning.power import RequiredSampleSize
from ensemble.planning.plan_comparison import PlanComparison
from ensemble.planning.plan_costs import PlanCosts
from ensemble.wording.verdicts import plan as words

COSTS = PlanCosts(60_000, 6_000.0)
BEST, CHEAP, DEAR = EnsemblePlan(3, 5), EnsemblePlan(2, 4), EnsemblePlan(1, 15)


def loss(plan: EnsemblePlan, mean: float, low: float, high: float) -> PlanLoss:
    return PlanLoss(plan, BEST, mean, low, high, 1e-6, 1e-6)


def choice(*losses: PlanLoss, figure: str = "nll", budget: int = 15) -> PlanChoice:
    of_best = PlanEstimate(0.0712, 0.065, 0.078) if figure == "nll" else PlanEstimate(0.9812, 0.97, 0.99)
    second = losses[0] if losses else None
    sure = RequiredSampleSize(40_000, 12, 2.3) if second else None
    return PlanChoice(figure, budget, BEST, of_best, second, sure, 1 + len(losses), losses)


def test_the_best_plan_is_one_line_with_its_figure_and_interval() -> None:
    assert words.describe_best_plan(choice(), 10_000) == (
        "Best: 3 members for 5 epochs, NLL 0.0712 (0.0650 to 0.0780)."
    )
    assert words.describe_best_plan(choice(figure="accuracy"), 10_000) == (
        "Best: 3 members for 5 epochs, Accuracy 98.12 % (97.00 to 99.00 %)."
    )


def test_what_else_may_be_the_best_is_counted_and_never_called_the_same() -> None:
    both = loss(DEAR, 0.1, 0.05, 0.2), loss(CHEAP, 0.001, -0.001, 0.003)
    said = words.describe_plan_evidence(choice(*both), COSTS, "validation")
    assert said == (
        "Of the 3 plans within the budget, the best is one of 2 (95 %). The cheapest of these is 2 "
        "members for 4 epochs (480,000 img·member, about 1 min 20 s): worse by 0.0010 nats (95 %: "
        "−0.0010 to 0.0030), which may be chance. The best is chosen on the validation images, not "
        "on the test images."
    )
    second = words.describe_other_plans(choice(*reversed(both)), COSTS)  # what it loses is said of the second
    assert second.endswith("2 members for 4 epochs (480,000 img·member, about 1 min 20 s).")
    alone = choice(loss(CHEAP, 0.1, 0.05, 0.2), loss(DEAR, 0.1, 0.05, 0.2))
    assert words.describe_other_plans(alone, COSTS) == (
        "Of the 3 plans within the budget, this one is the best (95 %)."
    )
    dear = choice(loss(EnsemblePlan(2, 9), 0.01, -1, 1))
    assert words.describe_other_plans(dear, COSTS).endswith("one of 2 (95 %); none of these costs less.")
    assert words.describe_other_plans(choice(), COSTS) == "The budget is too small for any other plan."


def test_what_half_the_cost_would_have_come_to_is_one_line() -> None:
    whole = choice(budget=80)
    line = words.describe_half_budget(whole, loss(CHEAP, 0.001, -0.001, 0.003))
    assert line == ("For half the cost: 2 members for 4 epochs, worse by 0.0010 nats (−0.0010 to 0.0030).")
    assert len(line) <= 90
    assert words.describe_half_budget(whole, loss(BEST, 0, 0, 0)).endswith("the best plan of all.")
    assert words.describe_half_budget(whole, None).startswith("Half of the cost is less than one epoch")


def test_a_loss_is_said_from_the_side_that_it_is_on() -> None:
    assert words.describe_plan_loss("nll", loss(CHEAP, 0.002, 0.0004, 0.0036)) == (
        "worse by 0.0020 nats (95 %: 0.00040 to 0.0036)"
    )
    assert words.describe_plan_loss("nll", loss(CHEAP, -0.002, -0.005, 0.001)) == (
        "better by 0.0020 nats (95 %: −0.0010 to 0.0050), which may be chance"
    )
    assert words.describe_plan_loss("accuracy", loss(CHEAP, 0.0, -0.01, 0.01)) == (
        "level with it (95 %: −1.0 to 1.0 points)"
    )


@pytest.mark.parametrize(
    ("sure", "said"),
    [
        (
            RequiredSampleSize(40_000, 12, 2.3),
            "takes about 40,000 test images or about 4.0 more members (3,600,000 img·member, about 10 min).",
        ),
        (RequiredSampleSize(40_000, None, 2.3), "takes about 40,000 test images."),
        (RequiredSampleSize(None, None, 2.3), "takes about 2.3 times as many images and members."),
        (
            RequiredSampleSize(None, None, None),
            "They do not differ on these images, so the effort to tell them apart is unknown.",
        ),
    ],
)
def test_what_it_would_take_to_be_sure_has_its_price(sure: RequiredSampleSize, said: str) -> None:
    assert words.describe_required_effort(sure, COSTS, 10_000, 8, 15).endswith(said)
    second = loss(DEAR, 0.002, -0.001, 0.005)
    assert words.describe_runner_up(replace(choice(second), sample_size=sure), COSTS, 10_000, 8).endswith(said)


def test_a_difference_that_is_shown_needs_no_more() -> None:
    said = words.describe_runner_up(choice(loss(DEAR, 0.002, 0.001, 0.003)), COSTS, 10_000, 8)
    assert said == ("Second: 1 member for 15 epochs, worse by 0.0020 nats (95 %: 0.0010 to 0.0030).")
    assert words.describe_runner_up(choice(), COSTS, 10_000, 8) == ""


def test_two_plans_are_answered_with_the_better_or_with_neither() -> None:
    sure = RequiredSampleSize(None, None, 2.0)
    shown = PlanComparison("nll", loss(DEAR, 0.01, 0.005, 0.015), 0.08, 0.07, sure, 10_000, 8)
    assert words.describe_two_plans(shown, "one", "three") == "Better: three, NLL 0.0700 against 0.0800."
    open_ = replace(shown, loss=loss(DEAR, 0.01, -0.005, 0.015))
    assert words.describe_two_plans(open_, "one", "three") == ("No difference shown: one NLL 0.0800, three 0.0700.")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (MemberEquivalent(1.7, 1.4, 2.1, 8), "1.7 independent members (95 %: 1.4 to 2.1)"),
        (MemberEquivalent(6.0, 4.2, math.inf, 8), "6.0 independent members (95 %: 4.2 to more than 8)"),
        (MemberEquivalent(math.inf, math.inf, math.inf, 8), "more than 8 independent members"),
        (MemberEquivalent(0, 0, 0, 8), "less than one independent member"),
        (MemberEquivalent(0, 0, 1.3, 8), "less than one independent member (95 %: less than 1 to 1.3)"),
    ],
)
def test_what_predictions_are_worth_is_said_up_to_what_is_known(found: MemberEquivalent, said: str) -> None:
    assert words.format_member_equivalent(found) == said


def test_every_caution_has_a_sentence() -> None:
    for said in words.CAUTIONS.values():
        assert said[0].isupper()
        assert said.endswith(".")
