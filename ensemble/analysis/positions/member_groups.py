"""Members that stand together and apart from others, by the answers that they give."""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.inference.image_groups import Groups, grouped_mean_interval, select_groups
from ensemble.analysis.members.diversity import disagreement_matrix
from ensemble.analysis.quality.averaging import Ints, count_votes
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE, split_halves

Doubles = NDArray[np.float64]

_MAX_GROUPS = 64
_MIN_RATIO = 2.0  # between groups members differ on so many times the examples within one, at least


@dataclass(frozen=True)
class MemberGroups:
    """Groups of members that are told apart.

    Attributes:
      members: of each group the numbers of its members, from 0, rising; the first member's first.
      within: the share of examples that two members of one group differ on, mean over pairs.
      between: the same for members of two groups.
    """

    members: tuple[tuple[int, ...], ...]
    within: float
    between: float


@dataclass(frozen=True)
class RatioEstimate:
    """A ratio of two means over the same examples.

    Attributes:
      ratio: of the means.
      low: where its 95 % interval begins, at least 0.
      high: where it ends.
    """

    ratio: float
    low: float
    high: float


def find_member_groups(votes: Ints, labels: Ints, groups: Groups | None = None) -> MemberGroups | None:
    """Groups of members that differ among each other much less than from the others.

    The members are joined by average linkage of their disagreement on one half of the examples, and
    the division with the largest mean silhouette is taken. On the other half, which had no part in
    that, members of two groups have to differ on twice as many examples as those of one, with all
    of the 95 % interval: a mean silhouette over 0.5 is a reasonable structure.

    Args:
      votes: (M, N), class numbers.
      labels: (N,), by whose classes the halves are alike.
      groups: (N,), examples that belong together; None where all are independent.

    Returns:
      None where no such groups are shown, or where members or examples are too few to tell.

    Source: L. Kaufman and P. J. Rousseeuw, "Finding groups in data", 1990, chapters 2 and 5.
    """
    if len(votes) < 3 or len(labels) < MIN_EXAMPLES_TO_HALVE:
        return None
    fitted, judged = split_halves(labels, groups)
    parts = _divide_members(disagreement_matrix(votes[:, fitted]))
    if parts is None:
        return None
    within, between = measure_group_disagreement(votes[:, judged], parts)
    apart = between - _MIN_RATIO * within
    low, _ = grouped_mean_interval(apart, select_groups(groups, judged), bound=_MIN_RATIO)
    if low <= 0:
        return None
    every = measure_group_disagreement(votes, parts)
    return MemberGroups(parts, float(every[0].mean()), float(every[1].mean()))


def _divide_members(disagreement: Doubles) -> tuple[tuple[int, ...], ...] | None:
    """The division of M members into 2 to M − 1 groups, at most `_MAX_GROUPS`, with the largest mean silhouette.

    Args:
      disagreement: (M, M), of every pair; M at least 3.

    Returns:
      The groups' members, rising; None where all pairs are as far apart.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # here, for it takes a while
    from scipy.spatial.distance import squareform

    if not np.ptp(disagreement[np.triu_indices(len(disagreement), 1)]):
        return None
    tree = linkage(squareform(disagreement, checks=False), "average")
    counts = range(2, min(len(disagreement), _MAX_GROUPS + 1))
    divisions = [
        fcluster(tree, count, "maxclust") for count in counts
    ]  # ties can leave fewer groups than were asked for
    best = max(divisions, key=lambda numbers: average_silhouette(disagreement, numbers))
    parts = [tuple(np.flatnonzero(best == number).tolist()) for number in np.unique(best)]
    return tuple(sorted(parts)) if len(parts) > 1 else None


def average_silhouette(disagreement: Doubles, numbers: Ints) -> float:
    """The mean over members of (b − a) / max(a, b), in [−1, 1]; 0 of one who is alone.

    a is how far a member is from its own group on average, b how far from the nearest other.

    Source: P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis", Journal of Computational and Applied Mathematics 20 (1987), 53-65.
    """
    present = np.unique(numbers)
    if len(present) < 2:
        return 0.0
    inside = numbers == present[:, None]
    sums = disagreement @ inside.T
    sizes = inside.sum(axis=1)
    own = np.searchsorted(present, numbers)
    rows = np.arange(len(numbers))
    near = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
    others = sums / sizes
    others[rows, own] = np.inf
    far = others.min(axis=1)
    largest = np.maximum(near, far)
    widths = np.where((sizes[own] > 1) & (largest > 0), (far - near) / np.maximum(largest, 1e-300), 0)
    return float(widths.mean())


def measure_group_disagreement(votes: Ints, parts: tuple[tuple[int, ...], ...]) -> tuple[Doubles, Doubles]:
    """Of each example the share of pairs that differ, of one group and of two.

    Args:
      votes: (M, N), class numbers.
      parts: the members of each group; one group at least has two.

    Returns:
      (within, between), each (N,), in [0, 1].
    """
    within = np.sum([count_differing_pairs(votes[list(members)]) for members in parts], axis=0)
    every = count_differing_pairs(votes[sorted(member for members in parts for member in members)])
    pairs = sum(comb(len(members), 2) for members in parts)
    between = comb(sum(map(len, parts)), 2) - pairs
    return within / max(pairs, 1), (every - within) / max(between, 1)


def count_differing_pairs(votes: Ints) -> Ints:
    """Count, for each of N examples, the pairs of M members (M, N) that vote for different classes."""
    M, N = votes.shape
    classes = int(votes.max(initial=0)) + 1
    differing = np.empty(N, np.int64)
    for rows in iterate_blocks(N, classes):
        tallies = count_votes(votes[:, rows].astype(np.int64), classes)
        differing[rows] = comb(M, 2) - (tallies * (tallies - 1)).sum(axis=1) // 2
    return differing


def estimate_ratio(numerators: Doubles, denominators: Doubles, groups: Groups | None = None) -> RatioEstimate | None:
    """How many times as large the mean of some values is as that of others, example by example.

    r = x̄ / ȳ, and around it the interval of the mean of (x − r y) / ȳ (linearised).

    Args:
      numerators: (N,), x, at least 0.
      denominators: (N,), y, at least 0.
      groups: (N,), examples that belong together; None where all are independent.

    Returns:
      None where all of y is 0.

    Source: W. G. Cochran, "Sampling techniques", 3rd ed., 1977, chapter 6.
    """
    mean = float(denominators.mean())
    if not mean:
        return None
    ratio = float(numerators.mean()) / mean
    low, high = grouped_mean_interval((numerators - ratio * denominators) / mean, groups)
    return RatioEstimate(ratio, max(0.0, ratio + low), ratio + high)
