"""The predictions that later choices are made on: those of the images held out."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import RunError
from ensemble.runs.history import write_predictions
from ensemble.ui.predictions import loader
from tests.analysis.draws import distributions


def test_they_are_judged_by_the_labels_of_the_images_held_out() -> None:
    config = EnsembleConfig(members=2, validation=0.1, seed=3)
    run = runs.create_run(config)
    made = distributions(2, 130, 10, seed=1).astype(np.float32)
    write_predictions(run.path, 1, made, "validation")
    found = loader.load_validation_predictions(run, 1)
    assert found is not None
    data = datasets.load_dataset("digits")
    held = select_validation_indices(config, data)
    np.testing.assert_array_equal(found.labels, data.train_labels[held])
    np.testing.assert_array_equal(found.probabilities, made)
    # What is written anew is read anew.
    write_predictions(run.path, 1, made[:, ::-1], "validation")
    again = loader.load_validation_predictions(run, 1)
    assert again is not None
    np.testing.assert_array_equal(again.probabilities, made[:, ::-1])


def test_there_are_none_without_validation_and_a_missing_epoch_is_said() -> None:
    assert loader.load_validation_predictions(runs.create_run(EnsembleConfig()), 1) is None
    run = runs.create_run(replace(EnsembleConfig(), validation=0.1))
    with pytest.raises(RunError, match="has no validation predictions of epoch 4"):
        loader.load_validation_predictions(run, 4)
