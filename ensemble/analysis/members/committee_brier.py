"""The Brier score of many committees at once, from the members' products alone.

An average's squared distance to the label, |Σ_m w_m (p_m − label)|², is a weighted sum of the
products (p_k − label)(p_l − label) of its pairs of members. So of each pair, and of each two
pairs, a sum over the examples is all it takes, whatever the number of committees.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import SUM_BLOCK_SIZE, iterate_blocks
from ensemble.analysis.inference.paired_intervals import DifferenceMoments
from ensemble.analysis.members.subsets import (
    MAX_MEMBERS_ALL_SIZES,
    SumStep,
    follow_sum_steps,
    order_subsets,
    plan_subset_sums,
)
from ensemble.analysis.quality.averaging import Floats, Ints

Doubles = NDArray[np.float64]

_MAX_BRIER_SCORE = 2.0  # no two Brier scores of one example are farther apart


class _CommitteeBrierScores(NamedTuple):
    """What S committees score, by rising size, the whole ensemble last.

    Attributes:
      mean: (S,), the mean Brier score, in [0, 2].
      loss: the moments (S,) over the examples of a committee's score − the whole's, for an
        interval of bounded differences: without the third. Over groups where there are some, all.
      blocks: (S, B), the sum of a committee's scores in each block of examples.
    """

    mean: Doubles
    loss: DifferenceMoments
    blocks: Doubles


def committee_brier_scores(
    probabilities: Floats, labels: Ints, held: NDArray[np.bool_], block: Ints, groups: Ints | None = None
) -> _CommitteeBrierScores:
    """Judge committees by their Brier score.

    Args:
      probabilities: (M, N, C).
      labels: (N,).
      held: (S, M), who is in which committee; all are in the last.
      block: (N,), the block of each example, in [0, B).
      groups: (N,), the group of each example, from 0; None where all are independent.
    """
    M, n, C = probabilities.shape
    weights = held / held.sum(axis=1, keepdims=True)
    if M > MAX_MEMBERS_ALL_SIZES:  # two pairs each would be more than all averages
        scores = _score_averages(probabilities, labels, held, block)
        if groups is None:
            return scores
        losses = np.asarray(scores.loss.mean)
        return scores._replace(loss=_measure_grouped_losses(probabilities, labels, weights, losses, groups))
    pairs = np.triu_indices(M)
    products, squares = [], np.zeros((M + len(pairs[0]),) * 2)
    for number in range(block.max() + 1):
        inside = np.flatnonzero(block == number)
        product = np.zeros((M, M))
        for part in iterate_blocks(len(inside), M * C, SUM_BLOCK_SIZE):
            rows = inside[part]
            apart = probabilities[:, rows].astype(np.float64)
            apart[:, np.arange(len(rows)), labels[rows]] -= 1
            flat = apart.reshape(M, -1)
            product += flat @ flat.T
            if groups is None:
                terms = _brier_loss_terms(apart, pairs)
                squares += terms.T @ terms
        products.append(product)
    each = np.stack([((weights @ block_product) * weights).sum(axis=1) for block_product in products], axis=1)
    mean = each.sum(axis=1) / n
    loss = mean - mean[-1]
    if groups is not None:
        return _CommitteeBrierScores(mean, _measure_grouped_losses(probabilities, labels, weights, loss, groups), each)
    by = _weigh_pairs(weights, pairs)
    square = np.einsum("sp,sp->s", by @ squares.astype(np.float32), by, dtype=np.float64) / n
    variance = np.maximum(square - loss * loss, 0)
    variance[-1] = 0  # the whole is no distance from itself, whatever rounding says
    return _CommitteeBrierScores(
        mean, DifferenceMoments(n, loss, variance, np.zeros_like(loss), _MAX_BRIER_SCORE), each
    )


def _measure_grouped_losses(
    probabilities: Floats, labels: Ints, weights: Doubles, loss: Doubles, groups: Ints
) -> DifferenceMoments:
    """The moments over G groups of what S committees lose, by `collapse_groups`.

    Args:
      probabilities: (M, N, C).
      labels: (N,).
      weights: (S, M), of the members of each committee.
      loss: (S,), the mean losses.
      groups: (N,).
    """
    M, n, C = probabilities.shape
    by_pairs = M <= MAX_MEMBERS_ALL_SIZES
    pairs = np.triu_indices(M if by_pairs else 1)
    by = _weigh_pairs(weights, pairs)
    sums_of = None if by_pairs else _CommitteeSums.plan(weights > 0)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    ends, G = np.cumsum(sizes), len(sizes)
    scale = G / n * np.sqrt(G / max(1, G - 1))
    moments, largest = np.zeros((2, len(weights))), np.zeros(len(weights))
    room = max(1, SUM_BLOCK_SIZE // max(M * C, by.shape[1] if by_pairs else len(weights) * C))
    first = 0
    while first < G:
        start = ends[first] - sizes[first]
        last = max(first + 1, int(np.searchsorted(ends, start + room, side="right")))
        rows = order[start : ends[last - 1]]
        starts = ends[first:last] - sizes[first:last] - start
        if sums_of is None:
            apart = probabilities[:, rows].astype(np.float64)
            apart[:, np.arange(len(rows)), labels[rows]] -= 1
            sums = np.add.reduceat(_brier_loss_terms(apart, pairs), starts) @ by.T
        else:
            scores = sums_of.score(probabilities[:, rows], labels[rows]).T
            sums = np.add.reduceat(scores - scores[:, -1:], starts)
        values = scale * (sums.astype(np.float64) - sizes[first:last, None] * loss)
        values[:, -1] = 0  # the whole, from itself
        square = values * values
        moments += [square.sum(axis=0), (square * values).sum(axis=0)]
        largest = np.maximum(largest, np.sqrt(square.max(axis=0)))
        first = last
    largest = np.maximum(largest, _MAX_BRIER_SCORE)  # which the next group may lose as a whole
    return DifferenceMoments(G, loss, moments[0] / G, moments[1] / G, largest)


def _weigh_pairs(weights: Doubles, pairs: tuple[Ints, Ints]) -> NDArray[np.float32]:
    """(S, M + P), what each committee makes of the terms of `_brier_loss_terms`."""
    twice = np.where(pairs[0] == pairs[1], 1.0, 2.0)
    by = np.concatenate([weights, weights[:, pairs[0]] * weights[:, pairs[1]] * twice], axis=1)
    return by.astype(np.float32)


class _CommitteeSums(NamedTuple):
    """How the sums of S committees over their members are computed.

    Attributes:
      order: (S,), the committees in the order of the steps.
      steps: S of them.
      size: (S,), of the committees.
    """

    order: list[int]
    steps: list[SumStep]
    size: Ints

    @classmethod
    def plan(cls, held: NDArray[np.bool_]) -> "_CommitteeSums":
        """For the committees (S, M) that hold these members."""
        chosen = [tuple(np.flatnonzero(row).tolist()) for row in held]
        order = order_subsets(chosen, held.shape[1])
        return cls(order, plan_subset_sums([chosen[row] for row in order], held.shape[1]), held.sum(axis=1))

    def score(self, probabilities: Floats, labels: Ints) -> Doubles:
        """Compute the Brier scores (S, n) of the committees' averages of (M, n, C)."""
        M, n, C = probabilities.shape
        scores, each = np.empty((len(self.order), n)), np.arange(n)
        flat = probabilities.reshape(M, -1).astype(np.float64)
        for row, total in zip(self.order, follow_sum_steps(flat, self.steps), strict=True):
            average = (total / self.size[row]).reshape(n, C)
            average[each, labels] -= 1
            np.einsum("nc,nc->n", average, average, out=scores[row])
        return scores


def _score_averages(probabilities: Floats, labels: Ints, held: NDArray[np.bool_], block: Ints) -> _CommitteeBrierScores:
    M, n, C = probabilities.shape
    committees, sums_of = len(held), _CommitteeSums.plan(held)
    loss, square = np.zeros(committees), np.zeros(committees)
    blocks = np.zeros((committees, int(block.max()) + 1))
    for rows in iterate_blocks(n, M * C, SUM_BLOCK_SIZE):
        part = np.arange(n)[rows]
        scores = sums_of.score(probabilities[:, rows], labels[rows])
        differences = scores - scores[-1]
        loss += differences.sum(axis=1)
        square += (differences**2).sum(axis=1)
        for number in np.unique(block[part]):
            blocks[:, number] += scores[:, block[part] == number].sum(axis=1)
    loss /= n
    variance = np.maximum(square / n - loss * loss, 0)
    return _CommitteeBrierScores(
        blocks.sum(axis=1) / n, DifferenceMoments(n, loss, variance, np.zeros_like(loss), _MAX_BRIER_SCORE), blocks
    )


def _brier_loss_terms(apart: Doubles, pairs: tuple[Ints, Ints]) -> NDArray[np.float32]:
    """(n, M + P), of which a committee's loss against the whole is a weighted sum.

    With e the whole's distance to the label and d_m a member's distance to the whole it is
    |Σ w_m d_m|² + 2 e Σ w_m d_m. These are small where members agree, so that nothing cancels
    and single precision, which is twice as fast, loses nothing.
    """
    whole = apart.mean(axis=0)
    own = apart - whole
    straight = 2 * np.einsum("mnc,nc->nm", own, whole)
    each = own.transpose(1, 0, 2)
    crossed = (each @ each.transpose(0, 2, 1))[:, pairs[0], pairs[1]]
    return np.concatenate([straight, crossed], axis=1).astype(np.float32)
