"""Subsets of the members, as bits of a number: which of them are looked at, and in what order."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

EXACT_UP_TO = 12
DRAWN = 300  # of a size, and
DRAWN_IN_ALL = 6_000  # of all sizes together: with 64 members 98 of each
MOST = 64  # members: a mask is a uint64

Masks = NDArray[np.uint64]


def subsets(members: int, seed: int = 0) -> Masks:
    """The subsets of M members that are looked at, by rising size, then by rising mask.

    Up to EXACT_UP_TO members these are all 2^M − 1 that are not empty. Above it, all of sizes
    1, M − 1 and M, and of each other size `drawn_of_size` different ones, each equally likely:
    a mean over those of one size estimates the mean over all of that size without bias.

    Args:
      members: M, from 1 to 64.
      seed: of the draws; the same seed draws the same.

    Returns:
      (S,), bit m of a mask is set where member m is in.

    Raises:
      ValueError: M is out of its range.
    """
    if not 1 <= members <= MOST:
        raise ValueError(f"{members} members: there have to be 1 to {MOST}.")
    return np.concatenate([_of_size(members, size, seed) for size in range(1, members + 1)])


def drawn_of_size(members: int, size: int) -> int:
    """How many subsets of a size are looked at: all where there are no more than are drawn."""
    there_are = comb(members, size)
    if members <= EXACT_UP_TO or size in (1, members - 1, members):
        return there_are
    return min(there_are, drawn_at_most(members))


def drawn_at_most(members: int) -> int:
    """How many subsets of a size are drawn at random, of more than EXACT_UP_TO members."""
    return min(DRAWN, DRAWN_IN_ALL // (members - 3))


def members_of(mask: int | np.uint64) -> tuple[int, ...]:
    """The numbers of the members in a subset, rising."""
    bits = int(mask)
    return tuple(member for member in range(bits.bit_length()) if bits >> member & 1)


def holds(masks: Masks, members: int) -> NDArray[np.bool_]:
    """(S, M), where a subset has a member."""
    return (masks[:, None] >> np.arange(members, dtype=np.uint64) & np.uint64(1)).astype(bool)


def prefix_sums(
    rows: NDArray[np.float64], chosen: Sequence[tuple[int, ...]]
) -> Iterator[NDArray[np.float64]]:
    """The sum of the rows of each subset, added in rising order as `averaging.average` adds.

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


def _of_size(members: int, size: int, seed: int) -> Masks:
    wanted = drawn_of_size(members, size)
    if wanted == comb(members, size):
        found = {_mask(subset) for subset in combinations(range(members), size)}
    else:
        draws = np.random.default_rng([seed, members, size])
        found = set()
        # Repeats are drawn again, so that every set of as many subsets is equally likely.
        while len(found) < wanted:
            found.add(_mask(draws.permutation(members)[:size].tolist()))
    return np.array(sorted(found), np.uint64)


def _mask(subset: Sequence[int]) -> int:
    return sum(1 << member for member in subset)
