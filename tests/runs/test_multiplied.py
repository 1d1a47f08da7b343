"""A run in bfloat16 keeps how it multiplies, and goes on so."""

from typing import Any

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.machine import bfloat16_plans
from ensemble.machine.bfloat16_plans import Bfloat16Methods
from ensemble.runs.training import session
from ensemble.storage.atomic_files import read_json, write_json

CONFIG = EnsembleConfig(width=4, members=1, epochs=2, batch_size=512, precision="bfloat16")


@pytest.mark.long
def test_a_run_goes_on_multiplying_as_it_began(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    # What measuring would keep; that it measures where there is none: tests/engine/test_plan.py.
    bfloat16_plans.save_bfloat16_plan(
        bfloat16_plans.PlanKey("cnn", 4, (28, 28, 1)), bfloat16_plans.Bfloat16Plan("bfloat16", "bfloat16", 1.2)
    )
    had: list[Bfloat16Methods | None] = []

    class Watched(Trainer):
        def __init__(self, *asked: Any, products: Bfloat16Methods | None = None, **more: Any) -> None:
            had.append(products)
            super().__init__(*asked, products=products, **more)

    monkeypatch.setattr(session, "Trainer", Watched)
    made = runs.create_run(CONFIG)
    asked: list[runs.Status] = []

    def stop_once(status: runs.Status) -> None:
        if status.state == "training" and not asked:
            asked.append(status)
            runs.request_run_stop(made.id)

    run = runs.execute_run(made.id, stop_once, synchronous=True)
    assert run.state == "stopped"
    written = read_json(run.path / "devices.json")
    assert had == [None]  # It was as planned, and stands in its folder.
    began = Bfloat16Methods(**written["products"])
    # Another plan than this machine's: it would not be had but from the run's own folder.
    other = Bfloat16Methods("rounded" if began.convolutions != "rounded" else "bfloat16", began.dense)
    written["products"]["convolutions"] = other.convolutions
    write_json(run.path / "devices.json", written)
    runs.requeue_run(run.id)
    run = runs.execute_run(run.id)
    assert run.state == "finished"
    assert had == [None, other]
    assert read_json(run.path / "devices.json")["products"]["convolutions"] == other.convolutions


@pytest.mark.parametrize("products", [None, {}, {"convolutions": "fast", "dense": "rounded"}])
def test_a_run_of_an_earlier_version_has_none(tmp_path, monkeypatch, products):
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path))
    run = runs.create_run(CONFIG)
    write_json(run.path / "devices.json", {"used": 2, "products": products})
    assert session._load_product_plan(run) is None
