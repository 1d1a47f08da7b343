"""Predictions in words: the answer in a sentence, an image's verdict, the members' votes."""

from collections import Counter
from collections.abc import Sequence

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.datasets.registry import DIGIT_NAMES, find_dataset_entry
from ensemble.datasets.registry import list_dataset_names as registry_names
from ensemble.wording import formats

# Under an image counted votes take so many lines; what is left over is added up.
MAX_VOTE_LINES = 3

# With more members than this, votes are counted rather than listed.
MAX_LISTED_MEMBERS = 8


def find_image_noun(names: Sequence[str]) -> str:
    """What an image of a dataset with these classes is called on every screen.

    A digit where the classes are the ten digits, else what an image of the first dataset with
    these classes is called.
    """
    if tuple(names) == DIGIT_NAMES:
        return "digit"
    nouns = (
        find_dataset_entry(dataset_name).noun
        for dataset_name in registry_names()
        if find_dataset_entry(dataset_name).class_names == tuple(names)
    )
    return next(nouns, "image")


def can_list_votes(predictions: EnsemblePredictions, names: Sequence[str]) -> bool:
    """Whether votes are listed one by one: there are few members, and names are short."""
    return can_list_member_count(predictions.members, names)


def can_list_member_count(members: int, names: Sequence[str]) -> bool:
    """As `can_list_votes`, for so many members, before there are predictions."""
    return members <= MAX_LISTED_MEMBERS and max(map(len, names)) == 1


def list_vote_texts(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> list[tuple[int, str]]:
    """The members' votes on an image as (class, text).

    A few members with short names are listed one by one, in the members' order: "7", "7", "1".
    Else the votes are counted, the most first: "28 say 7", "1 says 4".
    """
    votes = [int(vote) for vote in predictions.votes[:, number]]
    if can_list_votes(predictions, names):
        return [(vote, names[vote]) for vote in votes]
    counted = sorted(Counter(votes).items(), key=lambda pair: (-pair[1], pair[0]))
    return [(vote, f"{count} say{'s' if count == 1 else ''} {names[vote]}") for vote, count in counted]


def format_votes(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """The votes in one line: "7 7 7 1 7", or "28 say 7, 1 says 4"."""
    between = " " if can_list_votes(predictions, names) else ", "
    return between.join(text for _, text in list_vote_texts(predictions, number, names))


def format_vote_lines(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> list[str]:
    """Counted votes in a few lines: "21 say 7", "8 say 1", "3 others"."""
    texts = [text for _, text in list_vote_texts(predictions, number, names)]
    if len(texts) <= MAX_VOTE_LINES:
        return texts
    counts = sorted(predictions.tallies[number].tolist(), reverse=True)
    return [*texts[: MAX_VOTE_LINES - 1], f"{sum(counts[MAX_VOTE_LINES - 1 :])} others"]


def describe_disagreement_warning(predictions: EnsemblePredictions, noun: str) -> str:
    total = len(predictions.labels)
    right, split = int(predictions.right.sum()), int(predictions.split.sum())
    who = "ensemble" if predictions.members > 1 else "one member"
    text = f"The {who} gets {right:,} of {formats.format_count(total, noun)} right"
    if predictions.members == 1:
        return f"{text}; with one member there is nobody to disagree."
    if not split:
        return f"{text}; its members agree about every one."
    text += f"; its members disagree about {formats.format_count(split, noun)}"
    wrong, warned = (total - right, int((predictions.split & ~predictions.right).sum()))
    if not wrong:
        return f"{text}."
    if wrong == 1:
        return f"{text}; its one mistake is {'' if warned else 'not '}among them."
    share = f"all {wrong:,}" if warned == wrong else f"{warned:,} of its {wrong:,}"
    agreed = wrong - warned
    others = "one" if agreed == 1 else f"{agreed:,}"
    alone = f"; about the other {others} all agree" if warned and agreed else ""
    return f"{text}; {share} mistakes {'is' if warned == 1 else 'are'} among them{alone}."


def split_disagreement_warning(predictions: EnsemblePredictions, noun: str) -> tuple[str, str]:
    """The same in two sentences: what the ensemble gets right, then what disagreement warns of."""
    sentence, _, rest = describe_disagreement_warning(predictions, noun).partition("; ")
    return f"{sentence}.", rest[:1].upper() + rest[1:]


def format_image_verdict(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """What stands under an image: "✓ 7" or "✗ 7, is 1"."""
    answer, label = (names[predictions.said[number]], names[predictions.labels[number]])
    return f"✓ {answer}" if predictions.right[number] else f"✗ {answer}, is {label}"


def describe_image_prediction(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """One image in words: what the ensemble says, how the members voted, what it is."""
    who = "The ensemble" if predictions.members > 1 else "The one member"
    text = (
        f"{who} says {names[predictions.said[number]]} with "
        f"{formats.format_probability(predictions.confidence[number])}"
    )
    if predictions.members > 1 and predictions.split[number]:
        colon = "" if can_list_votes(predictions, names) else ":"
        text += f"; the members split{colon} {format_votes(predictions, number, names)}"
    elif predictions.members > 1:
        text += f"; all {predictions.members} members say {names[predictions.votes[0, number]]}"
    return f"{text}; it is {format_true_class(names[predictions.labels[number]], names)}."


def format_true_class(name: str, names: Sequence[str]) -> str:
    """A class with its article where it is a digit: "a 1", "an 8", "labelled Coat"."""
    if tuple(names) != DIGIT_NAMES:
        return f"labelled {name}"
    return f"an {name}" if name == "8" else f"a {name}"
