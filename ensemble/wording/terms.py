"""The terms of the trade: each with plain words that may stand in its place, and what it means."""

import re
from typing import NamedTuple

from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.quality.metrics import METRICS


class Term(NamedTuple):
    """A term.

    Attributes:
      name: as engineers know and search for it.
      plain: what stands in its place where terms are hidden.
      gloss: what it means, in a sentence.
      view: the view of Inspect that shows it; "" for none.
    """

    name: str
    plain: str
    gloss: str
    view: str = ""


# Shown wherever the split is. docs/uncertainty.md has the sources and what was measured.
SPLIT_LIMIT = (
    "Disagreement mostly measures training randomness: errors shared by all members can add to "
    "their own uncertainty instead, and wide networks can disagree less."
)
_TERMS_OF_METRICS = tuple(Term(metric.term, metric.plain, metric.gloss, metric.view) for metric in METRICS)
TERMS = (
    Term(
        "ensemble",
        "all members together",
        "Several networks that answer as one: the average of their probabilities.",
        "agreement",
    ),
    Term("member", "one network", "One of the networks; each started from its own random numbers."),
    Term("seed", "starting number", "What the random numbers of a run follow from."),
    Term("epoch", "pass over the training images", "One pass through all training images."),
    *_TERMS_OF_METRICS[:1],
    Term("confidence", "how sure it is", EXAMPLE_MEASURES["confidence"].gloss, "calibration"),
    *_TERMS_OF_METRICS[1:],
    Term(
        "calibration",
        "whether 90 % sure means 90 % right",
        "Whether answers are right as often as they are sure.",
        "calibration",
    ),
    Term("aleatoric", "unclear in itself", EXAMPLE_MEASURES["aleatoric"].gloss, "uncertainty"),
    Term("epistemic", "members disagree", EXAMPLE_MEASURES["epistemic"].gloss, "uncertainty"),
    Term("entropy", "doubt", "How spread out probabilities are: 0 nats is sure.", "uncertainty"),
    Term("committee", "some of the members", "A few members whose probabilities are averaged.", "members"),
    Term(
        "selective prediction",
        "answering only where sure",
        "Below a threshold of confidence, an image goes to a person.",
        "selective",
    ),
    Term(
        "conformal sets",
        "sets of answers",
        "Several classes as one answer, right as often as is asked for.",
        "selective",
    ),
)
TERMS_BY_NAME = {term.name: term for term in TERMS}
# What is replaced in sentences: abbreviations, which tell a beginner nothing. Longer ones first.
ABBREVIATIONS = sorted((metric.term for metric in METRICS if re.search("[A-Z]{2}", metric.term)), key=len, reverse=True)
_ABBREVIATION_PATTERN = re.compile(rf"\b({'|'.join(ABBREVIATIONS)})\b")


def format_term(name: str, plain: bool) -> str:
    """A term within a sentence: its plain words, with the term in brackets unless it is hidden."""
    term = TERMS_BY_NAME[name]
    return term.plain if plain else f"{term.plain} ({term.name})"


def format_term_heading(name: str, plain: bool) -> str:
    """What stands over a figure: the term, or its plain words where terms are hidden."""
    if not plain:
        return name
    # A unit after the term, as in "NLL (nats)", stays.
    bare, unit = (name.partition(" (")[0], name.partition(" (")[1:])
    words = TERMS_BY_NAME[bare].plain if bare in TERMS_BY_NAME else bare
    return f"{words[:1].upper()}{words[1:]}{''.join(unit)}"


def replace_abbreviations(sentence: str, plain: bool) -> str:
    if not plain:
        return sentence
    text = _ABBREVIATION_PATTERN.sub(lambda match: TERMS_BY_NAME[match[1]].plain, sentence)
    return text[:1].upper() + text[1:]


def format_term_help(name: str, help: str, plain: bool) -> str:
    """The help of a figure: where its term is hidden, the term stands here."""
    bare = name.partition(" (")[0]
    return f"**{bare}**: {help}" if plain and bare in TERMS_BY_NAME else help
