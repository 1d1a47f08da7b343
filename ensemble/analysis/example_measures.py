"""Measures of each example: how sure an ensemble is, and which kind of uncertainty remains.

Each has one name, which is its column in tables, its field in JSON and its word in options.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.members.disagreement import entropy, expected_entropy, mutual_information, pairwise_disagreement
from ensemble.analysis.quality.averaging import (
    Floats,
    Ints,
    average_probabilities,
    count_votes,
    most_likely_classes,
    prediction_confidence,
)

Measures = dict[str, NDArray[np.float64]]
# The spacing of float32 numbers below 1: stored probabilities do not resolve less next to 1.
_LEAST_PROBABILITY = float(np.finfo(np.float32).eps)


class MeasurableOutputs(Protocol):
    """Outputs of M members for N examples of C classes."""

    @property
    def probabilities(self) -> Floats:
        """(M, N, C), each row of C a distribution."""

    @property
    def averaged(self) -> Floats:
        """(N, C), the mean over members."""

    @property
    def tallies(self) -> Ints:
        """(N, C), how many members vote for each class."""

    @property
    def epistemic(self) -> Floats:
        """(N,), the mutual information; once, because orders need it, too."""


@dataclass(frozen=True, eq=False)
class MemberOutputs:
    """Measurable outputs of examples of which only probabilities are known, as of a pool of images.

    Attributes:
      probabilities: (M, N, C), each row of C a distribution.
    """

    probabilities: Floats

    @cached_property
    def averaged(self) -> NDArray[np.float64]:
        """(N, C)."""
        return average_probabilities(self.probabilities)

    @cached_property
    def tallies(self) -> NDArray[np.int64]:
        """(N, C)."""
        return count_votes(most_likely_classes(self.probabilities), self.probabilities.shape[2])

    @cached_property
    def epistemic(self) -> NDArray[np.float64]:
        """(N,), in nats."""
        return mutual_information(self.probabilities, self.averaged)


@dataclass(frozen=True)
class ExampleMeasure:
    """One number per example.

    Attributes:
      name: its column in tables, its field in JSON, its word in options and addresses.
      term: its name in sentences and labels, such as "epistemic uncertainty".
      unit: "nats", or "" for a share.
      gloss: a sentence on what it measures.
      compute: returns (N,) in double precision.
      needs_members: whether it is the same for all examples with one member.
      high_is_unsure: whether a higher value means more uncertainty.
    """

    name: str
    term: str
    unit: str
    gloss: str
    compute: Callable[[MeasurableOutputs], NDArray[np.float64]]
    needs_members: bool
    high_is_unsure: bool = True

    @property
    def title(self) -> str:
        """The unsure end: "Highest entropy", "Lowest margin"."""
        return f"{'Highest' if self.high_is_unsure else 'Lowest'} {self.term}"

    def score_uncertainty(self, outputs: MeasurableOutputs) -> NDArray[np.float64]:
        """Compute the measure with a sign that makes higher values less sure, (N,)."""
        values = self.compute(outputs)
        return values if self.high_is_unsure else -values


def compute_measures(outputs: MeasurableOutputs, names: Sequence[str] = ()) -> Measures:
    """Compute measures by name, (N,) each in double precision.

    Args:
      outputs: predictions, or `MemberOutputs` of probabilities alone.
      names: names in `EXAMPLE_MEASURES`; () for all.
    """
    return {name: EXAMPLE_MEASURES[name].compute(outputs) for name in names or EXAMPLE_MEASURES}


def _compute_confidence(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return max_c p̄_c, in [1/C, 1].

    Source: D. Hendrycks and K. Gimpel, "A baseline for detecting misclassified and
    out-of-distribution examples in neural networks", ICLR 2017.
    """
    return np.asarray(prediction_confidence(outputs.averaged), np.float64)


def _compute_margin(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return p̄ of the first class minus p̄ of the second, in [0, 1]; 1 with one class.

    Source: T. Scheffer, C. Decomain and S. Wrobel, "Active hidden Markov models for information
    extraction", IDA 2001; A. J. Joshi, F. Porikli and N. Papanikolopoulos, "Multi-class active
    learning for image classification", CVPR 2009 (best versus second best).
    """
    first, second = _find_two_largest(outputs.averaged)
    return np.asarray(first - second, np.float64)


def _compute_entropy(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return H(p̄) = −Σ_c p̄_c ln p̄_c, with 0 ln 0 = 0, in [0, ln C].

    Source: N. Houlsby and others, "Bayesian active learning for classification and preference
    learning" (2011), arXiv:1112.5745.
    """
    return np.asarray(entropy(outputs.averaged), np.float64)


def _compute_aleatoric(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return 1/M Σ_m H(p_m), in [0, ln C].

    Source: S. Depeweg and others, "Decomposition of uncertainty in Bayesian deep learning", ICML
    2018.
    """
    return expected_entropy(outputs.probabilities)


def _compute_epistemic(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return H(p̄) − 1/M Σ_m H(p_m), in [0, ln min(M, C)]: the mutual information.

    Source: N. Houlsby and others (2011), arXiv:1112.5745; S. Depeweg and others, ICML 2018.
    """
    return np.asarray(outputs.epistemic, np.float64)


def _compute_pairwise_kl(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return 1/M² Σ_ij KL(p_i ‖ p_j), at least 0: the mutual information plus the reverse one.

    Over all ordered pairs, a member with itself included. A probability p below ε = 2⁻²³ counts as
    ε, without a new normalization, so that it is at most (1 − 1/M) (1 + C ε) ln 1/ε < 16. It is
    computed as Σ_c of the covariance over members of p_c and ln p_c, which is the same sum.

    Source: A. Malinin and M. Gales, "Uncertainty estimation in autoregressive structured
    prediction", ICLR 2021 (EPKL); K. Schweighofer, L. Aichberger, M. Ielanskyi and S. Hochreiter,
    "Introducing an improved information-theoretic measure of predictive uncertainty" (2023),
    arXiv:2311.08309.
    """
    members, examples, classes = outputs.probabilities.shape
    divergences = np.empty(examples)
    for rows in iterate_blocks(examples, classes):
        mean, mean_log, mean_product = np.zeros((3, len(outputs.averaged[rows]), classes))
        for member in outputs.probabilities:
            clipped = np.maximum(member[rows].astype(np.float64), _LEAST_PROBABILITY)
            logs = np.log(clipped)
            mean += clipped / members
            mean_log += logs / members
            mean_product += clipped * logs / members
        divergences[rows] = (mean_product - mean * mean_log).sum(axis=1)
    return np.maximum(divergences, 0.0)  # Rounding can put an exact zero a little below it.


def _compute_disagreement(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return the share of pairs of members that vote for different classes, in [0, 1].

    Source: L. I. Kuncheva and C. J. Whitaker, "Measures of diversity in classifier ensembles and
    their relationship with the ensemble accuracy", Machine Learning 51 (2003), 181-207.
    """
    shares = np.empty(len(outputs.tallies))
    for rows in iterate_blocks(*outputs.tallies.shape):
        shares[rows] = pairwise_disagreement(outputs.tallies[rows])
    return shares


def _compute_variation_ratio(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return 1 − n₁/M with n₁ the most votes for any class, in [0, 1).

    Source: L. C. Freeman, "Elementary applied statistics", 1965.
    """
    return 1 - outputs.tallies.max(axis=1) / len(outputs.probabilities)


def _compute_vote_margin(outputs: MeasurableOutputs) -> NDArray[np.float64]:
    """Return (n₁ − n₂)/M with n₁ ≥ n₂ the most votes for any two classes, in [0, 1].

    Source: R. E. Schapire, Y. Freund, P. Bartlett and W. S. Lee, "Boosting the margin", Annals of
    Statistics 26 (1998), 1651-1686, with the most frequent class in the label's place.
    """
    first, second = _find_two_largest(outputs.tallies)
    return np.asarray((first - second) / len(outputs.probabilities), np.float64)


def _find_two_largest(values: NDArray[np.number]) -> tuple[NDArray[np.number], NDArray[np.number]]:
    """Return the largest and the second largest value of each row, (N,) and (N,)."""
    first = values.max(axis=1)
    second = np.zeros_like(first)
    if values.shape[1] > 1:
        for rows in iterate_blocks(*values.shape):
            second[rows] = np.partition(values[rows], -2, axis=1)[:, -2]
    return first, second


EXAMPLE_MEASURES = {
    measure.name: measure
    for measure in (
        ExampleMeasure(
            name="confidence",
            term="confidence",
            unit="",
            gloss="The averaged probability of the answer.",
            compute=_compute_confidence,
            needs_members=False,
            high_is_unsure=False,
        ),
        ExampleMeasure(
            name="margin",
            term="margin",
            unit="",
            gloss="The averaged probability of the likeliest class minus that of the second.",
            compute=_compute_margin,
            needs_members=False,
            high_is_unsure=False,
        ),
        ExampleMeasure(
            name="entropy",
            term="entropy",
            unit="nats",
            gloss="How spread out the averaged probabilities are: all of the uncertainty.",
            compute=_compute_entropy,
            needs_members=False,
        ),
        ExampleMeasure(
            name="aleatoric",
            term="aleatoric uncertainty",
            unit="nats",
            gloss="What each member is unsure of by itself: the mean of their entropies.",
            compute=_compute_aleatoric,
            needs_members=False,
        ),
        ExampleMeasure(
            name="epistemic",
            term="epistemic uncertainty",
            unit="nats",
            gloss="What the members disagree about: the mutual information.",
            compute=_compute_epistemic,
            needs_members=True,
        ),
        ExampleMeasure(
            name="pairwise_kl",
            term="pairwise KL divergence",
            unit="nats",
            gloss="How far the probabilities of two members are apart, on average over all pairs.",
            compute=_compute_pairwise_kl,
            needs_members=True,
        ),
        ExampleMeasure(
            name="disagreement",
            term="disagreement",
            unit="",
            gloss="The share of pairs of members that vote differently.",
            compute=_compute_disagreement,
            needs_members=True,
        ),
        ExampleMeasure(
            name="variation_ratio",
            term="variation ratio",
            unit="",
            gloss="The share of members that do not vote for the most frequent class.",
            compute=_compute_variation_ratio,
            needs_members=True,
        ),
        ExampleMeasure(
            name="vote_margin",
            term="vote margin",
            unit="",
            gloss="The share of votes for the most frequent class minus that for the second.",
            compute=_compute_vote_margin,
            needs_members=True,
            high_is_unsure=False,
        ),
    )
}
