"""Sentences on members against epochs."""

from dataclasses import replace

import pytest

from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.planning.plan_losses import PlanEstimate, PlanLoss
from ensemble.analysis.planning.power import RequiredSampleSize
from ensemble.planning.plan_costs import PlanCosts
from ensemble.views import members_for_epochs as words

COSTS = PlanCosts(60_000, 6_000.0)
BEST, CHEAP, DEAR = EnsemblePlan(3, 5), EnsemblePlan(2, 4), EnsemblePlan(1, 15)


def loss(plan: EnsemblePlan, mean: float, low: float, high: float) -> PlanLoss:
    return PlanLoss(plan, BEST, mean, low, high, 1e-6, 1e-6)


def choice(*losses: PlanLoss, figure: str = "nll", budget: int = 15) -> PlanChoice:
    of_best = PlanEstimate(0.0712, 0.065, 0.078) if figure == "nll" else PlanEstimate(0.9812, 0.97, 0.99)
    second = losses[0] if losses else None
    sure = RequiredSampleSize(40_000, 12, 2.3) if second else None
    return PlanChoice(figure, budget, BEST, of_best, second, sure, 1 + len(losses), losses)


@pytest.mark.parametrize("chosen_on", ["validation", "test"])
def test_the_best_plan_names_the_images_that_chose_it(chosen_on: str) -> None:
    assert words.describe_best_plan(choice(), "50", chosen_on) == (
        f"Best on the {chosen_on} images for 50 % of this run's training cost: 3 members for 5 epochs."
    )


def test_the_score_of_the_best_plan_has_an_interval() -> None:
    assert words.describe_plan_evidence(choice(), COSTS, 10_000) == (
        "NLL 0.0712 (0.0650 to 0.0780) on the test images. The budget is too small for any other plan."
    )
    assert words.describe_plan_evidence(choice(figure="accuracy"), COSTS, 10_000).startswith(
        "Accuracy 98.12 % (97.00 to 99.00 %) on the test images."
    )


def test_plans_that_may_be_the_best_are_counted() -> None:
    both = loss(DEAR, 0.1, 0.05, 0.2), loss(CHEAP, 0.001, -0.001, 0.003)
    assert words.describe_plan_evidence(choice(*both), COSTS, 10_000).endswith(
        "2 of the 3 plans within the budget may be the best (95 %). The cheapest of these is 2 members for 4 epochs "
        "(480,000 img·member, about 1 min 20 s): worse by 0.0010 nats (95 %: −0.0010 to 0.0030), which may be chance."
    )
    runner_up = words.describe_plan_evidence(choice(*reversed(both)), COSTS, 10_000)
    assert runner_up.endswith("2 members for 4 epochs (480,000 img·member, about 1 min 20 s).")
    alone = choice(loss(CHEAP, 0.1, 0.05, 0.2), loss(DEAR, 0.1, 0.05, 0.2))
    assert words.describe_plan_evidence(alone, COSTS, 10_000).endswith(
        "It is the best of the 3 plans within the budget (95 %)."
    )
    expensive = choice(loss(EnsemblePlan(2, 9), 0.01, -1, 1))
    assert words.describe_plan_evidence(expensive, COSTS, 10_000).endswith("none of these costs less.")


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


def test_every_caution_has_a_sentence() -> None:
    for said in words.CAUTIONS.values():
        assert said[0].isupper()
        assert said.endswith(".")
