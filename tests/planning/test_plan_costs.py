"""What plans cost, what to bear in mind of them, and two of them against each other."""

from dataclasses import replace

import pytest

from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.planning.plan_cautions import list_plan_cautions
from ensemble.planning.plan_costs import PlanCosts, estimate_plan_costs
from ensemble.planning.plan_grids import load_plan_grids
from tests.pages.ensembles import trained


def test_a_pass_takes_whole_batches_of_what_is_learnt_from() -> None:
    run = trained(members=2, epochs=2, validation=0.2)
    learnt = 1297 - round(0.2 * 1297)
    costs = estimate_plan_costs(run)
    assert costs.images == learnt // 128 * 128
    assert costs.training_work(EnsemblePlan(3, 5)) == 15 * costs.images
    # 20 steps of 128 images by 2 members in 80 seconds
    assert costs.rate == pytest.approx(20 * 128 * 2 / 80)
    assert costs.training_seconds(EnsemblePlan(3, 5)) == pytest.approx(15 * costs.images / 64)


def test_a_budget_pays_for_whole_passes() -> None:
    costs = PlanCosts(images=1000, rate=500.0)
    assert costs.affordable_passes(work=2999) == 2
    assert costs.affordable_passes(seconds=6.0) == 3
    assert costs.affordable_passes(work=costs.training_work(EnsemblePlan(3, 5))) == 15
    for plan in (EnsemblePlan(1, 1), EnsemblePlan(7, 3)):
        assert costs.affordable_passes(seconds=costs.training_seconds(plan)) == plan.cost


def test_a_budget_in_the_seconds_that_a_plan_takes_pays_for_all_of_it() -> None:
    """Work, over the rate, times the rate: of the last pass not a bit may be lost on the way."""
    for rate in (64.1, 77.7, 6_543.21):
        costs = PlanCosts(images=1_152, rate=rate)
        for cost in range(2, 500):
            assert costs.affordable_passes(seconds=costs.training_seconds(EnsemblePlan(cost, 1))) == cost
            assert costs.affordable_passes(work=costs.training_work(EnsemblePlan(cost, 1)) - 0.01) == cost - 1
    assert PlanCosts(1_000, None).affordable_passes(work=1e300) == 10**9, "a budget without an end"


@pytest.mark.parametrize(
    ("costs", "budget", "said"),
    [
        (PlanCosts(1000, 500.0), {"work": 0.0}, "above 0"),
        (PlanCosts(1000, 500.0), {"seconds": float("nan")}, "above 0"),
        (PlanCosts(1000, None), {"seconds": 5.0}, "how fast it trained"),
        (PlanCosts(1000, 500.0), {"work": 999.0}, "at least 1,000 images times members or 2 seconds"),
    ],
)
def test_a_budget_that_buys_nothing_is_refused(costs: PlanCosts, budget: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        costs.affordable_passes(**budget)


def test_what_changes_the_meaning_of_the_map_is_named() -> None:
    run = trained(members=2, epochs=2, validation=0.2)
    maps = load_plan_grids(run)

    def cautions(**settings: object) -> tuple[str, ...]:
        config = replace(EnsembleConfig(members=2, epochs=2, validation=0.2), **settings)
        return list_plan_cautions(replace(run, config=config), maps, EnsemblePlan(2, 1))

    assert cautions() == ()
    assert cautions(schedule="cosine") == ("schedule",)
    assert cautions(warmup_epochs=1.0) == ("warm-up",)
    assert cautions(vary="learning_rate=0.01,0.1") == ("varied",)
    assert cautions(flip=True) == cautions(shift_pixels=2) == ("augmentation",)
    assert cautions(elastic_pixels=1.0) == cautions(photo_effects=0.5) == ("augmentation",)
    assert cautions(patience=1, epochs=9) == ("stopped early",)
    assert cautions(patience=1) == ()


def test_a_map_is_thinned_where_epochs_are_in_it_neither_nor_known_to_be_left_out() -> None:
    run = trained(members=2, epochs=2)
    maps = load_plan_grids(run)
    for kept, left_out, thinned in ((2, 0, False), (3, 1, False), (3, 0, True), (4, 1, True)):
        seen = replace(maps, kept_epochs=kept, left_out=("It is damaged.",) * left_out)
        assert list_plan_cautions(run, seen, EnsemblePlan(2, 1)) == (("thinned",) if thinned else ())
