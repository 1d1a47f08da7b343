"""Other ways than the mean to make one answer of M: geometric mean, majority, fitted weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import blocks
from ensemble.analysis.inference.multiple_tests import holm
from ensemble.analysis.members.gain import Gain, paired_gain
from ensemble.analysis.members.weights import fitted_weights
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Floats, Ints, votes
from ensemble.analysis.quality.halves import halves
from ensemble.analysis.quality.metrics import Answers
from ensemble.analysis.quality.scores import TINY, at_label, log_loss
from ensemble.analysis.quality.summary import Quality, quality, quality_of

OTHERS = ("geometric", "majority", "weighted")  # than the arithmetic mean
PROBABILISTIC = ("geometric", "weighted")  # of these, those that give probabilities


@dataclass(frozen=True, eq=False)
class Combination:
    """What one way of combining gives.

    Attributes:
      quality: its figures on the half that nothing was fitted on.
      said: (N,), its class for every example.
      changed: the numbers of the examples, of all N and rising, where it says something else
        than the arithmetic mean.
      gain: what it is better by than the arithmetic mean, on that half; of this itself, nothing.
    """

    quality: Quality
    said: Ints
    changed: Ints
    gain: Gain


@dataclass(frozen=True, eq=False)
class Combined:
    """Four ways of combining, side by side, all judged on the same examples.

    Attributes:
      arithmetic: the mean of the probabilities: what the ensemble says everywhere else.
      geometric: the normalised mean of their logarithms.
      majority: the class that most members vote for; its probabilities are vote shares.
      weighted: the mean with `weights`.
      weights: (M,), at least 0, they sum to 1; fitted on none of what is judged.
      judged: (N,), where the quality is of the example: one half, as `halves.halves` made it, or
        all where the weights were fitted on examples of their own.
      fitted: how many examples the weights were fitted on.
    """

    arithmetic: Combination
    geometric: Combination
    majority: Combination
    weighted: Combination
    weights: NDArray[np.float64]
    judged: NDArray[np.bool_]
    fitted: int

    @property
    def held_out(self) -> bool:
        """Whether the weights were fitted on one half of these examples, held out of judging."""
        return not self.judged.all()

    @property
    def adjusted(self) -> dict[str, tuple[float, float]]:
        """(p of accuracy, p of NLL) against the mean by the way's name, for all tests at once.

        Holm's, over the accuracies of the three ways and the NLL of the two that give
        probabilities; a majority's shares of votes do not, and their p of NLL is NaN.
        """
        gains = {name: getattr(self, name).gain for name in OTHERS}
        tests = [one.p for one in gains.values()], [gains[name].nll_p for name in PROBABILISTIC]
        p, nll_p = np.split(holm(np.concatenate(tests)), [len(OTHERS)])
        nll = dict(zip(PROBABILISTIC, nll_p.tolist(), strict=True))
        return {
            name: (one, nll.get(name, np.nan)) for name, one in zip(OTHERS, p.tolist(), strict=True)
        }


def geometric(probabilities: Floats) -> NDArray[np.float64]:
    """The geometric mean over members, normalised: p_c ∝ Π_m p_mc^(1/M).

    The mean of the members' logits, after a softmax. A probability below `scores.TINY` counts
    as that, so that one member's 0 is not a veto of unbounded weight.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N, C), each row a distribution.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 5 (the
    product rule); the logarithmic opinion pool.
    """
    found = np.zeros(probabilities.shape[1:])
    for rows in blocks(len(found), probabilities.shape[-1]):
        total = found[rows]
        for member in probabilities:
            total += np.log(np.maximum(member[rows].astype(np.float64), TINY))
        total /= len(probabilities)
        powers = np.exp(total - total.max(axis=-1, keepdims=True))
        np.divide(powers, powers.sum(axis=-1, keepdims=True), out=total)
    return found


def majority(tallies: Ints, averaged: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The class with the most votes; of equal ones the one with the larger averaged probability.

    Args:
      tallies: (N, C) votes for each class, from `averaging.tally`; rows sum to M.
      averaged: (N, C), from `averaging.average`; where it is equal too, the lower class.

    Returns:
      said (N,), class numbers; shares (N, C), the share of the votes as a probability.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 4 (majority,
    here plurality, vote).
    """
    said, shares = np.empty(len(tallies), np.int64), np.empty(tallies.shape)
    for rows in blocks(*tallies.shape):
        part = tallies[rows]
        leading = part == part.max(axis=1, keepdims=True)
        said[rows] = np.where(leading, averaged[rows], -1.0).argmax(axis=1)
        np.divide(part, part.sum(axis=1, keepdims=True), out=shares[rows])
    return said, shares


def compare(made: Predictions, fit: Predictions | None = None) -> Combined:
    """All four ways, judged on examples that nothing was fitted on.

    Args:
      made: what is judged.
      fit: what the weights are fitted on, the same members' on other examples; None: one half
        of `made`, and every quality is of the other.

    Raises:
      ValueError: there are fewer than two examples, or `fit` is of other members.
    """
    if fit is None:
        fitted, judged = halves(made.labels)
        known = [at_label(member, made.labels)[fitted] for member in made.probabilities]
    else:
        judged = np.ones(len(made.labels), bool)
        known = [at_label(member, fit.labels) for member in fit.probabilities]
    found = fitted_weights(np.stack(known))

    def voted() -> Combination:
        said, shares = majority(made.tallies, made.averaged)
        figures = _quality_of_votes(shares[judged], said[judged], made.labels[judged])
        return _against_mean(made, judged, shares, said, figures)

    def combination(distributions: Floats) -> Combination:
        figures = quality(distributions[judged], made.labels[judged])
        return _against_mean(made, judged, distributions, votes(distributions), figures)

    return Combined(
        arithmetic=combination(made.averaged),
        geometric=combination(geometric(made.probabilities)),
        majority=voted(),
        weighted=combination(_weighted_mean(made.probabilities, found)),
        weights=found,
        judged=judged,
        fitted=len(known[0]),
    )


def _weighted_mean(probabilities: Floats, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.zeros(probabilities.shape[1:])
    for rows in blocks(len(found), probabilities.shape[-1]):
        for one, member in zip(weight, probabilities, strict=True):
            found[rows] += one * member[rows].astype(np.float64)
    return found


def _against_mean(
    made: Predictions,
    judged: NDArray[np.bool_],
    distributions: Floats,
    said: Ints,
    figures: Quality,
) -> Combination:
    """One way beside the arithmetic mean, paired example by example."""
    labels = made.labels[judged]
    saved = (log_loss(made.averaged, made.labels) - log_loss(distributions, made.labels))[judged]
    found = paired_gain(said[judged] == labels, made.right[judged], saved)
    return Combination(figures, said, np.flatnonzero(said != made.said), found)


def _quality_of_votes(shares: Floats, said: Ints, labels: Ints) -> Quality:
    """As `quality`, but for what was said after ties were decided, which shares do not show."""
    return quality_of(Answers(shares, labels, shares.max(axis=1), said == labels))
