"""Which training images are held out: counts, draw, and what it depends on."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import (
    VALIDATION_STREAM,
    count_holdout_images,
    count_holdout_per_class,
    count_singleton_classes,
    select_class_indices,
    select_group_indices,
    select_validation_indices,
)

SIZES = [
    [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    [1, 2, 3, 4],
    [7, 1, 1],
    [2, 2, 3],
    [3, 0, 3],
    [1, 1],
]


def config(share: float, seed: int = 0, **others: object) -> EnsembleConfig:
    return EnsembleConfig(validation=share, seed=seed, **others)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.29, 1 / 3, 0.5])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_each_class_gives_its_share_by_the_largest_remainder(sizes: list[int], share: float) -> None:
    counts = count_holdout_per_class(np.array(sizes), share)
    drawn = [size if size > 1 else 0 for size in sizes]
    whole = count_holdout_images(sum(drawn), share)
    assert counts.sum() == whole
    assert abs(whole - share * sum(drawn)) <= 0.5 + 1e-9
    assert whole <= sum(drawn) / 2
    quotas = [Fraction(whole * size, max(sum(drawn), 1)) for size in drawn]
    over = [count - quota for count, quota in zip(counts, quotas, strict=True)]
    assert all(abs(one) < 1 for one in over)
    # Whoever was rounded up had at least the remainder of whoever was rounded down.
    up = [1 - one for one in over if one > 0]
    down = [-one for one in over if one < 0]
    assert not up or not down or min(up) >= max(down)
    assert all(count < size for count, size in zip(counts, sizes, strict=True) if size)


def test_the_digits_are_split_in_two_that_cover_them_with_every_class_in_both() -> None:
    labels = datasets.load_dataset("digits").train_labels
    held = select_class_indices(config(0.2), labels)
    rest = np.setdiff1d(np.arange(len(labels)), held)
    assert (len(held), len(rest)) == (259, 1038)
    assert len(np.unique(held)) == len(held)
    assert (np.diff(held) > 0).all()
    share = np.bincount(labels[held]) / np.bincount(labels)
    assert (abs(share - 0.2) < 0.01).all()


def test_the_draw_depends_on_the_seed_and_on_nothing_else_of_the_settings() -> None:
    labels = datasets.load_dataset("digits").train_labels
    held = select_class_indices(config(0.2), labels)
    others = config(0.2, members=7, devices=3, epochs=2, bootstrap=True, batch_size=16)
    np.testing.assert_array_equal(select_class_indices(others, labels), held)
    np.testing.assert_array_equal(select_class_indices(replace(others, seed=0), labels.copy()), held)
    other = select_class_indices(config(0.2, seed=1), labels)
    # Two draws of a fifth have a fifth in common: 52 of 259, give or take six.
    assert 25 < len(np.intersect1d(held, other)) < 80


def test_a_run_resumed_with_another_numpy_goes_on_with_the_same_images() -> None:
    # As drawn with NumPy 2.4.
    assert select_class_indices(config(0.5), np.zeros(8, np.int32)).tolist() == [1, 2, 5, 6]


def test_without_a_share_nothing_is_held_out() -> None:
    assert select_class_indices(config(0.0), datasets.load_dataset("digits").train_labels).shape == (0,)


def test_of_a_thousand_classes_the_same_are_drawn_as_one_class_at_a_time() -> None:
    labels = np.random.default_rng(0).integers(0, 1000, 9000).astype(np.int32)
    labels[:50] += 1000  # some of them alone
    chosen = config(0.13, seed=7)
    words = np.random.PCG64([VALIDATION_STREAM, 7]).random_raw(len(labels))
    expected = [
        of_class[np.argsort(words[of_class], kind="stable")[:count]]
        for number, count in enumerate(count_holdout_per_class(np.bincount(labels), 0.13))
        for of_class in [np.flatnonzero(labels == number)]
    ]
    held = select_class_indices(chosen, labels)
    np.testing.assert_array_equal(held, np.sort(np.concatenate(expected)))
    sizes = np.bincount(labels)
    assert count_singleton_classes(sizes) > 10
    assert len(held) == count_holdout_images(len(labels) - count_singleton_classes(sizes), 0.13)


@pytest.mark.parametrize("seed", range(20))
def test_whole_groups_are_held_out_and_one_at_most_is_in_both_parts(seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 4, 500).astype(np.int32)
    groups = draw.integers(0, 30, 500)
    chosen = config(0.2, seed=seed)
    held = select_group_indices(chosen, labels, groups)
    assert len(held) == count_holdout_images(500, 0.2)
    assert (np.diff(held) > 0).all()
    rest = np.setdiff1d(np.arange(500), held)
    assert len(np.intersect1d(groups[held], groups[rest])) <= 1
    np.testing.assert_array_equal(select_group_indices(chosen, labels, groups), held)
    other = select_group_indices(config(0.2, seed=seed + 1), labels, groups)
    assert not np.array_equal(held, other)


def test_no_class_loses_its_last_training_image_to_a_group() -> None:
    labels = np.repeat(np.arange(5), 8).astype(np.int32)
    groups = np.repeat(np.arange(5), 8)  # each group all that there is of a class
    held = select_group_indices(config(0.5), labels, groups)
    assert len(held) == 20
    assert (np.bincount(np.delete(labels, held), minlength=5) > 0).all()


def test_an_image_alone_in_its_class_is_learnt_from_whatever_its_group() -> None:
    labels = np.array([0, 1, 1, 1, 1, 2, 2, 2, 2], np.int32)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    for seed in range(10):
        held = select_group_indices(config(0.5, seed), labels, groups)
        assert len(held) == 4
        assert 0 not in held


def test_without_groups_classes_give_their_shares() -> None:
    data = datasets.load_dataset("digits")
    assert data.train_groups is None
    np.testing.assert_array_equal(
        select_validation_indices(config(0.2), data), select_class_indices(config(0.2), data.train_labels)
    )
