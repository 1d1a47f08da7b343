"""How many independent members a cheaper ensemble is worth, from several trainings of it."""

import numpy as np

from ensemble.analysis.planning.equivalents import (
    LikelihoodCurve,
    MemberEquivalent,
    calibrated_log_likelihood,
    equivalent_of_likelihood,
)
from ensemble.analysis.quality.averaging import Floats, Ints


def equivalent_of_trainings(
    known: LikelihoodCurve, labels: Ints, trainings: Floats, seed: int = 0
) -> MemberEquivalent:
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
    its = np.mean([calibrated_log_likelihood(one, labels) for one in trainings], axis=0)
    return equivalent_of_likelihood(known, its, len(trainings), seed)
