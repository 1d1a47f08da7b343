"""The answer: the whole number, large, each of its digits to be opened, and how sure it is."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from ensemble.ui.classify.answer import false_accept_rate
from ensemble.ui.classify.input import open_mark
from ensemble.ui.shared import theme
from ensemble.wording import escaping
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.pictures.preparation import SegmentedPicture
    from ensemble.recognition.classifier import Classifier, Reading

KEY = "classify_answer"
# How many marks are shown how large.
_MAX_LARGE_MARKS, _MAX_MEDIUM_MARKS = 8, 30


def show_reading_summary(
    classifier: Classifier, prepared: SegmentedPicture, reading: Reading, index: int, ident: str, refuse: float
) -> None:
    names = classifier.class_names
    if not reading.digits:
        st.subheader(readings_words.describe_empty_picture(names, classifier.noun), anchor=False)
    elif why := readings_words.explain_reading_rejection(reading, names, classifier.noun):
        # Of one mark the reason stands below, with the mark.
        alone = len(reading.digits) == 1 and not reading.picture_rejection
        st.subheader(readings_words.ABSTENTION_PHRASE, anchor=False)
        if not alone:
            st.markdown(escaping.escape_markdown(why))
        if len(reading.digits) > 1:
            _show_digit_buttons(classifier, prepared, reading=reading, index=index, ident=ident, size="small")
    else:
        many = len(reading.digits)
        size = "large" if many <= _MAX_LARGE_MARKS else "medium" if many <= _MAX_MEDIUM_MARKS else "small"
        _show_digit_buttons(classifier, prepared, reading=reading, index=index, ident=ident, size=size)
        st.markdown(
            escaping.escape_markdown(readings_words.describe_reading_certainty(reading, names, classifier.noun)),
            help=_CONFIDENCE_HELP.format(classifier.noun) if many > 1 else None,
        )
        false_accept_rate.show_false_accept_rate(classifier, refuse)
    for note in prepared.notes:
        st.caption(escaping.escape_markdown(note))


_CONFIDENCE_HELP = (
    "The product of the {0}s' own probabilities: how likely all of them are right at once, as "
    "if their errors had nothing to do with each other. Press a {0} to see more of it."
)


def _show_digit_buttons(
    classifier: Classifier, prepared: SegmentedPicture, reading: Reading, index: int, ident: str, size: str
) -> None:
    names, mark_count = classifier.class_names, len(reading.digits)
    lines: dict[int, list[dict[str, Any]]] = {}
    for place, (mark, digit) in enumerate(zip(prepared.marks, reading.digits, strict=True)):
        lines.setdefault(mark.line, []).append(
            {
                "index": place,
                "said": readings_words.format_mark_reading(digit, names),
                "open": place == index,
                "rejected": digit.rejected,
                "alt": readings_words.describe_mark_alt_text(digit, place, mark_count, names, classifier.noun),
            }
        )
    answers = [button["said"] for line in lines.values() for button in line]
    _create_answer_component()(
        data={
            "lines": [line for _, line in sorted(lines.items())],
            "size": f"{size} {theme.get_page_palette().mode}",
            "spaced": readings_words.is_spaced_reading(answers),
        },
        key=KEY,
        on_opened_change=lambda: open_mark.open_pressed_mark(KEY, ident),
    )


@functools.cache
def _create_answer_component() -> Any:
    folder = Path(__file__).parents[1] / "js"
    return st.components.v2.component(
        "ensemble_answer",
        html='<div class="answer" role="group" aria-label="What the ensemble says"></div>',
        css=(folder / "answer.css").read_text(),
        js=(folder / "answer.js").read_text(),
    )
