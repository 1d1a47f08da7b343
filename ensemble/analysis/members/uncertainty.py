"""How unsure the ensemble is of each example, and of which kind that is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.members.disagreement import entropy, expected_entropy
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints


@dataclass(frozen=True, eq=False)
class UncertaintyMeasures:
    """Five measures of N examples; higher is less sure, but for the vote margin.

    Attributes:
      predictive: (N,), nats in [0, ln C]: all of it, the entropy of the average.
      expected: (N,), nats in [0, ln C]: aleatoric, what each member is unsure of by itself.
      information: (N,), nats in [0, ln min(M, C)]: epistemic, what the members differ in.
      variation_ratio: (N,), in [0, 1): the share of the members that do not vote as most do.
      vote_margin: (N,), in [0, 1]: the share of votes of the first class less that of the second.
    """

    predictive: Floats
    expected: NDArray[np.float64]
    information: Floats
    variation_ratio: NDArray[np.float64]
    vote_margin: NDArray[np.float64]


def measure_uncertainty(predictions: EnsemblePredictions) -> UncertaintyMeasures:
    """All measures of uncertainty, all in double precision.

    With p̄ = 1/M Σ_m p_m and H(p) = −Σ_c p_c ln p_c (0 ln 0 = 0): predictive = H(p̄), expected
    = 1/M Σ_m H(p_m) and information = predictive − expected. Variation ratio = 1 − n₁/M
    and vote margin = (n₁ − n₂)/M with n₁ ≥ n₂ the most votes for any two classes. One member
    alone: no information, ratio 0, margin 1.

    Source: N. Houlsby and others (2011), arXiv:1112.5745, and S. Depeweg and others,
    "Decomposition of uncertainty in Bayesian deep learning", ICML 2018, for the parts; L. C.
    Freeman, "Elementary applied statistics", 1965, for the variation ratio.
    """
    first, second = _top_two_votes(predictions.tallies)
    return UncertaintyMeasures(
        predictive=entropy(predictions.averaged),
        expected=expected_entropy(predictions.probabilities),
        information=predictions.information,
        variation_ratio=1 - first / predictions.members,
        vote_margin=(first - second) / predictions.members,
    )


def _top_two_votes(tallies: Ints) -> tuple[Ints, Ints]:
    """The most votes for any class, and the second most, of each example, (N,) and (N,)."""
    first = tallies.max(axis=1)
    second = np.zeros_like(first)
    for rows in iterate_blocks(*tallies.shape):
        if tallies.shape[1] > 1:
            second[rows] = np.partition(tallies[rows], -2, axis=1)[:, -2]
    return first, second
