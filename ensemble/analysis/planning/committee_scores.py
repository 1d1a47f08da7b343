"""What committees of each size make of every example, averaged over all that there are.

A plan of m members is no particular m of those that were trained, so what it would come to is the
mean over all committees of that size.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.subset_evaluation import SubsetEvaluator
from ensemble.analysis.members.subset_layout import SubsetLayout, arrange_probabilities
from ensemble.analysis.members.subsets import MAX_MEMBERS, MAX_MEMBERS_ALL_SIZES, SELECTED_SIZES, sum_subsets
from ensemble.analysis.quality.averaging import Floats, Ints

Doubles = NDArray[np.float64]
Subset = tuple[int, ...]

MAX_MEMBERS_EXACT_PLANS = 10  # members: 1,023 committees
_DRAWN_PER_SIZE = 64  # of a size, about, of more members
_MAX_MEMBERS_ALL_SIZES = 16  # members; of more the selected sizes alone


@dataclass(frozen=True, eq=False)
class CommitteeScores:
    """What committees of K sizes make of N examples: means over the committees of a size.

    Attributes:
      members: M.
      sizes: (K,), rising, from 1 to M.
      right: float32 (K, N), the share of the committees that are right.
      nll: float32 (K, N), the mean of their negative log-likelihoods, in nats.
      member_right: (K, M), the mean accuracy of the committees that each member is in.
      member_nll: (K, M), their mean NLL.
    """

    members: int
    sizes: NDArray[np.int64]
    right: NDArray[np.float32]
    nll: NDArray[np.float32]
    member_right: Doubles
    member_nll: Doubles


def list_committee_sizes(members: int) -> tuple[int, ...]:
    """The sizes that are looked at: all of up to 16 members, of more those of `SELECTED_SIZES`, and M."""
    if members <= _MAX_MEMBERS_ALL_SIZES:
        return tuple(range(1, members + 1))
    return (*(size for size in SELECTED_SIZES if size < members), members)


def list_committees(members: int, seed: int = 0) -> list[Subset]:
    """The committees that are looked at, in lexicographic order; every member is in as many.

    Up to `MAX_MEMBERS_EXACT` members all. Of more, of each size the M windows along each of a few
    circles in which the members stand by chance: about `_DRAWN_PER_SIZE`, each of them as likely as any
    other of its size, so that a mean over them estimates the mean over all without bias. All of
    sizes 1, M − 1 and M. Of more than 64 members about `_DRAWN_PER_SIZE` windows of a size at even steps, but so many
    that every member is in one, ordered by size.

    Args:
      members: M, from 1 to 4,096.
      seed: of the draw.

    Raises:
      ValueError: M is out of its range.
    """
    if not 1 <= members <= MAX_MEMBERS:
        raise ValueError(f"{members} members: there have to be 1 to {MAX_MEMBERS}.")
    if members <= MAX_MEMBERS_EXACT_PLANS:
        return sorted(
            committee for size in list_committee_sizes(members) for committee in combinations(range(members), size)
        )
    draws = np.random.default_rng([seed, members])
    circles = [draws.permutation(members) for _ in range(math.ceil(_DRAWN_PER_SIZE / members))]
    committees = [tuple(range(members))]
    for size in list_committee_sizes(members)[:-1]:
        for circle in circles[:1] if size in (1, members - 1) else circles:
            twice = np.concatenate([circle, circle])
            step = max(1, min(size, members // _DRAWN_PER_SIZE))
            committees += [tuple(sorted(twice[at : at + size].tolist())) for at in range(0, members, step)]
    return sorted(committees) if members <= MAX_MEMBERS_ALL_SIZES else committees


def score_committees(probabilities: Floats, labels: Ints, seed: int = 0) -> CommitteeScores:
    """What the committees of each size make of every example.

    A committee is right where `averaging.average_probabilities` over it is, ties included.

    Args:
      probabilities: (M, N, C), each row of C a distribution; M at most 4,096.
      labels: (N,), class numbers in [0, C).
      seed: of the draw of committees, see `list_committees`.

    Raises:
      ValueError: the shapes do not fit together, or M is out of its range.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 8 (ensembles of
    a size).
    """
    if probabilities.ndim != 3 or 0 in probabilities.shape:
        raise ValueError(f"Probabilities of shape {probabilities.shape} are not (M, N, C).")
    if labels.shape != probabilities.shape[1:2]:
        raise ValueError(f"{probabilities.shape[1]:,} predictions for {len(labels):,} examples.")
    arranged = arrange_probabilities(probabilities, labels)
    M, sizes = len(probabilities), list_committee_sizes(len(probabilities))
    sums = _ScoreSums(arranged, M, sizes)
    chosen = list_committees(M, seed)
    judge = SubsetEvaluator(arranged)
    for total, subset in zip(sum_subsets(arranged.rows, chosen), chosen, strict=True):
        right = judge.judge_contested(total, len(subset))
        sums.add(subset, right, judge.label_log_probabilities())
    return sums.mean_scores()


class _ScoreSums:
    """Sums over the committees of each size, in the order of the label's probabilities."""

    def __init__(self, arranged: SubsetLayout, members: int, sizes: tuple[int, ...]) -> None:
        K, N = len(sizes), arranged.examples
        self.arranged, self.members, self.sizes = arranged, members, sizes
        self.row = {size: row for row, size in enumerate(sizes)}
        self.hits = np.zeros((K, arranged.contested), np.int32)
        self.nll = np.zeros((K, N))
        self.by_member = np.zeros((2, K, members))
        self.count, self.held = np.zeros(K, np.int64), np.zeros((K, members), np.int64)

    def add(self, subset: Subset, right: NDArray[np.bool_], logs: Doubles) -> None:
        """One committee: where it is right of the contested, and the label's logarithms."""
        row, who = self.row[len(subset)], list(subset)
        self.count[row] += 1
        self.held[row, who] += 1
        self.hits[row] += right
        self.nll[row] -= logs
        self.by_member[0, row, who] += np.count_nonzero(right)
        self.by_member[1, row, who] -= logs.sum()

    def mean_scores(self) -> CommitteeScores:
        """The means, with the examples in their own order."""
        arranged, N = self.arranged, self.arranged.examples
        sure = arranged.united - arranged.wrong  # that every committee has right, and these first
        right, nll = np.zeros((2, len(self.sizes), N), np.float32)
        right[:, arranged.order[:sure]] = 1
        right[:, arranged.order[arranged.united :]] = self.hits / self.count[:, None]
        nll[:, arranged.order] = self.nll / self.count[:, None]
        each = self.by_member / self.held
        return CommitteeScores(
            members=self.members,
            sizes=np.array(self.sizes),
            right=right,
            nll=nll,
            member_right=(each[0] + sure) / N,
            member_nll=each[1] / N,
        )
