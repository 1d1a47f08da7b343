"""Why members disagree about one image, in sentences: one for each of five steps.

A sentence has at most 90 letters; what carries it stands in the line below.
"""

from collections.abc import Sequence

import numpy as np

from ensemble.analysis.members.combining import majority
from ensemble.analysis.members.uncertainty import Uncertainty
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.selective import Choice
from ensemble.analysis.quality.summary import Qualities
from ensemble.wording import formats, terms
from ensemble.wording import images as images_words
from ensemble.wording.formats import plural
from ensemble.wording.verdicts.inspect import number as in_letters

MOST = 90  # letters of a sentence
NAME = 14  # letters of a class's name in it


def short(name: str) -> str:
    """A class's name, cut where it would not leave room for the sentence."""
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def question(members: int, noun: str) -> str:
    """The first step before the votes are shown."""
    who = f"{members} members say" if members > 1 else "the one member says"
    return f"What is this {noun}? Choose, then see what {who}."


def votes(made: Predictions, number: int, names: Sequence[str]) -> str:
    """The first step: how the votes fall."""
    tally = made.tallies[number]
    order = np.argsort(-tally, kind="stable")
    first, second = (short(names[c]) for c in order[:2])
    if made.members == 1:
        return f"One member says {first}: alone, it has nobody to disagree with."
    if not made.split[number]:
        return f"All {made.members} members say {first}: they agree about this one."
    rest = made.members - int(tally[order[0]] + tally[order[1]])
    most, next_most = (in_letters(int(tally[c])) for c in order[:2])
    if not rest:
        return f"The members split: {most} for {first}, {next_most} for {second}."
    split = f"The members split: {most} for {first}, {next_most} for {second}"
    if rest == int(tally[order[2]]):
        said = f"{split}, {in_letters(rest)} for {short(names[order[2]])}."
        if len(said) <= MOST:
            return said
    return f"{split}, {in_letters(rest)} for others."


def answered(made: Predictions, number: int, guess: int | None, names: Sequence[str]) -> str:
    """Below the votes: what it is, and how the person's own answer stands to the members'."""
    label = int(made.labels[number])
    said = f"It is {images_words.named(names[label], names)}."
    if guess is None:
        return said
    count = int(made.tallies[number][guess])
    as_who = f"as {formats.count(count, 'member')} did" if count else "as no member did"
    return f"You said {names[guess]}, {as_who}. {said}"


def average(made: Predictions, number: int, names: Sequence[str]) -> str:
    """The second step: what averaging makes of the votes."""
    said, sure = short(names[made.said[number]]), formats.chance(made.confidence[number])
    if made.members == 1:
        return f"One member alone is its own average: {said} with {sure}."
    top = np.sort(made.tallies[number])[-2:]
    if top[0] == top[1]:
        return f"The votes tie; averaged by how sure each member is, it is {said} ({sure})."
    voted, _ = majority(made.tallies[[number]], made.averaged[[number]])
    if voted[0] != made.said[number]:
        most = short(names[voted[0]])
        return f"Most vote {most}; averaged by how sure each is, it is {said} ({sure})."
    return f"Averaged, {said} has {sure}: a member that is surer counts for more."


def why_average(found: Qualities, n: int, plain: bool) -> str:
    """Below it: why probabilities are averaged, and neither votes nor accuracies."""
    ours = formats.percent(found.ensemble.accuracy, n)
    if len(found.members) == 1:
        return f"It gets {ours} of all right. With more members their probabilities are averaged."
    theirs = formats.percent(found.mean.accuracy, n)
    nll = terms.say("NLL", plain)
    return (
        "A vote counts the same at 51 % as at 99 %; an average of probabilities keeps how sure "
        "each member is. And averaging the members’ accuracies, a slip that has been in print, "
        f"tells of one member and not of the ensemble: here {theirs} against {ours}, and the "
        f"{nll} falls from {formats.significant(found.mean.nll)} to "
        f"{formats.significant(found.ensemble.nll)}."
    )


def standing(made: Predictions, measures: Uncertainty, number: int, noun: str) -> str:
    """The third step: where the image stands among all by what the members differ in."""
    if made.members == 1:
        return f"One member cannot tell an unclear {noun} from one it never learnt."
    mine = measures.information[number]
    if not mine:
        return f"The members do not differ here: they say the same of this {noun}."
    if mine >= measures.information.max():
        return f"On no other {noun} do the members differ as much as here."
    share = float((measures.information < mine).mean())
    if share > 0.99:  # a percentage would round to all of them
        more = int((measures.information > mine).sum())
        return (
            f"On only {more:,} of {len(made.labels):,} {plural(noun)} do the members differ more."
        )
    said = formats.percent(share, places=0)
    return f"The members differ here more than on {said} of all {plural(noun)}."


def parts(measures: Uncertainty, number: int, plain: bool) -> str:
    """Below it: the two parts of the doubt, in nats."""
    whole, own, between = (
        formats.significant(float(values[number]))
        for values in (measures.predictive, measures.expected, measures.information)
    )
    return (
        f"Of its doubt of {whole} nats, {own} is what each member is unsure of by itself: "
        f"{terms.say('aleatoric', plain)}, and no further member takes that away. {between} is "
        f"what they differ in: {terms.say('epistemic', plain)}, which more such images may lessen."
    )


def over_epochs(said: Ints, epochs: Sequence[int], names: Sequence[str]) -> str:
    """The fourth step, over the epochs: how often its answer changed.

    Args:
      said: what the ensemble said after each epoch, (E,).
      epochs: these, rising.
      names: the classes' names.
    """
    now = short(names[said[-1]])
    if len(epochs) == 1:
        return f"Only epoch {epochs[0]} is kept; after it the answer is {now}."
    turns = int((np.diff(said) != 0).sum())
    often = {1: "once", 2: "twice"}.get(turns, f"{turns} times")
    changed = f"changed {often}" if turns else "never changed"
    return f"Over {len(epochs)} epochs the answer {changed}; it came to {now}."


def over_members(said: Ints, names: Sequence[str]) -> str:
    """The fourth step, over the members: what the first 1, 2, … of them say together.

    Args:
      said: what the average of the first k members says, (M,) for k = 1 … M.
      names: the classes' names.
    """
    now, M = short(names[said[-1]]), len(said)
    if M == 1:
        return "One member: train more to see whether others would say the same."
    other = np.flatnonzero(said != said[-1])
    if not len(other):
        return f"From 1 to {M} members, the average always says {now}."
    return f"From {formats.count(int(other[-1]) + 2, 'member')} on, the average says {now}."


def passed_on(found: Choice, sure: float, noun: str) -> str:
    """The fifth step: whether the ensemble should answer it."""
    if not found.reached:
        return "No threshold keeps the mistakes as few as asked: let a person look at all."
    threshold = formats.certainty(found.threshold)
    if sure >= found.threshold:
        return f"{formats.chance(sure)} sure, it answers this {noun}: it does from {threshold} up."
    return f"{formats.chance(sure)} sure, it passes this {noun} on: it answers from {threshold} up."
