"""Why members disagree about one image, in sentences: one for each of five steps.

A sentence has at most 90 letters; what carries it stands in the line below.
"""

from collections.abc import Sequence

import numpy as np

from ensemble.analysis.example_measures import Measures
from ensemble.analysis.members.combining import majority_vote
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.quality import EnsembleQualities
from ensemble.analysis.quality.selective import ConfidenceThreshold
from ensemble.wording import formats, terms
from ensemble.wording import images as images_words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.terms import SPLIT_LIMIT
from ensemble.wording.verdicts.ensemble_gain import spell_number as in_letters

MAX_SENTENCE_LETTERS = 90  # letters of a sentence
MAX_NAME_LETTERS = 14  # letters of a class's name in it


def _shorten_quoted_class(name: str) -> str:
    return name if len(name) <= MAX_NAME_LETTERS else f"{name[: MAX_NAME_LETTERS - 1]}…"


def format_first_question(members: int, noun: str) -> str:
    who = f"{members} members say" if members > 1 else "the one member says"
    return f"What is this {noun}? Choose, then see what {who}."


def describe_vote_split(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """The first step: how the votes fall."""
    tally = predictions.tallies[number]
    order = np.argsort(-tally, kind="stable")
    first, second = (_shorten_quoted_class(names[c]) for c in order[:2])
    if predictions.members == 1:
        return f"One member says {first}: alone, it has nobody to disagree with."
    if not predictions.split[number]:
        return f"All {predictions.members} members say {first}: they agree about this one."
    rest = predictions.members - int(tally[order[0]] + tally[order[1]])
    most, next_most = (in_letters(int(tally[c])) for c in order[:2])
    if not rest:
        return f"The members split: {most} for {first}, {next_most} for {second}."
    split = f"The members split: {most} for {first}, {next_most} for {second}"
    if rest == int(tally[order[2]]):
        text = f"{split}, {in_letters(rest)} for {_shorten_quoted_class(names[order[2]])}."
        if len(text) <= MAX_SENTENCE_LETTERS:
            return text
    return f"{split}, {in_letters(rest)} for others."


def describe_own_guess(predictions: EnsemblePredictions, number: int, guess: int | None, names: Sequence[str]) -> str:
    """Below the votes: what it is, and how the person's own answer stands to the members'."""
    label = int(predictions.labels[number])
    text = f"It is {images_words.format_true_class(names[label], names)}."
    if guess is None:
        return text
    count = int(predictions.tallies[number][guess])
    as_who = f"as {formats.format_count(count, 'member')} did" if count else "as no member did"
    return f"You said {names[guess]}, {as_who}. {text}"


def describe_averaging(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """The second step: what averaging makes of the votes."""
    answer, sure = (
        _shorten_quoted_class(names[predictions.said[number]]),
        formats.format_probability(predictions.confidence[number]),
    )
    if predictions.members == 1:
        return f"One member alone is its own average: {answer} with {sure}."
    top = np.sort(predictions.tallies[number])[-2:]
    if top[0] == top[1]:
        return f"The votes tie; averaged by how sure each member is, it is {answer} ({sure})."
    voted, _ = majority_vote(predictions.tallies[[number]], predictions.averaged[[number]])
    if voted[0] != predictions.said[number]:
        most = _shorten_quoted_class(names[voted[0]])
        return f"Most vote {most}; averaged by how sure each is, it is {answer} ({sure})."
    return f"Averaged, {answer} has {sure}: a member that is surer counts for more."


def explain_averaging(qualities: EnsembleQualities, n: int, plain: bool) -> str:
    """Below it: why probabilities are averaged, and neither votes nor accuracies."""
    ensemble_share = formats.format_percent(qualities.ensemble.accuracy, n)
    if len(qualities.members) == 1:
        return f"It gets {ensemble_share} of all right. With more members their probabilities are averaged."
    mean_share = formats.format_percent(qualities.mean.accuracy, n)
    nll = terms.format_term("NLL", plain)
    return (
        "A vote counts the same at 51 % as at 99 %; an average of probabilities keeps how sure "
        "each member is. And the mean of the members’ accuracies (a mistake that has been in "
        f"print) describes one member, not the ensemble: here {mean_share} against "
        f"{ensemble_share}, and the {nll} falls from "
        f"{formats.format_significant(qualities.mean.nll)} to "
        f"{formats.format_significant(qualities.ensemble.nll)}."
    )


def describe_uncertainty_rank(predictions: EnsemblePredictions, measures: Measures, number: int, noun: str) -> str:
    """The third step: where the image stands among all by what the members differ in."""
    if predictions.members == 1:
        return f"One member alone cannot tell an unclear {noun} from an unfamiliar one."
    epistemic = measures["epistemic"]
    mine = epistemic[number]
    if not mine:
        return f"The members do not differ here: they say the same of this {noun}."
    if mine >= epistemic.max():
        return f"On no other {noun} do the members differ as much as here."
    share = float((epistemic < mine).mean())
    if share > 0.99:  # a percentage would round to all of them
        more = int((epistemic > mine).sum())
        return f"On only {more:,} of {len(predictions.labels):,} {pluralize_noun(noun)} do the members differ more."
    percentage = formats.format_percent(share, places=0)
    return f"The members differ here more than on {percentage} of all {pluralize_noun(noun)}."


def describe_uncertainty_parts(measures: Measures, number: int, plain: bool) -> str:
    """Below it: the two parts of the doubt, in nats."""
    whole, own, between = (
        formats.format_significant(float(values[number]))
        for values in (measures["entropy"], measures["aleatoric"], measures["epistemic"])
    )
    return (
        f"Its uncertainty is {whole} nats. {own} of it is what each member is unsure of by itself: "
        f"{terms.format_term('aleatoric', plain)}, which no further member removes. {between} is "
        f"what they disagree about: {terms.format_term('epistemic', plain)}, which more such "
        f"images may lessen. {SPLIT_LIMIT}"
    )


def describe_answers_over_epochs(answers: Ints, epochs: Sequence[int], names: Sequence[str]) -> str:
    """The fourth step, over the epochs: how often its answer changed.

    Args:
      answers: what the ensemble said after each epoch, (E,).
    """
    now = _shorten_quoted_class(names[answers[-1]])
    if len(epochs) == 1:
        return f"Only epoch {epochs[0]} is kept; after it the answer is {now}."
    turns = int((np.diff(answers) != 0).sum())
    often = {1: "once", 2: "twice"}.get(turns, f"{turns} times")
    changed = f"changed {often}" if turns else "never changed"
    return f"Over {len(epochs)} epochs the answer {changed}; after the last it is {now}."


def describe_answers_over_members(answers: Ints, names: Sequence[str]) -> str:
    """The fourth step, over the members: what the first 1, 2, … of them say together.

    Args:
      answers: what the average of the first k members says, (M,) for k = 1 … M.
    """
    now, M = _shorten_quoted_class(names[answers[-1]]), len(answers)
    if M == 1:
        return "One member: train more to see whether others would say the same."
    other = np.flatnonzero(answers != answers[-1])
    if not len(other):
        return f"From 1 to {M} members, the average always says {now}."
    return f"From {formats.format_count(int(other[-1]) + 2, 'member')} on, the average says {now}."


def describe_deferral(confidence_threshold: ConfidenceThreshold, sure: float, noun: str) -> str:
    """The fifth step: whether the ensemble should answer it."""
    if not confidence_threshold.is_reached:
        return "No threshold keeps the mistakes as few as asked: let a person look at all."
    threshold = formats.format_confidence_threshold(confidence_threshold.threshold)
    if sure >= confidence_threshold.threshold:
        return f"{formats.format_probability(sure)} sure, it answers this {noun}: it does from {threshold} up."
    return f"{formats.format_probability(sure)} sure, it passes this {noun} on: it answers from {threshold} up."
