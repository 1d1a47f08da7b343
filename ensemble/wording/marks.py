"""What is said of one mark, in words: its verdict, how the members agree, how near to rejection."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.conformal import min_calibration_size
from ensemble.wording import formats
from ensemble.wording import images as images_words
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Digit
    from ensemble.recognition.rejection_threshold import RejectionThreshold

GENERIC_NOUN = "image"  # the noun of datasets of which nobody has said what they show
# Members that vote alike are as sure as each other up to this difference of probabilities.
_EQUAL_CONFIDENCE_TOLERANCE = 0.1

_EPISTEMIC_GLOSS = (
    "Epistemic uncertainty (mutual information): how much of the uncertainty is the members' "
    "disagreement, in nats. 0 means that all give the same probabilities; {most} is the maximum."
)


def build_mark_predictions(digit: "Digit") -> EnsemblePredictions:
    """The mark as a test set of one image whose label is what the ensemble says.

    So that words and pictures of test images serve for it too; `right` says nothing here.
    """
    return evaluate_predictions(np.asarray(digit.members)[:, None], np.array([digit.label]))


def describe_mark_rejection(names: Sequence[str], noun: str = "") -> str:
    """What stands in place of the verdict on a rejected mark.

    Args:
      noun: what one image of the dataset is called; by default what its classes say.
    """
    word = noun or images_words.find_image_noun(names)
    if word == GENERIC_NOUN:
        return "None of the classes that I know"
    return f"Not {select_article(word)} {word}, or not one I know"


def select_article(word: str) -> str:
    """ "an" before a vowel, else "a"."""
    return "an" if word[0] in "aeiou" else "a"


def format_mark_verdict(digit: "Digit", names: Sequence[str], noun: str = "") -> str:
    """The headline: "7 with 97.3 %", or no digit; `noun` as in `describe_mark_rejection`."""
    return describe_mark_rejection(names, noun) if digit.rejected else format_mark_class(digit, names)


def format_mark_class(digit: "Digit", names: Sequence[str]) -> str:
    """What the ensemble says and how surely, rejected or not: "7 with 97.3 %"."""
    sure = formats.format_probability(float(digit.probabilities[digit.label]))
    return f"{names[digit.label]} with {sure}"


def describe_mark_agreement(digit: "Digit", names: Sequence[str]) -> str:
    """How much the members agree: "All 5 members say 7.", "They split: 3 say 4, 2 say 9."."""
    votes = np.asarray(digit.votes)
    M = len(votes)
    if M == 1:
        return "With one member there is no disagreement."
    if (votes != votes[0]).any():
        return f"They split: {format_mark_votes(digit, names)}."
    who = "Both members" if M == 2 else f"All {M} members"
    own = np.asarray(digit.members)[:, votes[0]]
    low, high = float(own.min()), float(own.max())
    if high - low <= _EQUAL_CONFIDENCE_TOLERANCE:
        return f"{who} say {names[votes[0]]}."
    chances = f"{formats.format_probability(low)} to {formats.format_probability(high)}"
    return f"{who} say {names[votes[0]]}, but not as surely: {chances}."


def format_mark_votes(digit: "Digit", names: Sequence[str]) -> str:
    """The votes counted, the most first: "3 say 4, 2 say 9"; a long tail is added up."""
    counts = np.bincount(np.asarray(digit.votes), minlength=len(names))
    order = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c]]
    few = len(order) <= images_words.MAX_VOTE_LINES + 1
    listed_classes = order if few else order[: images_words.MAX_VOTE_LINES]
    texts = [f"{counts[c]} {'says' if counts[c] == 1 else 'say'} {names[c]}" for c in listed_classes]
    if not few:
        texts.append(f"{counts.sum() - counts[listed_classes].sum()} something else")
    return ", ".join(texts)


def format_mark_disagreement(digit: "Digit") -> str:
    """The epistemic uncertainty as a figure; "" where one member is alone."""
    if len(digit.votes) == 1:
        return ""
    value = digit.measures["epistemic"]
    figure = formats.format_significant(value, 2) if value >= 0.0005 else "under 0.001"
    return f"Disagreement: {figure} nats"


def explain_epistemic(digit: "Digit", names: Sequence[str]) -> str:
    """What the figure of disagreement means; the most there can be is ln min(M, C)."""
    most = math.log(min(len(digit.votes), len(names)))
    return _EPISTEMIC_GLOSS.format(most=formats.format_significant(most, 3))


def describe_ood_score(digit: "Digit", refuse: float, names: Sequence[str], noun: str = "") -> str:
    """The mark's OOD score, as the share of real digits that score at least as high.

    Args:
      noun: as in `describe_mark_rejection`.
    """
    word, share = noun or images_words.find_image_noun(names), 1 - float(digit.quantile)
    strangest = formats.format_percent(refuse, figures=2)
    limit = f"the strangest {strangest} are rejected"
    if math.isinf(digit.threshold):
        limit = f"too few were held out to reject the strangest {strangest}"
    if share <= 0:
        return f"None of the real {pluralize_noun(word)} held out looks as strange as this; {limit}."
    only = "Only " if digit.rejected else ""
    text = f"{only}{formats.format_percent(share, figures=2)} of real {pluralize_noun(word)} look at least as strange"
    return f"{text}; {limit}."


_AUGMENTATION_PHRASES = {
    True: "turned, slanted, stretched, bent and blurred a little, as pens and cameras do",
    False: "turned, enlarged, moved, lit and blurred a little, as cameras do",
}


def format_negated_noun(noun: str) -> str:
    """What is shown that is no such image, in the plural: "non-digits"."""
    return "images of something else" if noun == GENERIC_NOUN else f"non-{pluralize_noun(noun)}"


def describe_threshold_basis(threshold: "RejectionThreshold", title: str) -> str:
    """On which images of the dataset `title` the threshold was set and on which judged."""
    share = formats.format_percent(threshold.refuse, figures=2)
    set_at = f"another like them scores more than the threshold with a chance of {share} at most"
    if math.isinf(threshold.value):
        needed = min_calibration_size(threshold.refuse)
        set_at = f"{share} needs {needed:,} of them at least, so nothing is rejected"
    return (
        f"Set on {threshold.n:,} {threshold.threshold_split} images of {title}, one in four as it "
        f"is, the others {_AUGMENTATION_PHRASES[threshold.written]}: {set_at}. No "
        f"out-of-distribution image was used to set it. Judged on {threshold.judged_count:,} "
        f"{'other ' if threshold.threshold_split == 'test' else ''}test images, changed likewise, "
        "and on out-of-distribution ones."
    )


def format_threshold_distance(digit: "Digit") -> str:
    if math.isinf(digit.threshold):
        return f"Score {formats.format_significant(float(digit.score))}, no threshold"
    score, threshold = (formats.format_significant(float(number)) for number in (digit.score, digit.threshold))
    apart = formats.format_significant(abs(float(digit.score - digit.threshold)), 2)
    return f"Score {score}, threshold {threshold}: {apart} {'above' if digit.rejected else 'below'}"


SIGN_NAMES = {
    "decision": "the members' decision",
    "energy": "the members' energy",
    "features": "what the members see",
    "picture": "the picture",
    "form": "its form",
    "strokes": "its strokes",
    "texture": "light and texture",
    "paper": "what is around it",
    "loops": "its loops",
}


def describe_score_signs(digit: "Digit") -> str:
    """What each sign adds to the score, the most first: what adds nothing is left out."""
    adds = sorted(digit.signs.items(), key=lambda sign: -sign[1])
    parts = [f"{SIGN_NAMES[name]} {formats.format_significant(value, 2)}" for name, value in adds if value > 0]
    return f"The score is the sum of {', '.join(parts)}." if parts else ""
