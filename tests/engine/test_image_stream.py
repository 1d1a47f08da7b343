"""Images that are streamed: the same bits as where all lie on the devices."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from ensemble.engine.forms import image_stream
from ensemble.engine.forms.image_stream import ImageRows, ImageStream, exceeds_device_memory
from ensemble.errors import ConfigError
from ensemble.machine.resident_images import RESIDENT_VARIABLE
from tests.conftest import variant
from tests.engine.conftest import devices, small_config, train_epochs

LOGISTIC = {"network": "logistic"}
CASES = [
    ({**LOGISTIC, "validation": 0.25}, "looped"),
    ({**LOGISTIC, "shuffle_per_member": True}, "looped"),
    ({**LOGISTIC, "shuffle_per_member": True}, "stepwise"),
    variant(LOGISTIC, "stepwise"),
    variant({}, "looped"),
    variant({"shuffle_per_member": True}, "looped"),
    variant({"shift_pixels": 1}, "looped"),
    variant({"shift_pixels": 1}, "stepwise"),
    variant({"network": "mlp"}, "looped"),
]


@pytest.fixture
def mapped(few: Dataset, tmp_path: Path) -> Dataset:
    """The same images, as a memory map."""
    np.save(tmp_path / "train.npy", few.train_images)
    return replace(few, train_images=np.load(tmp_path / "train.npy", mmap_mode="r"))


@pytest.mark.parametrize(("settings", "execution"), CASES)
def test_streamed_images_teach_to_the_same_bits(
    few: Dataset, mapped: Dataset, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], execution: str
) -> None:
    config = small_config(**settings)
    form = "stepwise" if execution == "stepwise" else None
    found = []
    for dataset, gigabytes in ((few, ""), (mapped, "0.00001")):
        monkeypatch.setenv(RESIDENT_VARIABLE, gigabytes)
        monkeypatch.setattr(image_stream, "WINDOW_BYTES", 2 * 16 * 28 * 28)
        trainer = Trainer(config, dataset, devices(2), execution=form)
        assert bool(vars(trainer._execution)["_stream"]) == bool(gigabytes)
        losses, state = train_epochs(trainer, 2)
        evaluation = trainer.evaluate(state)
        assert evaluation is not None
        held = trainer.validate(state) if config.validation else evaluation
        assert held is not None
        found.append((losses, trainer.get(state), evaluation.probabilities, held.loss))
    assert jax.tree.all(jax.tree.map(np.array_equal, *found))


def test_windows_hold_the_images_of_their_steps_and_the_next_is_read_ahead() -> None:
    draw = np.random.default_rng(0)
    images, labels = np.arange(40, dtype=np.uint8).reshape(40, 1, 1, 1), np.arange(40) % 7
    rows = np.flatnonzero(np.arange(40) % 4)  # every fourth is held out
    order = draw.integers(0, 30, (3, 8, 2)).astype(np.int32)
    stream = ImageStream(
        ImageRows(images, rows), labels[rows].astype(np.int32), (), batch_size=2, has_member_batches=True, members=3
    )
    assert stream.limit_steps(3) == 3
    for start, count in ((0, 3), (3, 3), (6, 2), (2, 1)):
        window = stream.load_window(order, start, count)
        assert len(window.images) == 3 * 3 * 2, "one shape, whatever is asked for"
        for member in range(3):
            for step in range(start, start + count):
                places = window.order[member, step]
                wanted = rows[order[member, step]]
                assert window.images[places, 0, 0, 0].tolist() == wanted.tolist()
                assert window.labels[places].tolist() == labels[wanted].tolist()
        if start + count < 8 and count == 3:
            assert stream._ahead is not None
            assert stream._ahead[0].start == start + count


def test_the_steps_of_a_window_fit_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    images = ImageRows(np.zeros((40, 1, 1, 1), np.uint8), np.arange(40))
    for room, steps in ((5, 1), (3 * 6 + 5, 3), (60, 7)):  # a step of three members takes six bytes
        monkeypatch.setattr(image_stream, "WINDOW_BYTES", room)
        labels = np.zeros(40, np.int32)
        stream = ImageStream(images, labels, (), batch_size=2, has_member_batches=True, members=3)
        assert stream.limit_steps(7) == steps


def test_what_a_device_holds_is_a_number_above_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    (device,) = devices(1)
    monkeypatch.delenv(RESIDENT_VARIABLE, raising=False)
    assert not exceeds_device_memory(10**6, 8, device)
    assert exceeds_device_memory(10**15, 1, device)
    monkeypatch.setenv(RESIDENT_VARIABLE, "0.5")
    assert exceeds_device_memory(500_000_001, 1, device)
    assert not exceeds_device_memory(500_000_000, 8, device), "of each device"
    for wrong in ("0", "-1", "much", "nan"):
        monkeypatch.setenv(RESIDENT_VARIABLE, wrong)
        with pytest.raises(ConfigError, match="such as 8, or unset it"):
            exceeds_device_memory(1, 1, device)
