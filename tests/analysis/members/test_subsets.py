from collections import Counter
from math import comb

import numpy as np
import pytest

from ensemble.analysis.members.subsets import (
    MAX_DRAWN_OF_SIZE,
    count_subsets_of_size,
    list_subset_masks,
    members_of_mask,
    membership_matrix,
    sum_subsets,
)


@pytest.mark.parametrize("members", [1, 2, 7, 12])
def test_up_to_twelve_all_subsets_once(members: int) -> None:
    masks = list_subset_masks(members).tolist()
    assert sorted(masks) == list(range(1, 2**members))
    assert masks == sorted(masks, key=lambda mask: (mask.bit_count(), mask))


@pytest.mark.parametrize("members", [13, 20, 64])
def test_above_twelve_distinct_ones_of_every_size(members: int) -> None:
    masks = list_subset_masks(members)
    assert masks.dtype == np.uint64
    assert len(set(masks.tolist())) == len(masks)
    sizes = Counter(mask.bit_count() for mask in masks.tolist())
    assert sizes == {size: count_subsets_of_size(members, size) for size in range(1, members + 1)}
    assert masks.tolist() == sorted(masks.tolist(), key=lambda mask: (mask.bit_count(), mask))
    np.testing.assert_array_equal(masks, list_subset_masks(members))


def test_how_many_are_drawn() -> None:
    assert [count_subsets_of_size(13, size) for size in (1, 2, 3, 12, 13)] == [13, 78, 286, 13, 1]
    assert count_subsets_of_size(13, 6) == MAX_DRAWN_OF_SIZE
    assert count_subsets_of_size(64, 32) == 98
    assert count_subsets_of_size(64, 63) == 64


def test_another_seed_draws_others() -> None:
    assert set(list_subset_masks(20, seed=0).tolist()) != set(list_subset_masks(20, seed=1).tolist())


def test_every_subset_is_as_likely_as_another() -> None:
    """Over many seeds, each of the 1,716 subsets of 6 of 13 is drawn 300 / 1,716 of the time."""
    seeds = 60
    seen: Counter[int] = Counter()
    for seed in range(seeds):
        seen.update(mask for mask in list_subset_masks(13, seed).tolist() if mask.bit_count() == 6)
    p = MAX_DRAWN_OF_SIZE / comb(13, 6)
    counts = np.array([seen[mask] for mask in range(2**13) if mask.bit_count() == 6])
    assert counts.sum() == seeds * MAX_DRAWN_OF_SIZE
    # As spread out as draws of a fair coin are; a biased draw spreads them more.
    spread = ((counts - seeds * p) ** 2).sum() / (seeds * p * (1 - p))
    freedom = len(counts) - 1
    assert abs(spread - freedom) < 5 * np.sqrt(2 * freedom)


def test_masks_members_and_columns_are_one_thing() -> None:
    masks = list_subset_masks(5)
    held = membership_matrix(masks, 5)
    for row, mask in enumerate(masks):
        assert members_of_mask(mask) == tuple(np.flatnonzero(held[row]))
    last = np.array([2**63], np.uint64)
    assert members_of_mask(last[0]) == (63,)
    assert np.flatnonzero(membership_matrix(last, 64)[0]).tolist() == [63]


@pytest.mark.parametrize("members", [0, 4097])
def test_no_such_number_of_members(members: int) -> None:
    with pytest.raises(ValueError, match="1 to 4096"):
        list_subset_masks(members)


def test_sums_are_added_in_rising_order_whatever_came_before() -> None:
    rows = np.random.default_rng(0).random((6, 30)) * 10.0 ** np.arange(6)[:, None]
    chosen = [members_of_mask(mask) for mask in list_subset_masks(6)]
    for order in (chosen, sorted(chosen), chosen[::-1]):
        for subset, found in zip(order, sum_subsets(rows, order), strict=True):
            wanted = np.zeros(30)
            for member in subset:
                wanted += rows[member]
            np.testing.assert_array_equal(found, wanted)
