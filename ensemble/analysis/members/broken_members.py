"""Members that spoil an ensemble: that guess, that are another's double, that it is better without.

An average takes every member's word. One that says nothing of the examples lowers how sure the
ensemble is where it is right, and raises its NLL, however good the others are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import SUM_BLOCK_SIZE, iterate_blocks
from ensemble.analysis.inference.chance_level import is_at_chance
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.members.gain import PairedGain, compute_gain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE, split_halves
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY, log_loss

_MAX_DOUBLE_DIFFERENCE = 1e-6  # of a probability: a few times float32's rounding
_PROBE_EXAMPLES = 64  # by which most members are told apart without looking at all examples
_LEAST_NLL_SHARE = 0.002  # of the NLL that leaving a member out has to save


@dataclass(frozen=True)
class MemberRemoval:
    """What leaving one member out does, on examples that had no part in picking it.

    Attributes:
      member: which, counted from 0.
      gain: what the ensemble without it is better by than the whole ensemble, on the judged
        examples; positive is better.
      nll: the whole ensemble's mean NLL there, in nats.
      nll_without: the same without the member.
      chosen_from: how many examples the member was picked on.
      held_out: whether these were held out of the examples that are judged everywhere else; else
        they are one half of those, and the other half is judged.
    """

    member: int
    gain: PairedGain
    nll: float
    nll_without: float
    chosen_from: int
    held_out: bool

    @property
    def is_better(self) -> bool:
        """Whether the ensemble is shown to be better without it: clearly lower NLL, and not fewer right.

        One of 1,000 members can be shown to cost the ensemble 0.01 % of its NLL, which helps nobody.
        """
        is_relevant = self.nll - self.nll_without >= _LEAST_NLL_SHARE * self.nll
        return is_relevant and self.gain.nll_sign > 0 and self.gain.accuracy_sign >= 0


@dataclass(frozen=True)
class MemberFaults:
    """What is wrong with single members; all are counted from 0.

    Attributes:
      guessing: members at chance level, if others are not.
      doubles: groups of members, each rising, that give the same probabilities for every example.
      removal: what leaving out the member does that the ensemble seems best without; None where
        there is one member, or too few examples to pick it on one half and judge it on the other.
    """

    guessing: tuple[int, ...]
    doubles: tuple[tuple[int, ...], ...]
    removal: MemberRemoval | None

    @property
    def found(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.guessing or self.doubles or (self.removal and self.removal.is_better))


def find_member_faults(predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None) -> MemberFaults:
    """What is wrong with single members of an ensemble.

    Args:
      predictions: what is judged.
      fit: the same members on other, held-out examples, to pick the member on that is left out;
        None: on one half of `predictions`, and the other half judges it.

    Raises:
      ValueError: `fit` is of other members.
    """
    return MemberFaults(
        find_guessing_members(predictions), find_double_members(predictions), judge_member_removal(predictions, fit)
    )


def find_guessing_members(predictions: EnsemblePredictions) -> tuple[int, ...]:
    """Return the members, from 0, that only guess, if other members show that more is possible.

    A member guesses if its votes are at chance level (`is_at_chance`). If all members do, none
    is named: then the whole ensemble guesses.
    """
    labels, groups = predictions.labels, predictions.groups
    members = predictions.members
    guessing = tuple(
        m for m, votes in enumerate(predictions.votes) if is_at_chance(votes, labels, groups, tests=members)
    )
    return guessing if len(guessing) < members else ()


def find_double_members(predictions: EnsemblePredictions) -> tuple[tuple[int, ...], ...]:
    """Return groups of members, from 0, whose probabilities are the same except for rounding.

    Members that were trained from one seed, or a file that was given twice: they count as one. Few
    examples, or answers of one kind for each class (votes), can agree by chance: so a member needs
    more different answers than classes.
    """
    groups: list[list[int]] = []
    # A weighted mean of some answers differs by no more than they do: only members near in it are compared.
    probe = predictions.probabilities[:, :_PROBE_EXAMPLES].reshape(predictions.members, -1)
    weights = np.random.default_rng(0).uniform(-1, 1, probe.shape[1]) / probe.shape[1]
    places = np.array([float(row @ weights) for row in probe])
    firsts = np.full(predictions.members, np.inf)  # the places of the groups' first members
    for member, probabilities in enumerate(predictions.probabilities):
        for near in np.flatnonzero(np.abs(firsts[: len(groups)] - places[member]) <= 2 * _MAX_DOUBLE_DIFFERENCE):
            if _is_double(predictions.probabilities[groups[near][0]], probabilities):
                groups[near].append(member)
                break
        else:
            firsts[len(groups)] = places[member]
            groups.append([member])
    classes = predictions.probabilities.shape[2]
    return tuple(
        tuple(group)
        for group in groups
        if len(group) > 1 and len(np.unique(predictions.probabilities[group[0]], axis=0)) > classes
    )


def judge_member_removal(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> MemberRemoval | None:
    """What leaving out the member does that the ensemble's NLL is lowest without.

    The member is picked on some examples and judged on others, so that its p is that of one test
    whose hypothesis was there beforehand.

    Args:
      predictions: what is judged.
      fit: the same members on other examples, to pick on; None: one half of `predictions`.

    Raises:
      ValueError: `fit` is of other members.
    """
    if fit is not None and fit.members != predictions.members:
        raise ValueError(f"{fit.members} members were held out for, and {predictions.members} are judged.")
    if predictions.members == 1 or (fit is None and len(predictions.labels) < MIN_EXAMPLES_TO_HALVE):
        return None
    groups = predictions.groups
    if fit is None:
        fitted, judged = split_halves(predictions.labels, groups)
        picked, rows = predictions, np.flatnonzero(fitted)
    else:
        judged = np.ones(len(predictions.labels), bool)
        picked, rows = fit, np.arange(len(fit.labels))
    labels = picked.labels[rows]
    known = picked.probabilities[:, rows, labels].astype(np.float64)
    without = (known.sum(axis=0) - known) / (predictions.members - 1)
    nll = -np.log(np.maximum(without, MIN_PROBABILITY)).mean(axis=1)
    member = int(nll.argmin())
    truth, whole = predictions.labels[judged], predictions.averaged[judged]
    others = _average_without(predictions.probabilities, np.flatnonzero(judged), member)
    return MemberRemoval(
        member=member,
        gain=compute_gain(others, whole, truth, select_groups(groups, judged)),
        nll=float(log_loss(whole, truth).mean()),
        nll_without=float(log_loss(others, truth).mean()),
        chosen_from=len(labels),
        held_out=fit is not None,
    )


def _average_without(probabilities: Floats, examples: Ints, member: int) -> NDArray[np.float64]:
    """The averaged probabilities (K, C) of all members but one on K examples, of (M, N, C)."""
    M, _, C = probabilities.shape
    averaged = np.empty((len(examples), C))
    for rows in iterate_blocks(len(examples), M * C, SUM_BLOCK_SIZE):
        averaged[rows] = average_probabilities(np.delete(probabilities[:, examples[rows]], member, axis=0))
    return averaged


def _is_double(first: Floats, second: Floats) -> bool:
    probe = slice(_PROBE_EXAMPLES)
    return all(
        float(np.abs(first[rows] - second[rows]).max(initial=0.0)) <= _MAX_DOUBLE_DIFFERENCE
        for rows in (probe, slice(None))
    )
