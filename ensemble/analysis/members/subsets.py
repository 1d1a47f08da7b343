"""Subsets of the members, as bits of a number: which of them are looked at, and in what order."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

MAX_MEMBERS_EXACT = 12
MAX_DRAWN_OF_SIZE = 300  # of a size, and
_MAX_DRAWN_TOTAL = 6_000  # of all sizes together: with 64 members 98 of each
MAX_MEMBERS = 256  # of an ensemble; a run that is trained here has at most:
MAX_TRAINED_MEMBERS = 64
_MASK_BITS = 64  # of a uint64; of more members masks are Python's integers

Masks = NDArray[np.uint64] | NDArray[np.object_]


def list_subset_masks(members: int, seed: int = 0) -> Masks:
    """The subsets of M members that are looked at, by rising size, then by rising mask.

    Up to `MAX_MEMBERS_EXACT` members these are all 2^M − 1 that are not empty. Above it, all of sizes
    1, M − 1 and M, and of each other size `count_subsets_of_size` different ones, each equally
    likely: a mean over those of one size estimates the mean over all of that size without bias.

    Args:
      members: M, from 1 to 256.
      seed: of the draws; the same seed draws the same.

    Returns:
      (S,), bit m of a mask is set where member m is in: uint64, of more than 64 members objects.

    Raises:
      ValueError: M is out of its range.
    """
    if not 1 <= members <= MAX_MEMBERS:
        raise ValueError(f"{members} members: there have to be 1 to {MAX_MEMBERS}.")
    return np.concatenate([_masks_of_size(members, size, seed) for size in range(1, members + 1)])


def count_subsets_of_size(members: int, size: int) -> int:
    """How many subsets of a size are looked at: all where there are no more than are drawn."""
    there_are = comb(members, size)
    if members <= MAX_MEMBERS_EXACT or size in (1, members - 1, members):
        return there_are
    return min(there_are, max_drawn_subsets(members))


def max_drawn_subsets(members: int) -> int:
    """How many subsets of a size are drawn at random, of more than `MAX_MEMBERS_EXACT` members."""
    return min(MAX_DRAWN_OF_SIZE, _MAX_DRAWN_TOTAL // (members - 3))


def members_of_mask(mask: int | np.uint64) -> tuple[int, ...]:
    bits = int(mask)
    return tuple(member for member in range(bits.bit_length()) if bits >> member & 1)


def membership_matrix(masks: Masks, members: int) -> NDArray[np.bool_]:
    """(S, M), where a subset has a member."""
    if masks.dtype == np.uint64:
        return (masks[:, None] >> np.arange(members, dtype=np.uint64) & np.uint64(1)).astype(bool)
    held = np.zeros((len(masks), members), np.bool_)
    for row, mask in enumerate(masks.tolist()):
        held[row, list(members_of_mask(mask))] = True
    return held


def prefix_sums(rows: NDArray[np.float64], chosen: Sequence[tuple[int, ...]]) -> Iterator[NDArray[np.float64]]:
    """The sum of the rows of each subset, added in rising order as `average_probabilities` adds.

    What a subset has in common with the one before it is not added again: over all subsets
    in lexicographic order that is one addition for each.

    Args:
      rows: (M, L), one of each member.
      chosen: the members of each subset, rising; not empty.

    Yields:
      (L,), one for each subset, good until the next is asked for.
    """
    partial = np.empty((max(map(len, chosen), default=0), rows.shape[1]))
    before: tuple[int, ...] = ()
    for subset in chosen:
        shared = 0
        while shared < min(len(before), len(subset)) and before[shared] == subset[shared]:
            shared += 1
        for depth in range(shared, len(subset)):
            if depth:
                np.add(partial[depth - 1], rows[subset[depth]], out=partial[depth])
            else:
                partial[0] = rows[subset[0]]
        before = subset
        yield partial[len(subset) - 1]


@lru_cache(maxsize=MAX_MEMBERS)  # one entry per size of an ensemble
def _masks_of_size(members: int, size: int, seed: int) -> Masks:
    wanted = count_subsets_of_size(members, size)
    if wanted == comb(members, size):
        masks = {_encode_mask(subset) for subset in combinations(range(members), size)}
    else:
        draws = np.random.default_rng([seed, members, size])
        masks = set()
        # Repeats are drawn again, so that every set of as many subsets is equally likely.
        while len(masks) < wanted:
            masks.add(_encode_mask(draws.permutation(members)[:size].tolist()))
    rising = sorted(masks)
    found: Masks = np.array(rising, np.uint64) if members <= _MASK_BITS else np.array(rising, np.object_)
    found.flags.writeable = False
    return found


def _encode_mask(subset: Sequence[int]) -> int:
    return sum(1 << member for member in subset)
