"""Probabilities on the devices take no more room than is set apart for them."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.forms import looped_execution, stepwise_execution
from ensemble.engine.forms.image_stream import ImageRows
from tests.engine.conftest import devices, small_config

STEP_BYTES = 3 * 16 * 10 * 4  # three members, 16 images, ten classes, float32


def trainer(few: Dataset, form: str) -> Trainer:
    """96 images make an epoch of six steps."""
    return Trainer(small_config(network="logistic"), few, devices(1), execution=form)


@pytest.mark.parametrize(
    ("form", "module", "name"),
    [("scan", looped_execution, "STEP_BUFFER_BYTES"), ("stepwise", stepwise_execution, "PROBABILITY_BUFFER_BYTES")],
    ids=["scan", "stepwise"],
)
def test_the_steps_of_a_call_fit_the_buffer(
    few: Dataset, monkeypatch: pytest.MonkeyPatch, form: str, module: ModuleType, name: str
) -> None:
    for room, steps in ((100, 1), (3 * STEP_BYTES + 100, 3), (100 * STEP_BYTES, 6)):
        monkeypatch.setattr(module, name, room)
        assert trainer(few, form)._execution.max_steps_per_call == steps


def test_evaluation_shares_fit_the_buffer(few: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looped_execution, "EVALUATION_BLOCK_SIZE", 16)
    monkeypatch.setattr(looped_execution, "PROBABILITY_BUFFER_BYTES", 2 * STEP_BYTES + 100)
    judged: Any = trainer(few, "scan")._execution.load_evaluation_data(few.test_images, few.test_labels)
    assert [len(labels) for _, labels in judged.shares] == [32, 32, 6]


def test_evaluation_shares_of_streamed_images_fit_the_window(few: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looped_execution, "EVALUATION_BLOCK_SIZE", 16)
    monkeypatch.setattr(looped_execution, "WINDOW_BYTES", 2 * 16 * 28 * 28 + 100)
    images, execution = ImageRows(few.test_images, np.arange(70)), trainer(few, "scan")._execution
    judged: Any = execution.load_evaluation_data(images, few.test_labels)
    assert [len(labels) for _, labels in judged.shares] == [32, 32, 6]


def test_blocks_in_flight_fit_the_buffer(few: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise_execution, "EVALUATION_CALL_SIZE", 16)
    monkeypatch.setattr(stepwise_execution, "PROBABILITY_BUFFER_BYTES", 2 * STEP_BYTES + 100)
    monkeypatch.setattr(CallPacer, "choose_units", lambda self, left: left)
    execution: Any = trainer(few, "stepwise")._execution
    calls: list[str] = []

    def collect(lanes: object) -> list[np.ndarray]:
        calls.append("collected")
        return [np.full((3, 16 if calls.count("collected") < 5 else 6, 10), np.log(0.1), np.float32)]

    monkeypatch.setattr(execution, "_predict_lanes", lambda state, block: calls.append("asked"))
    monkeypatch.setattr(execution, "_collect_blocks", collect)
    execution.evaluate([], execution.load_evaluation_data(few.test_images, few.test_labels), lambda: False)
    two = ["asked", "asked", "collected", "collected"]
    assert calls == [*two, *two, "asked", "collected"]
