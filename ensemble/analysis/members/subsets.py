"""Subsets of the members, as bits of a number: which of them are looked at, and in what order."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_MEMBERS_EXACT = 12
MAX_DRAWN_OF_SIZE = 300  # of a size, and
_MAX_DRAWN_TOTAL = 6_000  # of all sizes together: with 64 members 98 of each
MAX_MEMBERS = 4096  # of an ensemble
MAX_MEMBERS_ALL_SIZES = 64  # with more, only these sizes are looked at, and so many subsets of each:
SELECTED_SIZES = (
    *(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64, 96, 128, 192),
    *(256, 384, 512, 768, 1024, 1536, 2048, 3072),
)
_DRAWN_OF_SELECTED_SIZE = 20
_MASK_BITS = 64  # of a uint64; of more members masks are Python's integers

Masks = NDArray[np.uint64] | NDArray[np.object_]


class SumStep(NamedTuple):
    """How the sum of one subset is computed.

    Attributes:
      start: from nothing, from the sum of all members, or from the subset before.
      added: the members whose rows are added to that.
      removed: the members whose rows are subtracted.
    """

    start: Literal["none", "all", "before"]
    added: tuple[int, ...]
    removed: tuple[int, ...]


def list_subset_sizes(members: int) -> tuple[int, ...]:
    """Return the sizes that are looked at: all up to `MAX_MEMBERS_ALL_SIZES` members, else some, M − 1 and M."""
    if members <= MAX_MEMBERS_ALL_SIZES:
        return tuple(range(1, members + 1))
    selected = (size for size in SELECTED_SIZES if size < members - 1)
    return (*selected, members - 1, members)


def list_subset_masks(members: int, seed: int = 0) -> Masks:
    """The subsets of M members that are looked at, by rising size, then by rising mask.

    Up to `MAX_MEMBERS_EXACT` members these are all 2^M − 1 that are not empty. Above it, all of sizes
    1, M − 1 and M, and of each other size `count_subsets_of_size` different ones, each equally
    likely: a mean over those of one size estimates the mean over all of that size without bias.

    With more than `MAX_MEMBERS_ALL_SIZES` members, only the sizes of `list_subset_sizes`. Subset k of each size
    in between then has the first members of the k-th of `_DRAWN_OF_SELECTED_SIZE` random orders: still each equally
    likely, but each contains the smaller ones, so that their sums cost little.

    Args:
      members: M, from 1 to 4,096.
      seed: of the draws; the same seed draws the same.

    Returns:
      (S,), bit m of a mask is set where member m is in: uint64, of more than 64 members objects.

    Raises:
      ValueError: M is out of its range.
    """
    if not 1 <= members <= MAX_MEMBERS:
        raise ValueError(f"{members} members: there have to be 1 to {MAX_MEMBERS}.")
    return np.concatenate([_masks_of_size(members, size, seed) for size in list_subset_sizes(members)])


def count_subsets_of_size(members: int, size: int) -> int:
    """How many subsets of a size are looked at: all where there are no more than are drawn."""
    there_are = comb(members, size)
    if members <= MAX_MEMBERS_EXACT or size in (1, members - 1, members):
        return there_are
    if members > MAX_MEMBERS_ALL_SIZES:
        return _DRAWN_OF_SELECTED_SIZE
    return min(there_are, max_drawn_subsets(members))


def max_drawn_subsets(members: int) -> int:
    """How many subsets of a size are drawn at random, of more than `MAX_MEMBERS_EXACT` members."""
    if members > MAX_MEMBERS_ALL_SIZES:
        return _DRAWN_OF_SELECTED_SIZE
    return min(MAX_DRAWN_OF_SIZE, _MAX_DRAWN_TOTAL // (members - 3))


def members_of_mask(mask: int | np.uint64) -> tuple[int, ...]:
    bits = int(mask)
    content = np.frombuffer(bits.to_bytes(-(-bits.bit_length() // 8), "little"), np.uint8)
    return tuple(np.flatnonzero(np.unpackbits(content, bitorder="little")).tolist())


def membership_matrix(masks: Masks, members: int) -> NDArray[np.bool_]:
    """(S, M), where a subset has a member."""
    if masks.dtype == np.uint64:
        return (masks[:, None] >> np.arange(members, dtype=np.uint64) & np.uint64(1)).astype(bool)
    held = np.zeros((len(masks), members), np.bool_)
    for row, mask in enumerate(masks.tolist()):
        held[row, list(members_of_mask(mask))] = True
    return held


def order_subsets(chosen: Sequence[tuple[int, ...]], members: int) -> list[int]:
    """Return the order in which the sums of the subsets of `list_subset_masks` cost least.

    Lexicographic, as each then begins as the one before it does; with more than `MAX_MEMBERS_ALL_SIZES` members one
    random order after the other, in which each subset contains the one before it.
    """
    if members <= MAX_MEMBERS_ALL_SIZES:
        return sorted(range(len(chosen)), key=chosen.__getitem__)
    sizes = np.array([len(subset) for subset in chosen])
    place = np.arange(len(sizes)) - np.searchsorted(sizes, sizes)
    return np.lexsort((sizes, place)).tolist()


def sum_subsets(rows: NDArray[np.floating], chosen: Sequence[tuple[int, ...]]) -> Iterator[NDArray[np.float64]]:
    """Compute the sum of the rows of each subset, in double precision.

    Up to `MAX_MEMBERS_ALL_SIZES` members they are added in rising order as `average_probabilities` adds. With more,
    as `plan_subset_sums` has it, which can differ from that in the last digits.

    Args:
      rows: (M, L), one of each member.
      chosen: the members of each subset, rising; not empty.

    Yields:
      (L,), one for each subset, good until the next is asked for.
    """
    if len(rows) > MAX_MEMBERS_ALL_SIZES:
        return follow_sum_steps(rows, plan_subset_sums(chosen, len(rows)))
    return _sum_common_prefixes(rows, chosen)


def plan_subset_sums(chosen: Sequence[tuple[int, ...]], members: int) -> list[SumStep]:
    """Return how each subset is summed with the fewest rows: from nothing, from all, or from the one before."""
    everyone, before = frozenset(range(members)), frozenset[int]()
    steps = []
    for subset in chosen:
        wanted = frozenset(subset)
        bases: dict[Literal["none", "all", "before"], frozenset[int]] = {
            "none": frozenset(),
            "all": everyone,
            "before": before,
        }
        start = min(bases, key=lambda name: len(bases[name] ^ wanted))
        steps.append(SumStep(start, tuple(wanted - bases[start]), tuple(bases[start] - wanted)))
        before = wanted
    return steps


def follow_sum_steps(rows: NDArray[np.floating], steps: Sequence[SumStep]) -> Iterator[NDArray[np.float64]]:
    """Yield the sum (L,) of the rows (M, L) of each subset, good until the next is asked for."""
    total, current = rows.sum(axis=0, dtype=np.float64), np.zeros(rows.shape[1])
    for start, added, removed in steps:
        if start != "before":
            current[:] = total if start == "all" else 0
        for member in added:
            current += rows[member]
        for member in removed:
            current -= rows[member]
        yield current


def _sum_common_prefixes(
    rows: NDArray[np.floating], chosen: Sequence[tuple[int, ...]]
) -> Iterator[NDArray[np.float64]]:
    """As `sum_subsets`; what a subset has in common with the one before it is not added again."""
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


@lru_cache(maxsize=256)  # one entry per size of an ensemble
def _masks_of_size(members: int, size: int, seed: int) -> Masks:
    wanted = count_subsets_of_size(members, size)
    if wanted == comb(members, size):
        masks = {_encode_mask(subset) for subset in combinations(range(members), size)}
    elif members > MAX_MEMBERS_ALL_SIZES:
        orders = np.random.default_rng([seed, members])
        nested = [_encode_mask(orders.permutation(members)[:size].tolist()) for _ in range(wanted)]
        return _freeze_masks(nested, members)
    else:
        draws = np.random.default_rng([seed, members, size])
        masks = set()
        # Repeats are drawn again, so that every set of as many subsets is equally likely.
        while len(masks) < wanted:
            masks.add(_encode_mask(draws.permutation(members)[:size].tolist()))
    return _freeze_masks(sorted(masks), members)


def _freeze_masks(masks: list[int], members: int) -> Masks:
    found: Masks = np.array(masks, np.uint64) if members <= _MASK_BITS else np.array(masks, np.object_)
    found.flags.writeable = False
    return found


def _encode_mask(subset: Sequence[int]) -> int:
    held = np.zeros(max(subset) + 1, np.bool_)
    held[list(subset)] = True
    return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")
