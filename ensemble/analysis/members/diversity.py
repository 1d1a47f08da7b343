"""How different the members are, pair by pair, and what the ensemble gains from it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import SUM_BLOCK_SIZE, iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities, count_votes
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY


@dataclass(frozen=True)
class NllDecomposition:
    """ensemble_nll = mean_member_nll − diversity, all in nats and at least 0.

    Attributes:
      ensemble_nll: the mean negative log-likelihood of the averaged probabilities.
      mean_member_nll: that of the members, averaged over them.
      diversity: what averaging saves, the Jensen gap.
    """

    ensemble_nll: float
    mean_member_nll: float
    diversity: float


def disagreement_matrix(votes: Ints) -> NDArray[np.float64]:
    """The share of examples that two members vote differently on.

    Args:
      votes: (M, N), class numbers.

    Returns:
      (M, M), in [0, 1], symmetric, 0 on the diagonal.

    Source: L. I. Kuncheva and C. J. Whitaker, "Measures of diversity in classifier ensembles
    and their relationship with the ensemble accuracy", Machine Learning 51 (2003), 181-207
    (there of right and wrong, here of the classes).
    """
    M, N = votes.shape
    classes = int(votes.max(initial=0)) + 1
    alike = np.zeros((M, M))
    for rows in iterate_blocks(N, M + classes, SUM_BLOCK_SIZE):
        part = votes[:, rows]
        tallies = count_votes(part, classes)
        alike += (tallies == M).sum()  # of a class that all or none vote for, no pair has to be compared
        contested = np.argwhere((tallies > 0) & (tallies < M))
        for columns in iterate_blocks(len(contested), M, SUM_BLOCK_SIZE):
            examples, chosen = contested[columns].T
            same = (part[:, examples] == chosen).astype(np.float32)  # whose sums are whole numbers below 2^24
            alike += same @ same.T
    return (N - alike) / N


def mean_kl_divergence(probabilities: Floats) -> NDArray[np.float64]:
    """The mean Kullback-Leibler divergence of one member's distributions from another's.

    Row r, column c: 1/N Σ_n Σ_k p_r ln(p_r / p_c). A probability below `MIN_PROBABILITY` counts as
    that in the logarithm, so that what one member says and the other holds impossible costs
    much, but not everything.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (M, M), in nats, at least 0 and 0 on the diagonal; not symmetric.

    Source: S. Kullback and R. A. Leibler, "On information and sufficiency", Annals of
    Mathematical Statistics 22 (1951), 79-86.
    """
    M, N, C = probabilities.shape
    crossed = np.zeros((M, M))
    for rows in iterate_blocks(N, M * C, SUM_BLOCK_SIZE):
        flat = probabilities[:, rows].reshape(M, -1).astype(np.float64)
        logs = np.maximum(flat, MIN_PROBABILITY)
        crossed += flat @ np.log(logs, out=logs).T
    apart = np.diag(crossed)[:, None] - crossed
    # Stored rows sum to 1 only to float32's precision, which can put a zero a little below it.
    return np.maximum(apart / probabilities.shape[1], 0.0)


def q_statistic(right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Yule's Q of two members' being right: (ad − bc) / (ad + bc).

    With a the examples that both have right, d both wrong, b and c only one of them right. 0
    where they err independently, 1 where one errs only where the other does, −1 where never.

    Args:
      right: (M, N), where each member is right.

    Returns:
      (M, M), in [−1, 1], symmetric, 1 on the diagonal; NaN where ad + bc = 0.

    Source: L. I. Kuncheva and C. J. Whitaker (2003).
    """
    hits, misses = right.astype(np.float64), (~right).astype(np.float64)
    alike = (hits @ hits.T) * (misses @ misses.T)
    apart = (hits @ misses.T) * (misses @ hits.T)
    whole = alike + apart
    q_values = np.where(whole > 0, (alike - apart) / np.where(whole > 0, whole, 1), np.nan)
    np.fill_diagonal(q_values, 1.0)
    return q_values


def double_fault(right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of examples that two members both have wrong.

    Args:
      right: (M, N), where each member is right.

    Returns:
      (M, M), in [0, 1], symmetric; on the diagonal each member's own error rate.

    Source: G. Giacinto and F. Roli (2001), as in L. I. Kuncheva and C. J. Whitaker (2003).
    """
    misses = (~right).astype(np.float64)
    return misses @ misses.T / right.shape[1]


def nll_decomposition(probabilities: Floats, labels: Ints) -> NllDecomposition:
    """The ensemble's loss as its members' mean loss less their diversity, exactly.

    diversity = 1/N Σ_n 1/M Σ_m ln(p̄_y / p_m,y), computed on its own and not as a difference;
    by Jensen's inequality it is at least 0. Every probability below `MIN_PROBABILITY` counts as
    that, in all three alike, so that the equation holds also where a member says 0.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).

    Source: T. Abe and others, "Deep ensembles work, but are they necessary?", NeurIPS 2022.
    """
    # Of the average only the label's entries count, and each of them is averaged by itself.
    label_probabilities = probabilities[:, np.arange(len(labels)), labels]
    ensemble = np.maximum(average_probabilities(label_probabilities), MIN_PROBABILITY)
    own = np.maximum(label_probabilities.astype(np.float64), MIN_PROBABILITY)
    mean_member_nll = float(-np.log(own).mean())
    return NllDecomposition(
        ensemble_nll=float(-np.log(ensemble).mean()),
        mean_member_nll=mean_member_nll,
        diversity=float(np.log(np.divide(ensemble, own, out=own), out=own).mean()),
    )


def oracle_accuracy(votes: Ints, labels: Ints) -> float:
    """The share of examples that at least one member has right: no choice among them does better.

    Args:
      votes: (M, N), class numbers.
      labels: (N,), class numbers.

    Returns:
      In [0, 1].

    Source: L. I. Kuncheva, "Combining pattern classifiers", 2004, on the oracle.
    """
    return float((votes == labels).any(axis=0).mean())
