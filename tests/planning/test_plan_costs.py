"""What plans cost, and what limits their map."""

from dataclasses import replace

import pytest

from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.config import EnsembleConfig
from ensemble.planning.plan_cautions import list_plan_cautions
from ensemble.planning.plan_costs import estimate_plan_costs
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
