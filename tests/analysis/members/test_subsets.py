from collections import Counter
from math import comb

import numpy as np
import pytest

from ensemble.analysis.members.subsets import (
    DRAWN,
    drawn_of_size,
    holds,
    members_of,
    prefix_sums,
    subsets,
)


@pytest.mark.parametrize("members", [1, 2, 7, 12])
def test_up_to_twelve_all_subsets_once(members: int) -> None:
    masks = subsets(members).tolist()
    assert sorted(masks) == list(range(1, 2**members))
    assert masks == sorted(masks, key=lambda mask: (mask.bit_count(), mask))


@pytest.mark.parametrize("members", [13, 20, 64])
def test_above_twelve_distinct_ones_of_every_size(members: int) -> None:
    masks = subsets(members)
    assert masks.dtype == np.uint64
    assert len(set(masks.tolist())) == len(masks)
    sizes = Counter(mask.bit_count() for mask in masks.tolist())
    assert sizes == {size: drawn_of_size(members, size) for size in range(1, members + 1)}
    assert masks.tolist() == sorted(masks.tolist(), key=lambda mask: (mask.bit_count(), mask))
    np.testing.assert_array_equal(masks, subsets(members))


def test_how_many_are_drawn() -> None:
    assert [drawn_of_size(13, size) for size in (1, 2, 3, 12, 13)] == [13, 78, 286, 13, 1]
    assert drawn_of_size(13, 6) == DRAWN
    assert drawn_of_size(64, 32) == 98
    assert drawn_of_size(64, 63) == 64


def test_another_seed_draws_others() -> None:
    assert set(subsets(20, seed=0).tolist()) != set(subsets(20, seed=1).tolist())


def test_every_subset_is_as_likely_as_another() -> None:
    """Over many seeds, each of the 1,716 subsets of 6 of 13 is drawn 300 / 1,716 of the time."""
    seeds = 60
    seen: Counter[int] = Counter()
    for seed in range(seeds):
        seen.update(mask for mask in subsets(13, seed).tolist() if mask.bit_count() == 6)
    p = DRAWN / comb(13, 6)
    counts = np.array([seen[mask] for mask in range(2**13) if mask.bit_count() == 6])
    assert counts.sum() == seeds * DRAWN
    # As spread out as draws of a fair coin are; a biased draw spreads them more.
    spread = ((counts - seeds * p) ** 2).sum() / (seeds * p * (1 - p))
    freedom = len(counts) - 1
    assert abs(spread - freedom) < 5 * np.sqrt(2 * freedom)


def test_masks_members_and_columns_are_one_thing() -> None:
    masks = subsets(5)
    held = holds(masks, 5)
    for row, mask in enumerate(masks):
        assert members_of(mask) == tuple(np.flatnonzero(held[row]))
    last = np.array([2**63], np.uint64)
    assert members_of(last[0]) == (63,)
    assert np.flatnonzero(holds(last, 64)[0]).tolist() == [63]


@pytest.mark.parametrize("members", [0, 65])
def test_no_such_number_of_members(members: int) -> None:
    with pytest.raises(ValueError, match="1 to 64"):
        subsets(members)


def test_sums_are_added_in_rising_order_whatever_came_before() -> None:
    rows = np.random.default_rng(0).random((6, 30)) * 10.0 ** np.arange(6)[:, None]
    chosen = [members_of(mask) for mask in subsets(6)]
    for order in (chosen, sorted(chosen), chosen[::-1]):
        for subset, found in zip(order, prefix_sums(rows, order), strict=True):
            wanted = np.zeros(30)
            for member in subset:
                wanted += rows[member]
            np.testing.assert_array_equal(found, wanted)
