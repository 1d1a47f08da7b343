"""Which runs were tested on the same images."""

import pytest

from ensemble import runs
from ensemble.comparison.images import fingerprint, labels, same_images
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from tests.comparison.drawn import imported, probabilities
from tests.comparison.drawn import labels as truth


def test_runs_on_one_dataset_and_predictions_of_its_images_are_on_the_same_ones():
    here, there = (runs.create(EnsembleConfig(members=2, seed=seed)) for seed in (0, 1))
    theirs = imported()
    assert same_images(here, there)
    assert same_images(here, theirs)
    assert labels(here) is labels(there)
    assert fingerprint(theirs) == runs.test_set(here).fingerprint


def test_labels_in_another_order_and_another_dataset_are_other_images():
    here = runs.create(EnsembleConfig(members=2))
    turned = runs.create_imported([probabilities(0, 2)], truth()[::-1], here.data)
    other = runs.create(EnsembleConfig(dataset="mnist", members=2))
    assert not same_images(here, turned)
    assert not same_images(here, other)


def test_labels_that_cannot_be_read_are_no_ground_to_compare_on():
    here, theirs = runs.create(EnsembleConfig(members=2)), imported()
    (theirs.path / "test_labels.npz").unlink()
    assert not same_images(here, theirs)
    with pytest.raises(RunError, match="cannot be read"):
        labels(theirs)
