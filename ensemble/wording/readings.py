"""What the screen Classify says of a picture, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ensemble.wording import formats
from ensemble.wording import images as images_words
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Digit, Reading
    from ensemble.recognition.rejection_threshold import RejectionThreshold

_UNKNOWN_MARK = "?"
_CERTAINTY_PHRASES = (
    (0.99, "Almost certain"),
    (0.9, "Quite sure"),
    (0.6, "Fairly sure"),
    (0.0, "Hardly more than a guess"),
)
# Where fewer real images than these have as high an OOD score, the certainty is not said alone.
_STRANGE_SHARE = 0.1
ABSTENTION_PHRASE = "I would rather not say"


def format_mark_reading(digit: Digit, names: Sequence[str]) -> str:
    return _UNKNOWN_MARK if digit.rejected else names[digit.label]


def join_mark_readings(reading: Reading, lines: Sequence[int], names: Sequence[str]) -> str:
    """The whole number: "4072", "4 ? 7 2" where a mark is not known, lines by a slash."""
    texts = [format_mark_reading(digit, names) for digit in reading.digits]
    between = " " if is_spaced_reading(texts) else ""
    rows: dict[int, list[str]] = {}
    for line, text in zip(lines, texts, strict=True):
        rows.setdefault(line, []).append(text)
    return " / ".join(between.join(row) for _, row in sorted(rows.items()))


def is_spaced_reading(texts: Sequence[str]) -> bool:
    """Whether gaps between what is said help: with unknown marks or long names."""
    return _UNKNOWN_MARK in texts or any(len(text) > 1 for text in texts)


def describe_empty_picture(names: Sequence[str], noun: str = "") -> str:
    return f"I see no {noun or images_words.find_image_noun(names)} here"


def describe_certainty(share: float) -> str:
    return next(words for least, words in _CERTAINTY_PHRASES if share >= least)


def explain_reading_rejection(reading: Reading, names: Sequence[str], noun: str = "") -> str:
    """Why nothing on the picture is read, a sentence; "" where something is."""
    if reading.picture_rejection:
        return reading.picture_rejection
    if reading.digits and all(digit.rejected for digit in reading.digits):
        if len(reading.digits) == 1:
            rejection = marks_words.describe_mark_rejection(names, noun)
            return f"{rejection}. {reading.digits[0].rejection_reason}".strip()
        word = noun or images_words.find_image_noun(names)
        article = marks_words.select_article(word)
        return f"None of the {len(reading.digits)} marks is {article} {word} I know."
    return ""


def describe_reading_certainty(reading: Reading, names: Sequence[str], noun: str = "") -> str:
    word = noun or images_words.find_image_noun(names)
    accepted = sum(not digit.rejected for digit in reading.digits)
    unknown = len(reading.digits) - accepted
    if unknown:
        clause = " of the other" if accepted == 1 else f" that the other {accepted} are right"
    else:
        clause = {1: "", 2: f" that both {pluralize_noun(word)} are right"}.get(
            accepted, f" that all {accepted} {pluralize_noun(word)} are right"
        )
    begin = (
        f"{describe_certainty(reading.confidence)}: "
        f"{formats.format_probability(reading.confidence)}{clause}"
        f"{_describe_strange_marks(reading, word)}."
    )
    what = "One mark is" if unknown == 1 else f"{unknown} marks are"
    return f"{what} no {word}, or none I know. {begin}" if unknown else begin


def _describe_strange_marks(reading: Reading, noun: str) -> str:
    """That marks which are read look unlike most of what was seen; "" where none does."""
    shares = [1 - digit.quantile for digit in reading.digits if not digit.rejected]
    strange = [share for share in shares if share < _STRANGE_SHARE - 1e-9]
    if not strange:
        return ""
    if len(shares) > 1:
        which = "one" if len(strange) == 1 else f"{len(strange):,} of them"
        look = "looks" if len(strange) == 1 else "look"
        return f", though {which} {look} unlike most real {pluralize_noun(noun)}"
    if strange[0] <= 0:
        return f", though no real {noun} looks as strange"
    share = formats.format_percent(strange[0], figures=2)
    return f", though only {share} of real {pluralize_noun(noun)} look as strange"


def describe_lookalike_risk(names: Sequence[str], noun: str = "") -> str:
    """What is to be said beside every verdict, until it is known how often it comes about."""
    word = noun or images_words.find_image_noun(names)
    if word == marks_words.GENERIC_NOUN:
        return "Pictures of something else can pass for one of these: look at the picture."
    return f"Shapes that are no {word} can pass for one: look at the picture."


def describe_rejection_rate(threshold: RejectionThreshold, names: Sequence[str], noun: str = "") -> str:
    if not threshold.non_digits:
        return describe_lookalike_risk(names, noun)
    shape_count = sum(non_digit.n for non_digit in threshold.non_digits)
    share = sum(non_digit.n * non_digit.share for non_digit in threshold.non_digits) / shape_count
    tenths = math.floor(10 * share + 0.5)
    times = f"about {tenths} times in 10"
    if tenths in (0, 10):
        times = "nearly always" if tenths else "hardly ever"
    word = noun or images_words.find_image_noun(names)
    subject = f"Shapes that are no {word}"
    if word == marks_words.GENERIC_NOUN:
        subject = "Pictures of something else"
    return f"{subject} are rejected {times}: look at the picture."


def describe_rejection_sample(threshold: RejectionThreshold, names: Sequence[str], noun: str = "") -> str:
    word = noun or images_words.find_image_noun(names)
    if not threshold.non_digits:
        return f"No shapes that are no {word} could be shown to the members."
    least = min(threshold.non_digits, key=lambda kind: kind.share)
    shape_count = sum(non_digit.n for non_digit in threshold.non_digits)
    kinds = f"{shape_count:,} shapes of {len(threshold.non_digits)} kinds, drawn letters and figures"
    if not threshold.written:
        kinds = f"{shape_count:,} images of {len(threshold.non_digits)} kinds, noise"
    return (
        f"Counted on {kinds} among them. Least often: {least.title}, "
        f"{formats.format_percent(least.share, least.n)}. Yours may be of another kind."
    )


def format_reading_row(
    reading: Reading, lines: Sequence[int], names: Sequence[str], noun: str = ""
) -> tuple[str, str, str]:
    """A picture in a list: what is said, how surely, and why not."""
    if not reading.digits:
        return "–", "", f"{describe_empty_picture(names, noun)}."
    if why := explain_reading_rejection(reading, names, noun):
        return _UNKNOWN_MARK, "", why
    return (join_mark_readings(reading, lines, names), formats.format_probability(reading.confidence), "")


def describe_mark_alt_text(digit: Digit, index: int, total: int, names: Sequence[str], noun: str = "") -> str:
    place = f" · mark {index + 1} of {total}" if total > 1 else ""
    if digit.rejected:
        return f"{marks_words.describe_mark_rejection(names, noun)}{place}"
    return f"{names[digit.label]}, {formats.format_probability(float(digit.probabilities[digit.label]))}{place}"


def format_remaining_time(seconds: float) -> str:
    """Time left, for a line of progress; "" while it cannot be told."""
    return f" · about {formats.format_duration(seconds)} left" if seconds >= 1 else ""
