"""Examples that belong together, such as those of one writer or copies of one picture.

What holds for one of them mostly holds for the others: an interval that counts each as new is too
short. Here each group counts as one draw (cluster-robust).
"""

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.proportion_interval import wilson_interval

Groups = NDArray[np.integer[Any]]

MIN_VARIED_GROUPS = 30  # groups with a wrong answer, below which their spread is not known


def number_groups(names: NDArray[np.generic]) -> Groups:
    """(N,), names of groups as numbers from 0."""
    return np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)


def select_groups(index: Groups | None, chosen: NDArray[np.generic]) -> Groups | None:
    """The groups of some of N examples, numbered anew; None of none."""
    return None if index is None else number_groups(index[chosen])


def join_groups(first: Groups | None, second: Groups | None) -> Groups | None:
    """(N,), the groups in which those that share a group in either are together; None if both are None."""
    if first is None or second is None:
        return second if first is None else first
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    top = int(first.max()) + 1
    edges = coo_matrix((np.ones(len(first), np.int8), (first, second + top)), shape=(top + int(second.max()) + 1,) * 2)
    labels = connected_components(edges, directed=False)[1]
    return number_groups(labels[first])


def find_row_copies(rows: NDArray[np.float64]) -> Groups | None:
    """Find rows (N, K) that are exact copies of another, and number the groups of equal ones.

    Equal rows are copies only if chance does not repeat rows: one of the K columns has to tell
    most of the different rows apart, as a measured quantity does and a few categories do not.

    Returns:
      (N,), or None if there are no copies.
    """
    plain = np.ascontiguousarray(rows) + 0.0  # which makes -0.0 equal to 0.0
    keys = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).reshape(-1)
    groups = number_groups(keys)
    distinct = int(groups.max()) + 1
    if distinct == len(rows):
        return None
    tells_apart = any(2 * len(np.unique(column)) > distinct for column in plain.T)
    return groups if tells_apart else None


def collapse_groups(values: NDArray[np.generic], index: Groups) -> NDArray[np.float64]:
    """One value a group, with the mean of all examples and the spread of the groups' sums.

    Group g of n_g examples with the sum S_g gets m + (G / N) √(G / (G − 1)) (S_g − n_g m), with m
    the mean of all: the variance of the mean of these G values is the cluster-robust variance of m,
    G / (G − 1) · Σ (S_g − n_g m)² / N².

    Args:
      values: (…, N).
      index: (N,), the group of each example, from 0 to G − 1, every one of which occurs.

    Returns:
      (…, G).

    Source: W. G. Cochran, "Sampling techniques", 3rd ed., 1977, sec. 9A.1 (ratio estimates from
    clusters of unequal size).
    """
    order = np.argsort(index, kind="stable")
    starts = np.flatnonzero(np.diff(index[order], prepend=-1))
    each = np.asarray(values, np.float64)
    sums = np.add.reduceat(each[..., order], starts, axis=-1)
    sizes = np.diff(np.append(starts, len(index)))
    mean = each.mean(axis=-1, keepdims=True)
    groups = len(sizes)
    scale = groups / len(index) * np.sqrt(groups / max(1, groups - 1))
    return np.asarray(mean + scale * (sums - sizes * mean))


def grouped_mean_interval(
    values: NDArray[np.float64], index: Groups | None, level: float = 0.95, bound: float | None = None
) -> tuple[float, float]:
    """`mean_interval`, over groups where there are some: then the ends are Student's.

    Args:
      values: (N,), finite.
      index: (N,); None where the examples are independent.
      level: in (0, 1).
      bound: how far a difference can be from 0: it counts where the examples are independent, and
        where all values are equal.
    """
    from ensemble.analysis.inference.paired_intervals import mean_interval  # which takes SciPy

    if index is None:
        return mean_interval(values, level, bound)
    # Where no example differs from another the sample tells nothing of their spread.
    alike = bound if np.ptp(values) == 0 else None
    return mean_interval(collapse_groups(values, index), level, alike)


def grouped_share_interval(hits: NDArray[Any], index: Groups | None, level: float = 0.95) -> tuple[float, float]:
    """(low, high) of a share of N examples: Wilson's, of as many as the groups are worth.

    N is divided by the design effect (the variance of the share over groups, in multiples of that
    over independent examples, at least 1), and brought from normal to Student's quantiles of G − 1
    degrees. Where all examples are alike nothing is known of how groups differ: each then counts
    as one example.

    Args:
      hits: (N,), at least one: whether each example counts, or a share of it in [0, 1].
      index: (N,); None where the examples are independent.
      level: in (0, 1).

    Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data", Survey Methodology 24 (1998), 193-201
    (effective sample size; here in Wilson's interval instead of Clopper and Pearson's).
    """
    if index is None:
        return wilson_interval(int(hits.sum()), len(hits), level=level)
    share = float(hits.mean())
    effective = effective_examples(hits, index, level)
    return wilson_interval(share * effective, effective, level=level)


def effective_examples(hits: NDArray[Any], index: Groups, level: float = 0.95) -> float:
    """How many independent examples a share of N examples in groups is known as well by.

    At least 1, at most N; see `grouped_share_interval`.
    """
    from scipy.special import stdtrit

    n, share = len(hits), float(hits.mean())
    groups = int(index.max()) + 1
    alone = share * (1 - share) / n
    if groups < 2 or alone == 0:
        return float(groups)
    variance = float(collapse_groups(hits, index).var()) / groups
    tail = (1 - level) / 2
    student = NormalDist().inv_cdf(tail) / float(stdtrit(groups - 1, tail))
    return max(1.0, n / max(1.0, variance / alone) * student**2)


def estimate_design_effect(
    right: NDArray[np.bool_], expected: NDArray[np.float64], index: Groups, level: float = 0.95
) -> float:
    """By how much groups raise the variance of the number of right answers: at least 1.

    Their squared sums of right less expected, in multiples of what independent answers would give,
    brought from normal to Student's quantiles. Where few groups have a wrong answer, or only a few
    have a right one, that is not known: then all answers of a group count as one.

    Args:
      right: (N,), where the answer was right.
      expected: (N,), the probability of each to be right, in [0, 1].
      index: (N,), the group of each example, from 0.
      level: of the interval or test that it is for, in (0, 1).
    """
    from scipy.special import stdtrit

    sizes = np.bincount(index)
    most = float((sizes.astype(np.float64) ** 2).sum() / len(index))
    varied = min(len(np.unique(index[~right])), len(np.unique(index[right])))
    alone = float((expected * (1 - expected)).sum())
    if varied < MIN_VARIED_GROUPS or not alone:
        return most
    sums = np.bincount(index, right - expected)
    tail = (1 - level) / 2
    student = float(stdtrit(len(sizes) - 1, tail)) / NormalDist().inv_cdf(tail)
    return max(1.0, float((sums**2).sum()) / alone * student**2)
