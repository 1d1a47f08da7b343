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
from ensemble.analysis.quality.averaging import Floats, Ints

Doubles = NDArray[np.float64]

MAX_BRIER_SCORE = 2.0  # no two Brier scores of one example are farther apart


class CommitteeBrierScores(NamedTuple):
    """What S committees score, by rising size, the whole ensemble last.

    Attributes:
      mean: (S,), the mean Brier score, in [0, 2].
      loss: the moments (S,) over the examples of a committee's score − the whole's, for an
        interval of bounded differences: without the third.
      blocks: (S, B), the sum of a committee's scores in each block of examples.
    """

    mean: Doubles
    loss: DifferenceMoments
    blocks: Doubles


def committee_brier_scores(
    probabilities: Floats, labels: Ints, held: NDArray[np.bool_], block: Ints
) -> CommitteeBrierScores:
    """Judge committees by their Brier score.

    Args:
      probabilities: (M, N, C).
      labels: (N,).
      held: (S, M), who is in which committee; all are in the last.
      block: (N,), the block of each example, in [0, B).
    """
    M, n, C = probabilities.shape
    weights = held / held.sum(axis=1, keepdims=True)
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
            terms = _brier_loss_terms(apart, pairs)
            squares += terms.T @ terms
        products.append(product)
    each = np.stack(
        [((weights @ block_product) * weights).sum(axis=1) for block_product in products], axis=1
    )
    mean = each.sum(axis=1) / n
    loss = mean - mean[-1]
    twice = np.where(pairs[0] == pairs[1], 1.0, 2.0)
    by = np.concatenate([weights, weights[:, pairs[0]] * weights[:, pairs[1]] * twice], axis=1)
    by = by.astype(np.float32)
    square = np.einsum("sp,sp->s", by @ squares.astype(np.float32), by, dtype=np.float64) / n
    variance = np.maximum(square - loss * loss, 0)
    variance[-1] = 0  # the whole is no distance from itself, whatever rounding says
    return CommitteeBrierScores(
        mean, DifferenceMoments(n, loss, variance, np.zeros_like(loss), MAX_BRIER_SCORE), each
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
