"""Other ways than the mean to make one answer of M: geometric mean, majority, fitted weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll
from ensemble.analysis.members.gain import PairedGain, paired_gain
from ensemble.analysis.members.member_weights import fit_mixture_weights
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints, most_likely_classes
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.metrics import ClassifierAnswers
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY, label_probability, log_loss
from ensemble.analysis.quality.quality import Quality, measure_answer_quality, measure_quality

OTHER_RULES = ("geometric", "majority", "weighted")  # than the arithmetic mean
_PROBABILISTIC_RULES = ("geometric", "weighted")  # of these, those that give probabilities


@dataclass(frozen=True, eq=False)
class CombinationResult:
    """What one way of combining gives.

    Attributes:
      quality: its metrics on the half that nothing was fitted on.
      said: (N,), its class for every example.
      changed_examples: the numbers of the examples, of all N and rising, where it says something
        else than the arithmetic mean.
      gain: what it is better by than the arithmetic mean, on that half; of this itself, nothing.
    """

    quality: Quality
    said: Ints
    changed_examples: Ints
    gain: PairedGain


@dataclass(frozen=True, eq=False)
class CombinationComparison:
    """Four ways of combining, side by side, all judged on the same examples.

    Attributes:
      arithmetic: the mean of the probabilities: what the ensemble says everywhere else.
      geometric: the normalised mean of their logarithms.
      majority: the class that most members vote for; its probabilities are vote shares.
      weighted: the mean with `weights`.
      weights: (M,), at least 0, they sum to 1; fitted on none of what is judged.
      judged: (N,), where the quality is of the example: one half, as `split_halves` made it,
        or all where the weights were fitted on examples of their own.
      fitted: how many examples the weights were fitted on.
    """

    arithmetic: CombinationResult
    geometric: CombinationResult
    majority: CombinationResult
    weighted: CombinationResult
    weights: NDArray[np.float64]
    judged: NDArray[np.bool_]
    fitted: int

    @property
    def uses_held_out_half(self) -> bool:
        """Whether the weights were fitted on one half of these examples, held out of judging."""
        return not self.judged.all()

    @property
    def adjusted_p_values(self) -> dict[str, tuple[float, float]]:
        """(p of accuracy, p of NLL) against the mean by the way's name, for all tests at once.

        Holm's, over the accuracies of the three ways and the NLL of the two that give
        probabilities; a majority's shares of votes do not, and their p of NLL is NaN.
        """
        gains = {name: getattr(self, name).gain for name in OTHER_RULES}
        tests = ([gain.p for gain in gains.values()], [gains[name].nll_p for name in _PROBABILISTIC_RULES])
        p, nll_p = np.split(adjust_p_holm(np.concatenate(tests)), [len(OTHER_RULES)])
        nll = dict(zip(_PROBABILISTIC_RULES, nll_p.tolist(), strict=True))
        return {
            name: (accuracy_p, nll.get(name, np.nan)) for name, accuracy_p in zip(OTHER_RULES, p.tolist(), strict=True)
        }


def geometric_mean_probabilities(probabilities: Floats) -> NDArray[np.float64]:
    """The geometric mean over members, normalised: p_c ∝ Π_m p_mc^(1/M).

    The mean of the members' logits, after a softmax. A probability below `MIN_PROBABILITY` counts
    as that, so that one member's 0 is not a veto of unbounded weight.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N, C), each row a distribution.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 5 (the
    product rule); the logarithmic opinion pool.
    """
    means = np.zeros(probabilities.shape[1:])
    for rows in iterate_blocks(len(means), probabilities.shape[-1]):
        total = means[rows]
        for member in probabilities:
            total += np.log(np.maximum(member[rows].astype(np.float64), MIN_PROBABILITY))
        total /= len(probabilities)
        powers = np.exp(total - total.max(axis=-1, keepdims=True))
        np.divide(powers, powers.sum(axis=-1, keepdims=True), out=total)
    return means


def majority_vote(tallies: Ints, averaged: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The class with the most votes; of equal ones the one with the larger averaged probability.

    Args:
      tallies: (N, C) votes for each class, from `averaging.count_votes`; rows sum to M.
      averaged: (N, C), from `averaging.average_probabilities`; where it is equal too, the lower
        class.

    Returns:
      said (N,), class numbers; shares (N, C), the share of the votes as a probability.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 4 (majority,
    here plurality, vote).
    """
    answers, shares = np.empty(len(tallies), np.int64), np.empty(tallies.shape)
    for rows in iterate_blocks(*tallies.shape):
        part = tallies[rows]
        leading = part == part.max(axis=1, keepdims=True)
        answers[rows] = np.where(leading, averaged[rows], -1.0).argmax(axis=1)
        np.divide(part, part.sum(axis=1, keepdims=True), out=shares[rows])
    return answers, shares


def compare_combining_rules(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> CombinationComparison:
    """All four ways, judged on examples that nothing was fitted on.

    Args:
      predictions: what is judged.
      fit: what the weights are fitted on, the same members' on other examples; None: one half
        of `predictions`, and every quality is of the other.

    Raises:
      ValueError: there are fewer than two examples, or `fit` is of other members.
    """
    if fit is None:
        fitted, judged = split_halves(predictions.labels, predictions.groups)
        rows = np.flatnonzero(fitted)
        label_probabilities = [
            label_probability(member[rows], predictions.labels[rows]) for member in predictions.probabilities
        ]
    else:
        judged = np.ones(len(predictions.labels), bool)
        label_probabilities = [label_probability(member, fit.labels) for member in fit.probabilities]
    groups = select_groups(predictions.groups, judged)
    mixture_weights = fit_mixture_weights(np.stack(label_probabilities))

    def evaluate_majority() -> CombinationResult:
        answers, shares = majority_vote(predictions.tallies, predictions.averaged)
        metrics = _majority_vote_quality(shares[judged], answers[judged], predictions.labels[judged], groups)
        return _compare_with_mean(predictions, judged, shares, answers, metrics)

    def evaluate_distributions(distributions: Floats) -> CombinationResult:
        metrics = measure_quality(distributions[judged], predictions.labels[judged], groups)
        return _compare_with_mean(predictions, judged, distributions, most_likely_classes(distributions), metrics)

    return CombinationComparison(
        arithmetic=evaluate_distributions(predictions.averaged),
        geometric=evaluate_distributions(geometric_mean_probabilities(predictions.probabilities)),
        majority=evaluate_majority(),
        weighted=evaluate_distributions(_weighted_mean_probabilities(predictions.probabilities, mixture_weights)),
        weights=mixture_weights,
        judged=judged,
        fitted=len(label_probabilities[0]),
    )


def _weighted_mean_probabilities(probabilities: Floats, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    means = np.zeros(probabilities.shape[1:])
    for rows in iterate_blocks(len(means), probabilities.shape[-1]):
        for member_weight, member in zip(weight, probabilities, strict=True):
            means[rows] += member_weight * member[rows].astype(np.float64)
    return means


def _compare_with_mean(
    predictions: EnsemblePredictions, judged: NDArray[np.bool_], distributions: Floats, answers: Ints, metrics: Quality
) -> CombinationResult:
    labels = predictions.labels[judged]
    saved = (log_loss(predictions.averaged, predictions.labels) - log_loss(distributions, predictions.labels))[judged]
    gain = paired_gain(
        answers[judged] == labels,
        predictions.right[judged],
        saved,
        select_groups(predictions.groups, judged),
        estimate_mistake_nll(distributions[judged]) - estimate_mistake_nll(predictions.averaged[judged]),
    )
    return CombinationResult(metrics, answers, np.flatnonzero(answers != predictions.said), gain)


def _majority_vote_quality(shares: Floats, answers: Ints, labels: Ints, groups: Ints | None) -> Quality:
    """As `measure_quality`, for answers after ties were decided, which shares do not show."""
    return measure_answer_quality(ClassifierAnswers(shares, labels, shares.max(axis=1), answers == labels), groups)
