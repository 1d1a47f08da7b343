"""What each of many subsets of the members says, fast: thousands of averages of one test set.

Where all members say the same class by a clear margin, every subset says it too, so only its
probability and the label's are followed there. Only where they do not are all classes added.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import collapse_groups
from ensemble.analysis.members.subset_layout import SubsetLayout
from ensemble.analysis.members.subsets import sum_subsets
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.calibration import BINS
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY

Doubles = NDArray[np.float64]
_Bools = NDArray[np.bool_]

_CHUNKS_PER_THREAD = 4  # so that no thread waits long for the last


class LossSpread(NamedTuple):
    """How what a subset loses varies over the examples, or over their groups.

    Attributes:
      variance: the mean squared distance to the mean.
      third: the mean cubed distance.
      largest: the largest distance.
    """

    variance: float
    third: float
    largest: float


class _SubsetResult(NamedTuple):
    """What a subset says: N examples judged.

    Attributes:
      right: how many are right.
      won: how many of these the whole ensemble has wrong.
      lost: how many the whole has right and the subset wrong.
      nll: the mean negative log-likelihood in nats.
      ece: the expected calibration error.
      nll_loss: of the NLL − the whole ensemble's.
      right_loss: of where the whole is right − where the subset is; None where examples are
        independent, of which `won` and `lost` tell all.
      nll_blocks: (B,), the sum of the negative log-likelihood in each block of examples.
    """

    right: int
    won: int
    lost: int
    nll: float
    ece: float
    nll_loss: LossSpread
    right_loss: LossSpread | None
    nll_blocks: Doubles


class _FullEnsembleResult(NamedTuple):
    """What the whole ensemble says, against which a subset is held.

    Attributes:
      right: (V,), where it is right of the contested examples.
      logs: (N,), the log of the label's probability.
    """

    right: _Bools
    logs: Doubles


def evaluate_subsets(
    arranged: SubsetLayout, chosen: Sequence[tuple[int, ...]], threads: int | None = None
) -> list[_SubsetResult]:
    """What every subset says, in the order of `chosen`.

    Args:
      arranged: the probabilities.
      chosen: the members of each subset, rising; not empty. Those with the same first members
        cost least next to each other.
      threads: how many work at it; None for one a processor, at most four. It does not change
        the figures.
    """
    threads = threads or min(4, os.cpu_count() or 1)
    length = -(-len(chosen) // (_CHUNKS_PER_THREAD * threads))
    parts = [chosen[start : start + length] for start in range(0, len(chosen), length)]
    everyone = tuple(range(len(arranged.rows)))
    judge = SubsetEvaluator(arranged)
    right = judge.judge_contested(next(sum_subsets(arranged.rows, [everyone])), len(everyone))
    whole = _FullEnsembleResult(right, judge.label_log_probabilities())
    with ThreadPoolExecutor(threads) as pool:
        results = pool.map(lambda part: _evaluate_subset_chunk(arranged, part, whole), parts)
        return [result for part in results for result in part]


def _evaluate_subset_chunk(
    arranged: SubsetLayout, part: Sequence[tuple[int, ...]], whole: _FullEnsembleResult
) -> list[_SubsetResult]:
    judge = SubsetEvaluator(arranged)
    sums = sum_subsets(arranged.rows, part)
    return [judge.evaluate(subset_sum, len(subset), whole) for subset_sum, subset in zip(sums, part, strict=True)]


class SubsetEvaluator:
    """Judges one subset after the other, in memory of its own that it uses again.

    Attributes:
      at_label: (N,), the label's probability, in the order of `SubsetLayout.order`.
    """

    def __init__(self, arranged: SubsetLayout) -> None:
        self.arranged = arranged
        N, U, W = arranged.examples, arranged.united, arranged.wrong
        self.averaged = np.empty(N + W)
        self.at_label = self.averaged[W : W + N]
        self.contested = self.averaged[U + W :]  # the label's, where it is contested
        self.rival = np.empty(arranged.contested)
        self.confidence = np.empty(N)
        self.verdict = np.arange(N) >= W  # True where right; only the contested ones change
        self.work, self.loss, self.square = np.empty((3, N))
        self.starts = np.flatnonzero(np.diff(arranged.block, prepend=-1))  # of a run of one block
        self.inner_edges = np.linspace(0, 1, BINS + 1)[1:-1]

    def judge_contested(self, sums: Doubles, size: int) -> _Bools:
        """(V,), where a subset is right of the contested; fills in for `evaluate_subsets`."""
        rivals, first = sums[len(self.averaged) :], self.arranged.first
        np.divide(sums[: len(self.averaged)], size, out=self.averaged)
        # Dividing keeps the order, so the largest sum is also the largest average.
        if len(first):
            np.maximum.reduceat(rivals, first, out=self.rival)
        self.rival /= size
        right = np.greater(self.contested, self.rival, out=self.verdict[self.arranged.united :])
        if len(ties := np.flatnonzero(self.contested == self.rival)):
            right[ties] = True
            tied, owner = self._locate_rivals(ties)
            level = rivals[tied] / size == self.contested[owner]
            right[owner[level & self.arranged.below[tied]]] = False
        return right

    def _locate_rivals(self, examples: Ints) -> tuple[Ints, Ints]:
        first = self.arranged.first[examples]
        count = np.append(self.arranged.first, len(self.arranged.below))[examples + 1] - first
        owner = np.repeat(examples, count)
        along = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(first, count) + along, owner

    def label_log_probabilities(self) -> Doubles:
        """(N,), the log of the label's probability; filled in by `judge_contested`."""
        return np.log(np.maximum(self.at_label, MIN_PROBABILITY, out=self.work), out=self.work)

    def evaluate(self, sums: Doubles, size: int, whole: _FullEnsembleResult) -> _SubsetResult:
        """Everything about one subset, held against the whole ensemble."""
        right = self.judge_contested(sums, size)
        logs = self.label_log_probabilities()
        n = len(logs)
        # What it loses of each example, then how far that is from its mean, then the square.
        loss = np.subtract(whole.logs, logs, out=self.loss)
        loss -= loss.sum() / n
        return _SubsetResult(
            right=int(np.count_nonzero(self.verdict)),
            won=int(np.count_nonzero(right & ~whole.right)),
            lost=int(np.count_nonzero(whole.right & ~right)),
            nll=float(-logs.sum() / n),
            nll_loss=self._measure_spread(loss),
            right_loss=self._measure_right_spread(right, whole.right),
            nll_blocks=-self._sum_by_block(logs),
            ece=self._calibration_error(),
        )

    def _measure_spread(self, loss: Doubles) -> LossSpread:
        """Of losses (N,) with the mean 0."""
        if self.arranged.groups is not None:
            loss = collapse_groups(loss, self.arranged.groups)
            square = loss * loss
        else:
            square = np.multiply(loss, loss, out=self.square)
        n = len(loss)
        return LossSpread(float(loss @ loss / n), float(square @ loss / n), float(np.sqrt(square.max())))

    def _measure_right_spread(self, right: _Bools, whole: _Bools) -> LossSpread | None:
        """Of where the whole is right and the subset is not, (V,) each."""
        if self.arranged.groups is None:
            return None
        loss = self.loss  # which nobody needs any more
        loss[: self.arranged.united] = 0
        np.subtract(whole, right, out=loss[self.arranged.united :], dtype=np.float64)
        loss -= loss.mean()
        return self._measure_spread(loss)

    def _sum_by_block(self, values: Doubles) -> Doubles:
        """(B,), the sums of (N,) values in each block."""
        sums, block = np.add.reduceat(values, self.starts), self.arranged.block[self.starts]
        return np.bincount(block, sums, self.arranged.blocks).astype(np.float64)

    def _calibration_error(self) -> float:
        """As `expected_calibration_error`: n |accuracy − confidence| is |Σ (right − confidence)|.

        Most confidences lie in the last bin; only the others are looked up one by one.
        """
        united = self.arranged.united
        self.confidence[:united] = self.averaged[:united]
        np.maximum(self.contested, self.rival, out=self.confidence[united:])
        apart = np.subtract(self.verdict, self.confidence, out=self.work)
        less = np.flatnonzero(self.confidence <= self.inner_edges[-1])
        within = np.searchsorted(self.inner_edges, self.confidence[less], side="left")
        # Of no examples it counts in whole numbers, whatever their weights would have been.
        bins = np.bincount(within, apart[less], minlength=BINS).astype(np.float64)
        bins[-1] = apart.sum() - bins.sum()
        return float(np.abs(bins).sum() / len(apart))
