"""Folds of the training images: equal, stratified, of whole groups, drawn by the seed alone."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.datasets import load_dataset
from ensemble.datasets.partition.folds import (
    NO_FOLD,
    assign_folds,
    assign_row_folds,
    count_images_per_member,
    deal_groups,
    list_judging_members,
)
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import ConfigError

CONFIG = EnsembleConfig(members=5, folds=5, validation=0.1)
DIGITS = load_dataset("digits")


def test_folds_are_as_large_as_each_other_in_all_and_of_each_class() -> None:
    folds = assign_folds(CONFIG, DIGITS)
    counts = [np.bincount(DIGITS.train_labels[folds == fold]) for fold in range(5)]
    assert np.ptp(np.sum(counts, axis=1)) <= 1
    assert (np.ptp(counts, axis=0) <= 1).all()
    np.testing.assert_array_equal(np.flatnonzero(folds == NO_FOLD), select_validation_indices(CONFIG, DIGITS))
    largest = max(np.sum(counts, axis=1))
    assert count_images_per_member(1167, 5) == 1167 - largest
    assert count_images_per_member(1167, 0) == 1167


def test_the_draw_is_the_seeds_and_that_of_nothing_else() -> None:
    folds = assign_folds(CONFIG, DIGITS)
    others = replace(CONFIG, members=9, epochs=2, bootstrap=True, devices=3)
    np.testing.assert_array_equal(assign_folds(others, DIGITS), folds)
    other = assign_folds(replace(CONFIG, seed=1), DIGITS)
    assert 0.1 < (other == folds).mean() < 0.35  # a fifth, by chance


def test_groups_stay_together_in_folds_that_have_about_as_many_of_each_class() -> None:
    groups = np.random.default_rng(0).integers(0, 40, len(DIGITS.train_labels)) * 3
    data = replace(DIGITS, train_groups=groups)
    folds = assign_folds(replace(CONFIG, validation=0.0), data)
    assert all(len(np.unique(folds[groups == group])) == 1 for group in np.unique(groups))
    counts = np.array([np.bincount(DIGITS.train_labels[folds == fold]) for fold in range(5)])
    share = counts / counts.sum(axis=0)
    assert (abs(share - 0.2) < 0.06).all()


def test_members_that_remain_judge_the_fold_of_their_own_number() -> None:
    remaining = [0, 2, 3, 5]  # members 1 and 4 diverged
    assert [list_judging_members(remaining, fold, 2) for fold in range(2)] == [[0, 1], [2, 3]]


def test_what_nobody_could_judge_is_refused_with_what_to_do() -> None:
    few = np.arange(len(DIGITS.train_labels)) % 3
    with pytest.raises(ConfigError, match="of 3 groups, which stay together: choose at most 3"):
        assign_folds(CONFIG, replace(DIGITS, train_groups=few))
    words = np.arange(4, dtype=np.uint64)
    with pytest.raises(ConfigError, match="at most 2 folds"):
        deal_groups(np.zeros(4, np.int64), np.array([0, 0, 1, 1]), words, 3)
    labels = DIGITS.train_labels.copy()
    labels[labels == 7] = 8
    labels[5] = 7
    with pytest.raises(ConfigError, match="All training images of the class “7” are in one of 5"):
        assign_folds(replace(CONFIG, validation=0.0), replace(DIGITS, train_labels=labels))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"folds": 1}, "choose 2 or more, or 0 for none"),
        ({"folds": 6, "members": 5}, "choose at most 5 folds, or 6 members or more"),
        ({"folds": 2, "members": 1}, "needs two members or more"),
        ({"folds": 2, "teacher": "digits-1127-000000"}, "folds and teacher do not go together"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        EnsembleConfig(**settings)


@pytest.mark.parametrize("groups", [None, np.random.default_rng(0).integers(0, 40, 203) * 3])
def test_rows_are_dealt_evenly_by_the_seed_and_groups_as_a_whole(groups: np.ndarray | None) -> None:
    folds = assign_row_folds(5, 0, 203, groups)
    assert np.ptp(np.bincount(folds)) <= 1 if groups is None else np.ptp(np.bincount(folds)) <= 4
    if groups is not None:
        assert all(len(np.unique(folds[groups == group])) == 1 for group in np.unique(groups))
    np.testing.assert_array_equal(assign_row_folds(5, 0, 203, groups), folds)
    assert 0.05 < (assign_row_folds(5, 1, 203, groups) == folds).mean() < 0.35  # a fifth, by chance


def test_rows_in_time_order_are_cut_into_blocks_that_keep_groups_whole() -> None:
    np.testing.assert_array_equal(assign_row_folds(3, 0, 10, in_time_order=True), [0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    days = np.array([9, 9, 9, 9, 2, 2, 7, 7, 1, 1])
    np.testing.assert_array_equal(assign_row_folds(2, 0, 10, days, in_time_order=True), [0] * 4 + [1] * 6)


@pytest.mark.parametrize("in_time_order", [False, True])
def test_more_folds_than_groups_of_rows_are_refused(in_time_order: bool) -> None:
    with pytest.raises(ConfigError, match="fill only 2: choose fewer folds"):
        assign_row_folds(3, 0, 6, np.array([0, 0, 0, 1, 1, 1]), in_time_order=in_time_order)
