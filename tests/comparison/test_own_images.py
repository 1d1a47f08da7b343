"""A person's own test sets: labels alike, such as ten a class in order, are no same images."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.image_identity import have_same_images
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.own import custom_registry
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from tests.pages import own_images


def trained_on(name, skill=3.0):
    run = runs.create_run(EnsembleConfig(dataset=name, members=2, epochs=1))
    truth = datasets.load_dataset(name).test_labels
    logits = np.random.default_rng(len(name)).normal(size=(2, len(truth), 10))
    logits[:, np.arange(len(truth)), truth] += skill
    made = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    write_predictions(run.path, 1, made.astype(np.float32))
    write_status(run.path, replace(run.status, state="finished", epoch=1, step=1))
    return runs.find_run(run.id)


def added(name, shape=(16, 16, 3), turned=False):
    """A dataset of the same labels as any other of these, and of other pictures where turned."""
    own_images.add(name, shape)
    if turned:
        path = custom_registry.custom_datasets_folder() / name / "test_images.npy"
        np.save(path, 255 - np.load(path))
    return name


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))


def test_two_own_test_sets_with_equal_labels_and_other_pictures_are_not_paired():
    one, other = trained_on(added("leaves")), trained_on(added("petals", turned=True))
    truth = [datasets.load_dataset(run.config.dataset).test_labels for run in (one, other)]
    np.testing.assert_array_equal(*truth)
    found = build_comparison_table(group_runs([one, other]), one.id)
    assert [column.no_difference_reason for column in found.columns] == ["baseline", "other images"]
    assert found.warnings[0].startswith("Not all of these were tested on the same images")
    assert not have_same_images(one, other)


def test_the_same_pictures_under_another_name_or_at_another_size_are_paired():
    one, other, smaller = map(trained_on, [added("leaves"), added("petals"), added("buds", (12, 12, 1))])
    found = build_comparison_table(group_runs([one, other, smaller]), one.id)
    assert {column.no_difference_reason for column in found.columns} == {"baseline", ""}
    assert have_same_images(one, other)
    assert have_same_images(one, smaller)
    assert not found.warnings
