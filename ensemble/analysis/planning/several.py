"""How many independent members a cheaper ensemble is worth, from several trainings of it."""

import math

import numpy as np

from ensemble.analysis.planning.equivalents import (
    LEVEL,
    RESAMPLES,
    TOGETHER,
    Curve,
    Equivalent,
    calibrated,
    reached,
)
from ensemble.analysis.quality.averaging import Floats, Ints


def worth_of_several(known: Curve, labels: Ints, trainings: Floats, seed: int = 0) -> Equivalent:
    """How many independent members the mean of K trainings of the same thing is worth.

    As `equivalents.worth`, but the calibrated log-likelihood is the mean over K trainings, whose
    draws cancel: an ensemble that a member makes by itself has been made by every member of a run.
    With one training it is the same.

    Args:
      known: what independent members come to, on the same examples.
      labels: (N,), class numbers in [0, C).
      trainings: (K, N, C), the predictions of each training, each row of C a distribution.
      seed: of the bootstrap.

    Raises:
      ValueError: the shapes do not fit together.

    Source: A. Ashukha and others, "Pitfalls of in-domain uncertainty estimation and ensembling in
    deep learning", ICLR 2020, section 4.1.
    """
    N = known.likelihood.shape[1]
    if trainings.ndim != 3 or not trainings.shape[1] == len(labels) == N or not len(trainings):
        raise ValueError(f"{trainings.shape} are not predictions (K, N, C) of the same examples.")
    M, K, draws = known.members, len(trainings), np.random.default_rng(seed)
    its = np.mean([calibrated(one, labels) for one in trainings], axis=0)
    value = reached(known.sizes, known.mean, float(its.mean()))
    each = min(max(value, 1.0), M)
    error = known.spread(each) * math.sqrt(1 / M + 1 / (K * each))
    values, found = np.vstack([known.likelihood, its[None]]), list[float]()
    for _ in range(RESAMPLES // TOGETHER):
        weights = np.stack(
            [np.bincount(draws.integers(N, size=N), minlength=N) for _ in range(TOGETHER)]
        )
        means = values @ weights.T / N
        if M > 1:
            means[-1] += error * draws.standard_t(M - 1, size=TOGETHER)
        found += [reached(known.sizes, one[:-1], one[-1]) for one in means.T]
    tail = (1 - LEVEL) / 2
    # Of infinities no mean can be taken: an end is one of the values.
    low, high = np.quantile(found, [tail, 1 - tail], method="inverted_cdf")
    return Equivalent(value, min(float(low), value), max(float(high), value), M)
