"""How many independent members any predictions are worth: deep ensemble equivalents.

Predictions of another kind (a snapshot ensemble, weights that were averaged, dropout that was
left on) are held against ensembles of 1, 2, 3 … independent members: they are worth as many as
it takes to do as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.subsets import MAX_MEMBERS
from ensemble.analysis.planning.committee_scores import Subset, list_committee_sizes, list_committees
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.analysis.quality.temperature_scaling import apply_temperature, fit_temperature

Doubles = NDArray[np.float64]

LEVEL = 0.95
ROUNDING = 1e-12  # nats: the same members, added in another order, are worth as many
_MAX_COMMITTEES_PER_SIZE = 8  # of a size, at most: a temperature is fitted for each
_RESAMPLES = 500
_RESAMPLE_BATCH = 50  # resamples at a time


@dataclass(frozen=True)
class MemberEquivalent:
    """How many independent members some predictions are worth, between whole numbers too.

    Attributes:
      value: how many; ∞ where it is more than `members`, 0 where they do worse than one.
      low: the lower end of the 95 % interval, and
      high: the upper end; ∞ and 0 as above.
      members: M, up to which is known what members come to.
    """

    value: float
    low: float
    high: float
    members: int


@dataclass(frozen=True, eq=False)
class _LikelihoodCurve:
    """What ensembles of independent members come to.

    Attributes:
      members: M.
      sizes: (K,), from 1 to M.
      likelihood: float64 (K, N), the calibrated log-likelihood of each example in nats, the mean
        over the committees of a size.
      committees: the committees that were looked at.
      committee_likelihoods: (S,), the mean over the examples of each of them.
    """

    members: int
    sizes: NDArray[np.int64]
    likelihood: Doubles
    committees: tuple[Subset, ...]
    committee_likelihoods: Doubles

    @property
    def mean(self) -> Doubles:
        """(K,), over the examples."""
        means: Doubles = self.likelihood.mean(axis=1)
        return means

    def member_spread(self, size: float) -> float:
        """How far one member's draw moves what an ensemble comes to, times the ensemble's size.

        The standard deviation of the first-order terms: the mean over n members is known to it
        divided by √n. It is measured of members alone and of all but one, and between these
        taken to follow 1 / size. 0 where there is one member.
        """
        M = self.members
        if M == 1:
            return 0.0
        alone, but_one = (
            np.array(
                [value for who, value in zip(self.committees, self.committee_likelihoods, strict=True) if len(who) == k]
            )
            for k in (1, M - 1)
        )
        ends = float(alone.std(ddof=1)), float((M - 1) * but_one.std(ddof=1))
        return float(np.interp(1 / size, [1 / max(M - 1, 1), 1], [ends[1], ends[0]]))


def calibrated_log_likelihood(probabilities: Floats, labels: Ints) -> Doubles:
    """The log-likelihood of each example at a temperature that was fitted without it, (N,).

    Two halves of the examples take turns: the temperature is fitted on one, the other is judged
    ("test-time cross-validation").

    Args:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C).

    Raises:
      ValueError: there are fewer than two examples.

    Source: A. Ashukha, A. Lyzhov, D. Molchanov and D. Vetrov, "Pitfalls of in-domain uncertainty
    estimation and ensembling in deep learning", ICLR 2020, section 3.
    """
    log_likelihoods = np.empty(len(labels))
    first_half, two = split_halves(labels)
    for fitted, judged in ((first_half, two), (two, first_half)):
        temperature = fit_temperature(probabilities[fitted], labels[fitted])
        log_likelihoods[judged] = -log_loss(apply_temperature(probabilities[judged], temperature), labels[judged])
    return log_likelihoods


def likelihood_curve(members: Floats, labels: Ints, seed: int = 0) -> _LikelihoodCurve:
    """What committees of independent members come to, by their size.

    At most `_MAX_COMMITTEES_PER_SIZE` of each size are evaluated, drawn at random if there are more.

    Args:
      members: (M, N, C), independent ones, each row of C a distribution; M at most 64.
      labels: (N,), class numbers in [0, C).
      seed: of the draw.

    Raises:
      ValueError: the shapes do not fit together, or M is out of its range.
    """
    if members.ndim != 3 or 0 in members.shape or labels.shape != members.shape[1:2]:
        raise ValueError(f"{members.shape} and {labels.shape} are not (M, N, C) and (N,).")
    if len(members) > MAX_MEMBERS:
        raise ValueError(f"{len(members)} members: there have to be 1 to {MAX_MEMBERS}.")
    M, sizes = len(members), list_committee_sizes(len(members))
    chosen = [committee for size in sizes for committee in _draw_committees(M, size, seed)]
    likelihood, of_each = np.zeros((len(sizes), len(labels))), []
    count = np.zeros(len(sizes))
    for subset in chosen:
        log_likelihood = calibrated_log_likelihood(average_probabilities(members[list(subset)]), labels)
        row = sizes.index(len(subset))
        likelihood[row] += log_likelihood
        count[row] += 1
        of_each.append(log_likelihood.mean())
    likelihood /= count[:, None]
    return _LikelihoodCurve(M, np.array(sizes), likelihood, tuple(chosen), np.array(of_each))


def equivalent_of_trainings(
    curve: _LikelihoodCurve, labels: Ints, trainings: Floats, seed: int = 0
) -> MemberEquivalent:
    """Compute how many independent members the predictions of K trainings are worth.

    As many as it takes to reach their mean calibrated log-likelihood, linear between sizes. The
    interval is a bootstrap over the examples (with fixed temperatures) that also draws the members,
    who could have been others, and the candidate, which another training would have made as much
    better or worse as an ensemble of the size that it is compared with; the draws of K trainings
    cancel. With one member the variance of neither is known.

    Args:
      curve: what independent members come to, on the same examples.
      labels: (N,), class numbers in [0, C).
      trainings: (K, N, C), the predictions of each training, each row of C a distribution.
      seed: of the bootstrap.

    Raises:
      ValueError: the shapes do not fit together.

    Source: A. Ashukha and others, "Pitfalls of in-domain uncertainty estimation and ensembling in
    deep learning", ICLR 2020, section 4.1 (the score); B. Efron and R. Tibshirani, "An Introduction
    to the Bootstrap" (1993), ch. 13.
    """
    N = curve.likelihood.shape[1]
    if trainings.ndim != 3 or not trainings.shape[1] == len(labels) == N or not len(trainings):
        raise ValueError(f"{trainings.shape} are not predictions (K, N, C) of the same examples.")
    its = np.mean([calibrated_log_likelihood(training, labels) for training in trainings], axis=0)
    M, draws = curve.members, np.random.default_rng(seed)
    value = interpolate_size(curve.sizes, curve.mean, float(its.mean()))
    # What a candidate of each size would be apart from the curve by: both drew their members.
    apart = np.array(
        [curve.member_spread(size) * math.sqrt(1 / M + 1 / (len(trainings) * size)) for size in curve.sizes]
    )
    values, equivalents = np.vstack([curve.likelihood, its[None]]), list[float]()
    for _ in range(_RESAMPLES // _RESAMPLE_BATCH):
        weights = np.stack([np.bincount(draws.integers(N, size=N), minlength=N) for _ in range(_RESAMPLE_BATCH)])
        means = values @ weights.T / N
        if M > 1:
            means[:-1] -= np.outer(apart, draws.standard_t(M - 1, size=_RESAMPLE_BATCH))
        equivalents += [interpolate_size(curve.sizes, sample[:-1], sample[-1]) for sample in means.T]
    tail = (1 - LEVEL) / 2
    # Of infinities no mean can be taken: an end is one of the values.
    low, high = np.quantile(equivalents, [tail, 1 - tail], method="inverted_cdf")
    return MemberEquivalent(value, min(float(low), value), max(float(high), value), M)


def interpolate_size(sizes: NDArray[np.int64], mean: Doubles, wanted: float) -> float:
    """The least size, between whole ones by a straight line, at which a curve reaches a value.

    Args:
      sizes: (K,), rising.
      mean: (K,), the curve.
      wanted: the value.

    Returns:
      ∞ where it is never reached, 0 where it is passed from the first on.
    """
    rising = np.maximum.accumulate(mean)
    if wanted < rising[0] - ROUNDING:
        return 0.0
    if wanted > rising[-1] + ROUNDING:
        return math.inf
    wanted = min(max(wanted, float(rising[0])), float(rising[-1]))
    at = int(np.searchsorted(rising, wanted))
    if not at:
        return float(sizes[0])
    share = (wanted - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(sizes[at - 1] + share * (sizes[at] - sizes[at - 1]))


def _draw_committees(members: int, size: int, seed: int) -> Sequence[Subset]:
    every = [committee for committee in list_committees(members, seed) if len(committee) == size]
    if len(every) <= _MAX_COMMITTEES_PER_SIZE or size in (1, members - 1):
        return every
    draws = np.random.default_rng([seed, members, size])
    return [every[place] for place in np.sort(draws.permutation(len(every))[:_MAX_COMMITTEES_PER_SIZE])]
