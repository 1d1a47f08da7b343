"""Predictions in words: the answer in a sentence, an image's verdict, the members' votes."""

from collections import Counter
from collections.abc import Sequence

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.datasets.registry import DIGIT_NAMES, find_dataset_entry
from ensemble.datasets.registry import list_dataset_names as registry_names
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

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
        find_dataset_entry(one).noun
        for one in registry_names()
        if find_dataset_entry(one).class_names == tuple(names)
    )
    return next(nouns, "image")


def can_list_votes(made: EnsemblePredictions, names: Sequence[str]) -> bool:
    """Whether votes are listed one by one: there are few members, and names are short."""
    return can_list_member_count(made.members, names)


def can_list_member_count(members: int, names: Sequence[str]) -> bool:
    """As `can_list_votes`, for so many members, before there are predictions."""
    return members <= MAX_LISTED_MEMBERS and max(map(len, names)) == 1


def list_vote_texts(
    made: EnsemblePredictions, number: int, names: Sequence[str]
) -> list[tuple[int, str]]:
    """The members' votes on an image as (class, text).

    A few members with short names are listed one by one, in the members' order: "7", "7", "1".
    Else the votes are counted, the most first: "28 say 7", "1 says 4".
    """
    votes = [int(vote) for vote in made.votes[:, number]]
    if can_list_votes(made, names):
        return [(vote, names[vote]) for vote in votes]
    counted = sorted(Counter(votes).items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        (vote, f"{count} say{'s' if count == 1 else ''} {names[vote]}") for vote, count in counted
    ]


def format_votes(made: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """The votes in one line: "7 7 7 1 7", or "28 say 7, 1 says 4"."""
    between = " " if can_list_votes(made, names) else ", "
    return between.join(text for _, text in list_vote_texts(made, number, names))


def format_vote_lines(made: EnsemblePredictions, number: int, names: Sequence[str]) -> list[str]:
    """Counted votes in a few lines: "21 say 7", "8 say 1", "3 others"."""
    texts = [text for _, text in list_vote_texts(made, number, names)]
    if len(texts) <= MAX_VOTE_LINES:
        return texts
    counts = sorted(made.tallies[number].tolist(), reverse=True)
    return [*texts[: MAX_VOTE_LINES - 1], f"{sum(counts[MAX_VOTE_LINES - 1 :])} others"]


def describe_disagreement_warning(made: EnsemblePredictions, noun: str) -> str:
    """What the ensemble gets right, and whether its members' disagreement warns of the rest."""
    total = len(made.labels)
    right, split = int(made.right.sum()), int(made.split.sum())
    who = "ensemble" if made.members > 1 else "one member"
    said = f"The {who} gets {right:,} of {total:,} {pluralize_noun(noun)} right"
    if made.members == 1:
        return f"{said}; with one member there is nobody to disagree."
    if not split:
        return f"{said}; its members agree about every one."
    said += f"; its members disagree about {formats.format_count(split, noun)}"
    wrong, warned = total - right, int((made.split & ~made.right).sum())
    if not wrong:
        return f"{said}."
    if wrong == 1:
        return f"{said}; the one it gets wrong is {'' if warned else 'not '}among them."
    share = f"all {wrong:,}" if warned == wrong else f"{warned:,} of the {wrong:,}"
    return f"{said}; {share} it gets wrong {'is' if warned == 1 else 'are'} among them."


def split_disagreement_warning(made: EnsemblePredictions, noun: str) -> tuple[str, str]:
    """The same in two sentences: what the ensemble gets right, then what disagreement warns of."""
    said, _, rest = describe_disagreement_warning(made, noun).partition("; ")
    return f"{said}.", rest[:1].upper() + rest[1:]


def format_image_verdict(made: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """What stands under an image: "✓ 7" or "✗ 7, is 1"."""
    said, label = names[made.said[number]], names[made.labels[number]]
    return f"✓ {said}" if made.right[number] else f"✗ {said}, is {label}"


def describe_image_prediction(made: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    """One image in words: what the ensemble says, how the members voted, what it is."""
    who = "The ensemble" if made.members > 1 else "The one member"
    said = (
        f"{who} says {names[made.said[number]]} with "
        f"{formats.format_probability(made.confidence[number])}"
    )
    if made.members > 1 and made.split[number]:
        colon = "" if can_list_votes(made, names) else ":"
        said += f"; the members split{colon} {format_votes(made, number, names)}"
    elif made.members > 1:
        said += f"; all {made.members} members say {names[made.votes[0, number]]}"
    return f"{said}; it is {format_true_class(names[made.labels[number]], names)}."


def format_true_class(name: str, names: Sequence[str]) -> str:
    """A class with its article where it is a digit: "a 1", "an 8", "labelled Coat"."""
    if tuple(names) != DIGIT_NAMES:
        return f"labelled {name}"
    return f"an {name}" if name == "8" else f"a {name}"
