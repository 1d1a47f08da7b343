"""How bfloat16 is multiplied: measured, kept, and the same when a run goes on."""

import json

import numpy as np
import pytest

from ensemble.engine import Trainer
from ensemble.engine.forms import plan
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.registry import bind
from ensemble.machine import product_plans
from ensemble.machine.processor import processor
from ensemble.machine.product_plans import CONVOLUTIONS, DENSE, Plan, Products, Purpose
from ensemble.storage.folders import data_folder
from tests.engine.conftest import devices, small_config

SMALL = bind("cnn", (12, 12, 1), 3, 4)
PURPOSE = Purpose("cnn", 4, (12, 12, 1))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    return tmp_path


def test_what_is_measured_is_kept_and_not_measured_again(own_folder, monkeypatch):
    # One of the ways beside float32: what each of them computes is tested where it is defined.
    monkeypatch.setattr(plan, "CONVOLUTIONS", CONVOLUTIONS[:1])
    monkeypatch.setattr(plan, "DENSE", DENSE[:1])
    monkeypatch.setattr(plan, "IMAGES", 8)  # However long it takes, somebody is the quickest.
    monkeypatch.setattr(plan, "TURNS", 2)
    assert product_plans.planned(PURPOSE) is None
    made = plan.plan_anew(SMALL)
    assert made.convolutions in CONVOLUTIONS
    assert made.dense in DENSE
    assert 0 < made.gain < 100
    assert product_plans.planned(PURPOSE) == made
    # Wider layers, other images, another network: each has its own.
    assert product_plans.planned(PURPOSE._replace(width=8)) is None
    if processor().fast_bfloat16:
        monkeypatch.setattr(plan, "measured", lambda network: pytest.fail("measured again"))
    assert plan.products_of(SMALL) == (
        made.products if processor().fast_bfloat16 else plan.EMULATED
    )


def test_the_quickest_way_is_taken_and_set_against_float32(monkeypatch):
    def took(ways, first, shapes):
        assert {"float32", "rounded"} <= set(ways)
        assert shapes[0][0] == plan.IMAGES
        return {name: {"float32": 3.0, "rounded": 2.0}.get(name, 2.5) for name in ways}

    monkeypatch.setattr(plan, "_seconds", took)
    assert plan.measured(SMALL) == Plan("rounded", "rounded", 1.5)


@pytest.mark.parametrize(
    "damaged",
    [
        "{}",
        "no JSON",
        '{"convolutions": "float64", "dense": "rounded", "gain": 1.5}',
        '{"convolutions": "rounded", "dense": "rounded", "gain": "fast"}',
    ],
)
def test_a_plan_that_cannot_be_read_is_none(own_folder, damaged):
    product_plans.keep(PURPOSE, Plan("rounded", "rounded", 1.5))
    [file] = (data_folder() / "plans").iterdir()
    assert json.loads(file.read_text())["made_for"]["processor"] == processor().name
    file.write_text(damaged)
    assert product_plans.planned(PURPOSE) is None


def test_only_bfloat16_in_a_tower_has_a_choice(few):
    asked, had = small_config(precision="bfloat16"), Products("bfloat16", "rounded")
    assert plan.arithmetic_of(asked, "tower", SMALL, had) == (
        Arithmetic("tower", "bfloat16", "rounded")
    )
    assert plan.arithmetic_of(asked, "grouped", SMALL, had) == Arithmetic("grouped", "bfloat16")
    assert plan.arithmetic_of(small_config(), "tower", SMALL, had) == Arithmetic("tower")


@pytest.mark.variant
def test_the_same_products_give_the_same_bits_and_others_do_not(few):
    def loss(products):
        config = small_config(precision="bfloat16", members=1)
        made = Trainer(config, few, devices(1), products=products)
        return made.train(made.start(), 1, 0, 2)[1].loss

    once, again = (loss(Products("bfloat16", "bfloat16")) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, loss(Products("bfloat16_winograd", "bfloat16")))


def test_bfloat16_is_called_faster_only_beyond_a_measurements_error():
    assert Plan("bfloat16", "bfloat16", 1.2).faster
    assert not Plan("bfloat16", "bfloat16", 1.01).faster
    assert not Plan("rounded", "rounded", 0.9).faster
