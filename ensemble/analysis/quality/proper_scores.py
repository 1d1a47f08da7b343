"""Proper scores: how far probabilities are from what the examples are, one by one."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints

MIN_PROBABILITY = float(np.finfo(np.float32).tiny)  # the least normal number that a stored float32 can be


def label_probability(probabilities: Floats, labels: Ints) -> NDArray[np.float64]:
    """The probability of what each example is, at least `MIN_PROBABILITY` so that it has a logarithm.

    Probabilities are stored as float32, where very small ones are rounded to 0;
    `MIN_PROBABILITY` (1.2e-38) replaces them, and no example costs more than 87.3 nats.

    Args:
      probabilities: (..., N, C).
      labels: (N,), class numbers in [0, C).

    Returns:
      (..., N), in [`MIN_PROBABILITY`, 1].
    """
    chosen = probabilities[..., np.arange(len(labels)), labels]
    return np.maximum(chosen.astype(np.float64), MIN_PROBABILITY)


def log_loss(probabilities: Floats, labels: Ints) -> NDArray[np.float64]:
    """The negative log-likelihood of each example, −ln p(label), with p at least `MIN_PROBABILITY`.

    Args:
      probabilities: (..., N, C).
      labels: (N,), class numbers in [0, C).

    Returns:
      (..., N), in nats, in [0, 87.3]: 0 where the label was certain.

    Source: I. J. Good, "Rational decisions", JRSS B 14 (1952), 107-114.
    """
    return -np.log(label_probability(probabilities, labels))


def brier_score(probabilities: Floats, labels: Ints) -> NDArray[np.float64]:
    """Compute the squared distance to certainty of the label, Σ_c (p_c − [c = label])².

    Summed over classes, as Brier did: twice what is often given for two classes.

    Args:
      probabilities: (..., N, C).
      labels: (N,), class numbers in [0, C).

    Returns:
      (..., N), in [0, 2].

    Source: G. W. Brier, "Verification of forecasts expressed in terms of probability",
    Monthly Weather Review 78 (1950), 1-3.
    """
    scores = np.empty(probabilities.shape[:-1])
    for rows in iterate_blocks(len(labels), probabilities.size // max(1, len(labels))):
        apart = probabilities[..., rows, :].astype(np.float64)
        apart[..., np.arange(apart.shape[-2]), labels[rows]] -= 1
        scores[..., rows] = np.einsum("...c,...c->...", apart, apart)
    return scores
