"""Members that guess, that are doubles, or that the ensemble is better without: said first."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ensemble.analysis.members.broken_members import MemberFaults, MemberRemoval, find_member_faults
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, View
from ensemble.wording import formats
from ensemble.wording.formats import join_items, pluralize_noun
from ensemble.wording.verdicts import ensemble_gain

_NEXT_STEP = "How many members? shows what every other choice of members gives."


def list_member_faults(faults: MemberFaults, predictions: EnsemblePredictions, noun: str) -> list[tuple[str, str]]:
    """List each fault as (claim, evidence), the most important first; [] if there is none."""
    sentences = []
    if faults.removal and faults.removal.is_better:
        sentences.append(_describe_member_removal(faults.removal, faults.guessing, predictions, noun))
    named = faults.removal.member if sentences and faults.removal else None
    guessing = [member for member in faults.guessing if member != named]
    if guessing:
        numbers = join_items([member + 1 for member in guessing])
        claim = f"Member {numbers} only guesses." if len(guessing) == 1 else f"Members {numbers} only guess."
        sentences.append((claim, _explain_guessing(guessing, predictions, noun)))
    for group in faults.doubles:
        numbers = join_items([member + 1 for member in group])
        sentences.append(
            (
                f"Members {numbers} give the same answers: they count as one.",
                "Their probabilities agree on all "
                f"{formats.format_count(len(predictions.labels), noun)}: "
                "trained from the same seed, or the same file given twice.",
            )
        )
    return sentences


def _describe_member_removal(
    removal: MemberRemoval, guessing: tuple[int, ...], predictions: EnsemblePredictions, noun: str
) -> tuple[str, str]:
    gain, number = removal.gain, removal.member + 1
    claim = (
        f"Better without member {number}: NLL {formats.format_significant(removal.nll_without)} "
        f"against {formats.format_significant(removal.nll)}."
    )
    images = pluralize_noun(noun)
    basis = (
        f"It was picked on {removal.chosen_from:,} validation {images} and judged on all {gain.n:,} test {images}"
        if removal.held_out
        else f"It was picked on one half of the test {images} ({removal.chosen_from:,}) and judged "
        f"on the other ({gain.n:,})"
    )
    guess = f" {_explain_guessing([removal.member], predictions, noun)}" if removal.member in guessing else ""
    return claim, (
        f"Without it NLL is {ensemble_gain.format_nll_change(gain)}, "
        f"{ensemble_gain.format_p_value(gain.nll_p)}; right answers: "
        f"{formats.format_image_difference(gain.digits, noun)} "
        f"{ensemble_gain.format_gain_interval(gain)}.{guess} {basis}. {_NEXT_STEP}"
    )


def _explain_guessing(members: list[int], predictions: EnsemblePredictions, noun: str) -> str:
    """How many a member that guesses gets right, and what the most frequent class alone would."""
    n = len(predictions.labels)
    right = (predictions.votes[members] == predictions.labels).mean(axis=1)
    shares = [formats.format_percent(float(share), n) for share in right]
    numbers = join_items([member + 1 for member in members])
    most = formats.format_percent(float(np.bincount(predictions.labels).max()) / n, n)
    who = f"Member {numbers} gets" if len(members) == 1 else f"Members {numbers} get"
    return (
        f"{who} {join_items(shares)} of {n:,} {pluralize_noun(noun)} right; naming the most "
        f"frequent class every time gets {most}."
    )


def list_epoch_member_faults(epoch: EvaluatedEpoch) -> list[tuple[str, str]]:
    """Each fault of the epoch's members as (claim, evidence); [] where there is none."""
    if epoch.members == 1:
        return []
    faults = epoch.measure(find_member_faults, fitted=True)
    return list_member_faults(faults, epoch.predictions, epoch.noun)


def list_broken_members(epoch: EvaluatedEpoch) -> list[str]:
    """Return what is wrong with members that do harm or only guess, a sentence for each fault."""
    if epoch.members == 1:
        return []
    faults = replace(epoch.measure(find_member_faults, fitted=True), doubles=())
    return [claim for claim, _ in list_member_faults(faults, epoch.predictions, epoch.noun)]


def repeat_member_faults(epoch: EvaluatedEpoch, above: Sequence[str] = ()) -> View:
    """Yield each fault below a verdict that it affects, except for sentences that are above."""
    for claim, _ in list_epoch_member_faults(epoch):
        if claim not in above:
            yield Paragraph(claim, "reminder")
