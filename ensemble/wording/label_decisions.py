"""Decisions about labels in words: what is asked, how far one is, and what mending them did."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ensemble.analysis.members.gain import PairedGain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.comparison.mended_labels import MendedComparison
from ensemble.datasets.decisions.label_decision import (
    KEEP,
    RELABEL,
    REMOVE,
    UNSURE,
    WRONG_LABEL_DECISIONS,
    LabelDecision,
)
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import format_signed

# What is said of decisions, a phrase each, in this order.
_DECISION_PHRASES = {KEEP: "kept", RELABEL: "relabelled", REMOVE: "removed", UNSURE: "cannot be told"}
TEST_LABELS_ALONE_CHANGED = (
    "Only test images changed. The training images are the same as before, so there is nothing new to train on."
)
_MAX_SIGN_LETTERS = 2  # of a class's name that needs no quotes
_MAX_LISTED_VOTES = 4  # classes whose votes are said


def describe_queue_progress(decided: int, total: int) -> str:
    """How far one is: "12 of 41 decided"."""
    return f"{decided:,} of {total:,} decided"


def describe_next_finds(expected: float, count: int) -> str:
    """Describe how many of the next labels are wrong at least; "" if that is none."""
    wrong = formats.round_half_away(expected)
    if not wrong or count < 2:
        return ""
    verb = "is" if wrong == 1 else "are"
    return f"Of the next {count:,} labels at least about {wrong:,} {verb} wrong."


def describe_found_errors(decisions: Iterable[LabelDecision], expected: float) -> str:
    counts = Counter(decision.decision for decision in decisions)
    decided = counts.total() - counts[UNSURE]
    if not decided:
        return ""
    wrong = sum(counts[each] for each in WRONG_LABEL_DECISIONS)
    verb = "was" if wrong == 1 else "were"
    return (
        f"So far {wrong:,} of {formats.format_count(decided, 'label')} {verb} wrong; at least "
        f"about {formats.round_half_away(expected):,} were expected."
    )


def describe_decision_counts(decisions: Iterable[LabelDecision]) -> str:
    """How often each was decided: "6 kept, 5 relabelled, 1 removed"."""
    counts = Counter(decision.decision for decision in decisions)
    return ", ".join(f"{counts[each]:,} {phrase}" for each, phrase in _DECISION_PHRASES.items() if counts[each])


def describe_label_and_answer(label: str, suggested: str, probability: float) -> str:
    """What an image is labelled, and what the members say instead."""
    return (
        f"Labelled {quote_class(label)}. The members rather say {quote_class(suggested)} "
        f"({formats.format_probability(probability)})."
    )


def quote_class(name: str) -> str:
    """A class's name within a sentence: in quotes, unless it is a sign or two."""
    return name if len(name) <= _MAX_SIGN_LETTERS else f"“{name}”"


def describe_fold_votes(agreeing: int, judges: int) -> str:
    if judges == 1:
        return f"One member has not learnt from it, and says {'this' if agreeing else 'another'}."
    who = f"Of the {judges:,} members that have not learnt from it"
    count = f"{agreeing:,}" if agreeing else "none"
    return f"{who}, {count} {'says' if agreeing < 2 else 'say'} what it is labelled."


def describe_queue_votes(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> str:
    label = int(predictions.labels[number])
    own = formats.format_probability(float(predictions.averaged[number, label]))
    votes = _describe_votes(predictions, number, names, label) if predictions.members > 1 else ""
    return f"{votes} They give the label {own}.".strip()


def _describe_votes(predictions: EnsemblePredictions, number: int, names: Sequence[str], label: int) -> str:
    """The classes that are voted for, the commonest first, then the label: "3 say 0, none 8"."""
    tallies = predictions.tallies[number]
    order = sorted(range(len(names)), key=lambda place: (-int(tallies[place]), place))
    voted = [place for place in order if tallies[place]]
    if len(voted) == 1:
        return f"All {predictions.members:,} members say {quote_class(names[voted[0]])}."
    parts = [
        f"{count:,} {'say' if count > 1 else 'says'} {quote_class(names[place])}"
        for place in voted[:_MAX_LISTED_VOTES]
        if (count := int(tallies[place]))
    ]
    if len(voted) > _MAX_LISTED_VOTES:
        parts.append("others say something else")
    if not tallies[label]:
        parts.append(f"none says {quote_class(names[label])}")
    return f"Of {predictions.members:,} members {', '.join(parts)}."


def describe_mended_gain(comparison: MendedComparison) -> str:
    """What training on mended labels did, one claim with its interval.

    "With 41 labels mended: +0.3 points (0.1 to 0.6)".
    """
    return f"With {_describe_mending(comparison)}: {format_point_gain(comparison.gain)}."


def _describe_mending(comparison: MendedComparison) -> str:
    if comparison.mended is None:
        return "other labels"
    relabeled, removed = comparison.mended
    parts = []
    if relabeled or not removed:
        parts.append(f"{formats.format_count(relabeled, 'label')} mended")
    if removed:
        parts.append(f"{formats.format_count(removed, 'image')} removed")
    return " and ".join(parts)


def format_point_gain(gain: PairedGain) -> str:
    """A gain in accuracy in percentage points, with its 95 % interval: "+0.3 points (0.1 to 0.6)".

    Where the interval holds 0, that no difference is shown.
    """
    places = formats.count_percent_decimals(gain.n)
    value, low, high = (100 * digits / gain.n for digits in (gain.digits, gain.digits_low, gain.digits_high))
    text = f"{format_signed(value, places)} points"
    if low <= 0 <= high:
        interval = f"{format_signed(low, places)} to {format_signed(high, places)}"
        return f"{text} ({interval}), which shows no difference"
    if high < 0:
        return f"{text} ({format_signed(low, places)} to {format_signed(high, places)})"
    return f"{text} ({low:.{places}f} to {high:.{places}f})"


def describe_mended_basis(comparison: MendedComparison, run: str, other: str, noun: str) -> str:
    count = formats.format_count(comparison.gain.n, f"test {noun}")
    left_out = ""
    if comparison.left_out:
        verb = "is" if comparison.left_out == 1 else "are"
        left_out = (
            f"; {formats.format_count(comparison.left_out, noun)} that one version alone has {verb} left out for both"
        )
    return (
        f"Accuracy of “{run}” after epoch {comparison.epoch} less that of “{other}” after epoch "
        f"{comparison.other_epoch}, on the same {count} by the mended labels{left_out}. The "
        "interval (95 %) is of these two trained runs on new images: other seeds of the same "
        "settings may come out otherwise."
    )


def describe_test_label_caution(comparison: MendedComparison, noun: str) -> str:
    """What the change of test labels does to the figure; "" where none was changed."""
    if not comparison.relabeled and not comparison.left_out:
        return ""
    parts = []
    if comparison.relabeled:
        verb = "was" if comparison.relabeled == 1 else "were"
        parts.append(f"{formats.format_count(comparison.relabeled, 'test label')} {verb} changed")
    if comparison.left_out:
        verb = "is" if comparison.left_out == 1 else "are"
        parts.append(f"{formats.format_count(comparison.left_out, f'test {noun}')} {verb} left out")
    sentence = (
        f"{' and '.join(parts)}, decided by people who looked where the members contradict the "
        "labels: that favours the members."
    )
    if comparison.unchanged_gain is None or not comparison.relabeled:
        return sentence
    n = comparison.unchanged_gain.n
    return (
        f"{sentence} On the {formats.format_count(n, noun)} whose label nobody changed: "
        f"{format_point_gain(comparison.unchanged_gain)}."
    )


def serialize_mended_comparison(comparison: MendedComparison) -> dict[str, Any]:
    """The comparison for JSON; docs/command-line.md says what each name is."""
    relabeled, removed = comparison.mended or (None, None)
    return {
        "labels_mended": relabeled,
        "images_removed": removed,
        "test_labels_changed": comparison.relabeled,
        "test_images_left_out": comparison.left_out,
        "epoch": comparison.epoch,
        "other_epoch": comparison.other_epoch,
        "gain": _serialize_gain(comparison.gain),
        "gain_where_unchanged": (
            None if comparison.unchanged_gain is None else _serialize_gain(comparison.unchanged_gain)
        ),
    }


def _serialize_gain(gain: PairedGain) -> dict[str, Any]:
    """Accuracy in percentage points with its 95 % interval, on so many images."""
    points, low, high = (100 * digits / gain.n for digits in (gain.digits, gain.digits_low, gain.digits_high))
    return {"images": gain.n, "points": points, "low": low, "high": high, "p": gain.p}


def describe_new_version(relabeled: int, removed: int) -> str:
    """What the button makes: "Make a new version with 41 labels mended and 3 images removed"."""
    parts = []
    if relabeled:
        parts.append(f"{formats.format_count(relabeled, 'label')} mended")
    if removed:
        parts.append(f"{formats.format_count(removed, 'image')} removed")
    return f"Make a new version with {' and '.join(parts)}"


def describe_empty_queue(noun: str, split: str) -> str:
    return f"No member contradicts a label of the {split} {pluralize_noun(noun)}."
