"""How bfloat16 is multiplied: measured, kept, and the same when a run goes on."""

import json

import numpy as np
import pytest

from ensemble.engine import Trainer
from ensemble.engine.forms import bfloat16_planning
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.registry import bind_network
from ensemble.machine import bfloat16_plans
from ensemble.machine.bfloat16_plans import CONVOLUTION_METHODS, DENSE_METHODS, Bfloat16Methods, Bfloat16Plan, PlanKey
from ensemble.machine.processor import detect_processor
from ensemble.storage.folders import data_folder
from tests.engine.conftest import devices, small_config

SMALL = bind_network("cnn", (12, 12, 1), 3, 4)
PURPOSE = PlanKey("cnn", 4, (12, 12, 1))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.long
def test_what_is_measured_is_kept_and_not_measured_again(own_folder, monkeypatch):
    # One of the ways beside float32: what each of them computes is tested where it is defined.
    monkeypatch.setattr(bfloat16_planning, "CONVOLUTION_METHODS", CONVOLUTION_METHODS[:1])
    monkeypatch.setattr(bfloat16_planning, "DENSE_METHODS", DENSE_METHODS[:1])
    monkeypatch.setattr(bfloat16_planning, "TRIAL_IMAGES", 8)  # However long it takes, somebody is the quickest.
    monkeypatch.setattr(bfloat16_planning, "TRIAL_TURNS", 2)
    assert bfloat16_plans.load_bfloat16_plan(PURPOSE) is None
    made = bfloat16_planning.remeasure_bfloat16_plan(SMALL)
    assert made.convolutions in CONVOLUTION_METHODS
    assert made.dense in DENSE_METHODS
    assert 0 < made.gain < 100
    assert bfloat16_plans.load_bfloat16_plan(PURPOSE) == made
    # Wider layers, other images, another network: each has its own.
    assert bfloat16_plans.load_bfloat16_plan(PURPOSE._replace(width=8)) is None
    if detect_processor().fast_bfloat16:
        monkeypatch.setattr(bfloat16_planning, "measure_bfloat16_plan", lambda network: pytest.fail("measured again"))
    assert bfloat16_planning.choose_bfloat16_methods(SMALL) == (
        made.methods if detect_processor().fast_bfloat16 else bfloat16_planning.EMULATED_METHODS
    )


def test_the_quickest_way_is_taken_and_set_against_float32(monkeypatch):
    def took(ways, first, shapes):
        assert {"float32", "rounded"} <= set(ways)
        assert shapes[0][0] == bfloat16_planning.TRIAL_IMAGES
        return {name: {"float32": 3.0, "rounded": 2.0}.get(name, 2.5) for name in ways}

    monkeypatch.setattr(bfloat16_planning, "_time_methods", took)
    assert bfloat16_planning.measure_bfloat16_plan(SMALL) == Bfloat16Plan("rounded", "rounded", 1.5)


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
    bfloat16_plans.save_bfloat16_plan(PURPOSE, Bfloat16Plan("rounded", "rounded", 1.5))
    [file] = (data_folder() / "plans").iterdir()
    assert json.loads(file.read_text())["made_for"]["processor"] == detect_processor().name
    file.write_text(damaged)
    assert bfloat16_plans.load_bfloat16_plan(PURPOSE) is None


def test_only_bfloat16_in_a_tower_has_a_choice(few):
    asked, had = small_config(precision="bfloat16"), Bfloat16Methods("bfloat16", "rounded")
    assert bfloat16_planning.choose_arithmetic(asked, "tower", SMALL, had) == (
        Arithmetic("tower", "bfloat16", "rounded")
    )
    assert bfloat16_planning.choose_arithmetic(asked, "grouped", SMALL, had) == Arithmetic("grouped", "bfloat16")
    assert bfloat16_planning.choose_arithmetic(small_config(), "tower", SMALL, had) == Arithmetic("tower")


@pytest.mark.variant
def test_the_same_products_give_the_same_bits_and_others_do_not(few):
    def loss(products):
        config = small_config(precision="bfloat16", members=1)
        made = Trainer(config, few, devices(1), products=products)
        return made.train(made.start(), 1, 0, 2)[1].loss

    once, again = (loss(Bfloat16Methods("bfloat16", "bfloat16")) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, loss(Bfloat16Methods("bfloat16_winograd", "bfloat16")))


def test_bfloat16_is_called_faster_only_beyond_a_measurements_error():
    assert Bfloat16Plan("bfloat16", "bfloat16", 1.2).is_faster
    assert not Bfloat16Plan("bfloat16", "bfloat16", 1.01).is_faster
    assert not Bfloat16Plan("rounded", "rounded", 0.9).is_faster
