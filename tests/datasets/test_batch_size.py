"""A batch is held against what a member learns from, as training counts it, without the images."""

from dataclasses import replace

import pytest

from ensemble.config import EnsembleConfig
from ensemble.datasets import load_dataset
from ensemble.datasets.partition.batch_size import check_batch_setting, check_batch_size
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import ConfigError


@pytest.mark.parametrize(("validation", "folds"), [(0.0, 0), (0.1, 0), (0.0, 4), (0.25, 3)])
def test_the_largest_batch_is_what_training_has(validation: float, folds: int) -> None:
    config = EnsembleConfig(validation=validation, folds=folds, members=4)
    dataset = load_dataset(config.dataset)
    learnt = len(dataset.train_labels) - len(select_validation_indices(config, dataset))
    largest = learnt - -(-learnt // folds) if folds else learnt
    check_batch_setting(replace(config, batch_size=largest))
    with pytest.raises(ConfigError, match=f"choose {largest:,} or fewer"):
        check_batch_setting(config, largest + 1)


def test_what_is_left_out_is_named() -> None:
    with pytest.raises(ConfigError) as refused:
        check_batch_size(80, learnt=90, held_out=10, folds=3)
    assert str(refused.value) == (
        "A batch of 80 is more than the 60 training images beside the 10 of validation beside the "
        "30 that each member leaves out: choose 60 or fewer."
    )


def test_a_dataset_that_is_not_fetched_yet_is_known() -> None:
    config = EnsembleConfig(dataset="mnist", validation=0.5, folds=2)
    check_batch_setting(config, 15_000)
    with pytest.raises(ConfigError, match="the 15,000 training images beside the 30,000 of"):
        check_batch_setting(config, 15_001)
