"""Which runs were tested on the same images."""

import pytest

from ensemble import runs
from ensemble.comparison.image_identity import fingerprint_images, have_same_images, load_image_labels
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from tests.comparison.drawn import imported, probabilities
from tests.comparison.drawn import labels as truth


def test_runs_on_one_dataset_and_predictions_of_its_images_are_on_the_same_ones():
    here, there = (runs.create_run(EnsembleConfig(members=2, seed=seed)) for seed in (0, 1))
    theirs = imported()
    assert have_same_images(here, there)
    assert have_same_images(here, theirs)
    assert load_image_labels(here) is load_image_labels(there)
    assert fingerprint_images(theirs) == runs.load_test_set(here).fingerprint


def test_labels_in_another_order_and_another_dataset_are_other_images():
    here = runs.create_run(EnsembleConfig(members=2))
    turned = runs.create_imported_run([probabilities(0, 2)], truth()[::-1], here.data)
    other = runs.create_run(EnsembleConfig(dataset="mnist", members=2))
    assert not have_same_images(here, turned)
    assert not have_same_images(here, other)


def test_labels_that_cannot_be_read_are_no_ground_to_compare_on():
    here, theirs = runs.create_run(EnsembleConfig(members=2)), imported()
    (theirs.path / "test_labels.npz").unlink()
    assert not have_same_images(here, theirs)
    with pytest.raises(RunError, match="cannot be read"):
        load_image_labels(theirs)
