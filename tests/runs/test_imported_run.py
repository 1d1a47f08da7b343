"""Runs made of predictions from elsewhere: what they say, and what they refuse."""

import json

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import DatasetEntry
from ensemble.errors import RunError
from ensemble.runs.test_set import LABELS_FILE
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import write_json
from tests.analysis.draws import distributions

NAMES = ("ant", "bee", "cat")


def entry(size: int, shape: tuple[int, int, int] = (8, 6, 3)) -> DatasetEntry:
    return DatasetEntry(
        name="imported",
        title="Insects",
        train_size=0,
        test_size=size,
        class_names=NAMES,
        source="by hand",
        most_frequent=size // 2,
        handwritten=False,
        image_shape=shape,
        own=True,
        noun="insect",
    )


def imported(size: int = 40, epochs: int = 2, images: bool = True) -> runs.Run:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, size)
    said = [distributions(2, size, 3, seed=epoch) for epoch in range(epochs)]
    pictures = rng.integers(0, 256, (size, 8, 6, 3), np.uint8) if images else None
    return runs.create_imported_run(said, labels, entry(size), name="mine", images=pictures)


def test_its_figures_are_those_of_its_predictions() -> None:
    run = imported()
    assert run.state == "imported"
    assert run.name == "mine"
    assert run.training_config is None
    assert (run.config.members, run.config.epochs) == (2, 2)
    labels = runs.load_test_set(run).labels
    for line in runs.read_history(run.id):
        said = runs.read_run_predictions(run.id, line["epoch"])
        made = evaluate_predictions(said, labels)
        assert line["ensemble_test_accuracy"] == pytest.approx(made.right.mean(), abs=1e-12)
        chosen = said[:, np.arange(len(labels)), labels].astype(float)
        assert line["test_loss"] == pytest.approx((-np.log(chosen)).mean(axis=1), abs=1e-9)
        nll = -np.log(made.averaged[np.arange(len(labels)), labels]).mean()
        assert line["ensemble_test_nll"] == pytest.approx(nll, abs=1e-9)
    assert run.status.ensemble_test_nll == line["ensemble_test_nll"]


def test_its_images_and_what_they_are_come_back() -> None:
    run = imported()
    brought = runs.load_test_set(run)
    assert brought.images is not None
    assert brought.images.shape == (40, 8, 6, 3)
    assert (brought.class_names, brought.noun, brought.title) == (NAMES, "insect", "Insects")
    without = runs.load_test_set(imported(images=False))
    assert without.images is None
    assert without.tiles.shape == (40, 28, 28, 1)


def test_labels_imported_with_a_run_take_precedence_over_those_of_its_dataset() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    own = runs.load_test_set(run)
    write_arrays(run.path / LABELS_FILE, {"labels": own.labels})
    assert runs.load_test_set(run).images is own.images, "they are the same: so are the images"
    write_arrays(run.path / LABELS_FILE, {"labels": own.labels[::-1].copy()})
    brought = runs.load_test_set(run)
    np.testing.assert_array_equal(brought.labels, own.labels[::-1])
    assert brought.images is None, "those of the dataset have other labels"


def test_what_needs_its_members_is_refused_in_a_sentence() -> None:
    run = imported()
    assert runs.list_member_epochs(run.id) == ()
    with pytest.raises(RunError, match="trained elsewhere"):
        runs.open_members(run.id)
    with pytest.raises(RunError, match="it was trained elsewhere"):
        runs.resume_run(run.id)


def test_one_that_was_tampered_with_is_refused_in_a_sentence() -> None:
    run = imported()
    (run.path / LABELS_FILE).write_bytes(b"nothing")
    with pytest.raises(RunError, match="import it again"):
        runs.load_test_set(run)
    config = json.loads((run.path / "config.json").read_text())
    config["dataset"]["class_names"] = ["one"]
    write_json(run.path / "config.json", config)
    with pytest.raises(RunError, match="1 classes are not 2 to 2,000"):
        runs.find_run(run.id)
