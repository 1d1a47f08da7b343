"""Every committee of the members, judged as if it were the ensemble, and against it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.paired_intervals import DifferenceMoments
from ensemble.analysis.members.committee_brier import committee_brier_scores
from ensemble.analysis.members.subset_evaluation import LossSpread, evaluate_subsets
from ensemble.analysis.members.subset_layout import arrange_probabilities
from ensemble.analysis.members.subsets import (
    MAX_MEMBERS_EXACT,
    Masks,
    list_subset_masks,
    members_of_mask,
    membership_matrix,
    order_subsets,
    sum_subsets,
)
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.proper_scores import label_probability

COMMITTEE_METRICS = ("accuracy", "nll", "brier", "ece")
_EXAMPLE_BLOCKS = 20  # of examples, by which an extrapolation tells how much hangs on them


@dataclass(frozen=True, eq=False)
class CommitteeEvaluation:
    """S committees, subsets of M members whose probabilities are averaged. Read-only arrays.

    Attributes:
      members: M.
      n: how many examples they were judged on.
      exact: whether these are all committees that there are, else a draw of each size.
      masks: (S,), bit m is set where member m is in; by rising size, then mask.
      size: (S,), how many members are in.
      accuracy: (S,), the share of the examples that is right.
      nll: (S,), the mean negative log-likelihood in nats.
      brier: (S,), the mean Brier score, in [0, 2].
      ece: (S,), the expected calibration error over 15 bins.
      won: (S,), how many examples the committee has right and the whole ensemble wrong.
      lost: (S,), how many the whole has right and the committee wrong.
      nll_loss: the moments (S,), over the examples, of the committee's NLL − the whole's; over
        groups where some examples belong together.
      brier_loss: those of the Brier score.
      accuracy_loss: those of the whole's accuracy − the committee's; None without groups.
      block: (B,), how many examples each of B blocks, drawn by chance, holds.
      by_block: of "nll" and "brier" the mean over the committees of each of K sizes, (K, B), of
        their means over the examples of each block.
    """

    members: int
    n: int
    exact: bool
    masks: Masks
    size: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    ece: NDArray[np.float64]
    won: NDArray[np.int64]
    lost: NDArray[np.int64]
    nll_loss: DifferenceMoments
    brier_loss: DifferenceMoments
    accuracy_loss: DifferenceMoments | None
    block: NDArray[np.int64]
    by_block: dict[str, NDArray[np.float64]]

    @property
    def groups(self) -> int | None:
        """As how many groups the examples count; None where each counts by itself."""
        return None if self.accuracy_loss is None else self.accuracy_loss.n


@dataclass(frozen=True, eq=False)
class CommitteeCurve:
    """A figure against the size of the committee, over the K sizes of `list_subset_sizes`.

    Attributes:
      size: (K,), from 1 to M.
      mean: (K,), the mean over the committees of that size.
      low: (K,), the least of any of them: the worst accuracy, the best loss.
      high: (K,), the largest of any of them.
      count: (K,), how many committees were looked at.
    """

    size: NDArray[np.int64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    count: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _MemberContributions:
    """What each member is worth: the whole ensemble with it against without it.

    Positive: the ensemble is better with it. All (M,); 0 for a member that is alone.

    Attributes:
      accuracy: with − without.
      nll: without − with, in nats.
      brier: without − with.
      ece: without − with.
    """

    accuracy: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    ece: NDArray[np.float64]


def evaluate_committees(
    probabilities: Floats, labels: Ints, seed: int = 0, threads: int | None = None, groups: Ints | None = None
) -> CommitteeEvaluation:
    """Judge every committee of up to 12 members; of more, an unbiased draw of each size, or of some sizes.

    Accuracy, won and lost are those of `averaging.average_probabilities` over the committee to the
    bit, ties included; with more than 64 members except for rounding.

    Args:
      probabilities: (M, N, C), each row of C a distribution; M at most 4,096.
      labels: (N,), class numbers in [0, C).
      seed: of the draw, see `list_subset_masks`.
      threads: how many work at it; None for one a processor. It does not change the figures.
      groups: (N,), numbers from 0, of examples that belong together, so that each group counts as
        one draw; None where all are independent.

    Raises:
      ValueError: the shapes do not fit together, or M is out of its range.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 5 (the mean
    rule) and ch. 8 (ensembles of a size).
    """
    if probabilities.ndim != 3 or 0 in probabilities.shape:
        raise ValueError(f"Probabilities of shape {probabilities.shape} are not (M, N, C).")
    if labels.shape != probabilities.shape[1:2]:
        raise ValueError(f"{probabilities.shape[1]:,} predictions for {len(labels):,} examples.")
    members, n = probabilities.shape[:2]
    masks = list_subset_masks(members, seed)
    chosen = [members_of_mask(mask) for mask in masks]
    order = order_subsets(chosen, members)
    draws = n if groups is None else int(groups.max()) + 1
    block = np.random.default_rng(seed).permutation(draws) % _EXAMPLE_BLOCKS
    block = block if groups is None else block[groups]
    arranged = arrange_probabilities(probabilities, labels, block, groups)
    results = evaluate_subsets(arranged, [chosen[row] for row in order], threads)
    by_mask = [results[row] for row in np.argsort(order)]
    columns = {
        name: np.array([getattr(result, name) for result in by_mask])
        for name in ("right", "won", "lost", "nll", "ece", "nll_blocks")
    }
    held = membership_matrix(masks, members)
    size, nll = held.sum(axis=1), columns["nll"]
    squared = committee_brier_scores(probabilities, labels, held, block, groups)
    shape = np.array([result.nll_loss for result in by_mask]).T
    right_shape = [result.right_loss for result in by_mask if result.right_loss is not None]
    accuracy = columns["right"] / n
    counts = np.bincount(block)
    sums = {"nll": columns["nll_blocks"], "brier": squared.blocks}
    figures = {
        "masks": masks,
        "size": size,
        "accuracy": accuracy,
        "brier": squared.mean,
        "block": counts,
        **{name: columns[name] for name in ("nll", "ece", "won", "lost")},
    }
    for values in figures.values():
        values.setflags(write=False)
    return CommitteeEvaluation(
        members=members,
        n=n,
        exact=members <= MAX_MEMBERS_EXACT,
        **figures,
        nll_loss=DifferenceMoments(draws, nll - nll[-1], *shape),
        brier_loss=squared.loss,
        accuracy_loss=_collect_accuracy_moments(draws, accuracy, right_shape),
        by_block={name: average_by_size(values / counts, size) for name, values in sums.items()},
    )


def _collect_accuracy_moments(
    draws: int, accuracy: NDArray[np.float64], spreads: list[LossSpread]
) -> DifferenceMoments | None:
    """Over groups, of what the committees lose; None where examples are independent."""
    if not spreads:
        return None
    variance, third, largest = np.array(spreads).T
    largest = np.maximum(largest, 1.0)  # which the next group may lose as a whole
    return DifferenceMoments(draws, accuracy[-1] - accuracy, variance, third, largest)


def average_by_size(values: NDArray[np.float64], size: NDArray[np.int64]) -> NDArray[np.float64]:
    """The means (K, …) over the committees of each size of what each has, (S, …)."""
    starts = np.searchsorted(size, np.unique(size))
    count = np.diff(starts, append=len(size)).reshape(-1, *[1] * (values.ndim - 1))
    means: NDArray[np.float64] = np.add.reduceat(values, starts) / count
    return means


def committee_curve(judged: CommitteeEvaluation, figure: str = "accuracy") -> CommitteeCurve:
    """One figure against the size of the committee.

    Args:
      judged: the committees.
      figure: "accuracy", "nll", "brier" or "ece".

    Raises:
      ValueError: there is no such figure.
    """
    if figure not in COMMITTEE_METRICS:
        raise ValueError(f"{figure!r} is none of {', '.join(COMMITTEE_METRICS)}.")
    values = getattr(judged, figure)
    size = np.unique(judged.size)
    starts = np.searchsorted(judged.size, size)  # The committees are in order of size.
    return CommitteeCurve(
        size,
        average_by_size(values, judged.size),
        np.minimum.reduceat(values, starts),
        np.maximum.reduceat(values, starts),
        np.diff(starts, append=len(values)),
    )


def member_contributions(judged: CommitteeEvaluation) -> _MemberContributions:
    """What each member is worth to the whole: leave one out. Zeros if there is but one."""
    members = judged.members
    if members == 1:
        return _MemberContributions(*(np.zeros(1) for _ in COMMITTEE_METRICS))
    without = np.flatnonzero(judged.size == members - 1)
    # By rising mask the first of them lacks the last member.
    without = without[::-1]
    gained = {name: getattr(judged, name)[without] - getattr(judged, name)[-1] for name in COMMITTEE_METRICS}
    return _MemberContributions(**gained | {"accuracy": -gained["accuracy"]})


def best_committees_by_size(probabilities: Floats, labels: Ints, seed: int = 0) -> list[tuple[int, ...]]:
    """Find the committee of each size that is looked at with the lowest NLL; members in rising order.

    It is chosen on the examples that it is evaluated on, so expect less on others. Without the
    other metrics it takes a hundredth of the time of `evaluate_committees`.

    Args:
      probabilities: (M, N, C), each row of C a distribution; M at most 4,096.
      labels: (N,), class numbers in [0, C).
      seed: of the draw, as for `evaluate_committees`.
    """
    M = len(probabilities)
    masks = list_subset_masks(M, seed)
    chosen = [members_of_mask(mask) for mask in masks]
    order = order_subsets(chosen, M)
    of_label = np.stack([label_probability(member, labels) for member in probabilities])
    nll = np.empty(len(chosen))
    for row, total in zip(order, sum_subsets(of_label, [chosen[row] for row in order]), strict=True):
        nll[row] = -np.log(total / len(chosen[row])).mean()
    sizes = np.array([len(subset) for subset in chosen])
    rows_of = (np.flatnonzero(sizes == size) for size in np.unique(sizes))
    return [chosen[rows[nll[rows].argmin()]] for rows in rows_of]
