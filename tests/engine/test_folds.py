"""Members that leave folds out: no number of their fold ever comes to a device."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.datasets.partition.folds import NO_FOLD, assign_folds
from ensemble.engine import Trainer
from ensemble.engine.forms.execution import EpochInputs
from ensemble.errors import ConfigError
from tests.conftest import variant
from tests.engine.conftest import devices, train_epochs

CONFIG = EnsembleConfig(network="logistic", members=5, folds=3, batch_size=16, epochs=2, learning_rate=0.05, seed=3)


@pytest.mark.parametrize(
    ("form", "bootstrap"), [("looped", False), ("stepwise", True), variant("looped", True), variant("stepwise", False)]
)
def test_a_member_is_never_given_an_image_of_its_fold(
    few: Dataset, monkeypatch: pytest.MonkeyPatch, form: str, bootstrap: bool
) -> None:
    config = replace(CONFIG, validation=0.25, bootstrap=bootstrap)
    trainer = Trainer(config, few, devices(2), None if form == "looped" else form)
    execution, given = trainer._execution, list[np.ndarray]()
    load_epoch = execution.load_epoch

    def record_epoch(epoch: EpochInputs) -> Any:
        given.append(epoch.order)
        return load_epoch(epoch)

    monkeypatch.setattr(execution, "load_epoch", record_epoch)
    folds = assign_folds(config, few)
    learnt = np.flatnonzero(folds != NO_FOLD)
    # What a number means there: the images that are on the devices.
    np.testing.assert_array_equal(vars(execution)["_work"].images, few.train_images[learnt])
    for epoch in (1, 2):
        trainer._epoch(epoch)  # all that `train` reads of an epoch
    assert len(given) == 2
    for order in given:
        for member in range(5):
            seen = learnt[order[member]]
            assert (folds[seen] != member % 3).all()
            assert (folds[seen] != NO_FOLD).all()
            if not bootstrap:
                assert len(np.unique(seen)) == seen.size
    assert not np.array_equal(given[0][0], given[0][3])  # of one fold, in orders of their own


@pytest.mark.parametrize("count", [2, variant(1), variant(8)])
def test_it_learns_what_one_learns_that_has_no_other_images(few: Dataset, count: int) -> None:
    """Against a trainer of the same member without folds, on the dataset without the fold."""
    losses, _ = train_epochs(Trainer(CONFIG, few, devices(count)), 2)
    folds = assign_folds(CONFIG, few)
    for fold in range(3):
        rest = folds != fold
        without = replace(few, train_images=few.train_images[rest], train_labels=few.train_labels[rest])
        plain = replace(CONFIG, folds=0, shuffle_per_member=True)
        wanted, _ = train_epochs(Trainer(plain, without, devices(count)), 2)
        np.testing.assert_allclose(losses[:, :, fold::3], wanted[:, :, fold::3], rtol=1e-4)


def test_a_batch_larger_than_what_a_member_sees_is_refused(few: Dataset) -> None:
    with pytest.raises(ConfigError, match="the 64 training images beside the 32 that each"):
        Trainer(replace(CONFIG, batch_size=65), few, devices(1))


def test_where_groups_stay_together_the_smaller_rest_comes_again(few: Dataset) -> None:
    groups = np.minimum(np.arange(96), 40)  # 56 of one, and 40 alone
    config, data = replace(CONFIG, batch_size=64), replace(few, train_groups=groups)
    order = Trainer(config, data, devices(1))._epoch(1)[0].order
    folds = assign_folds(config, data)
    large = int(folds[90])
    assert order.shape == (5, 1, 64)
    for member in range(5):
        seen = order[member].ravel()
        assert (folds[seen] != member % 3).all()
        assert len(np.unique(seen)) == (40 if member % 3 == large else 64)
