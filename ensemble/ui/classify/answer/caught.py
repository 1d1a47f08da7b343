"""How often what is no digit is rejected, beside every verdict: a sure answer may be none."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer import loader
from ensemble.ui.shared.guard import guarded
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

EVERY = 1.0
KEPT = 24  # classifiers of which it is remembered that they have been measured


def show(asked: Classifier, refuse: float) -> None:
    """The sentence with its figure; until that is measured, without it.

    The members have to be shown some hundreds of shapes for it, which takes seconds once for a
    run and epoch: the page is drawn first.
    """
    tried = _tried(loader.who(asked))
    if not tried:
        st.fragment(waiting, run_every=EVERY)(asked, refuse, itertools.count(), tried)
    elif tried[0]:
        threshold = asked.rejection_threshold(refuse)
        st.markdown(
            readings_words.how_often_rejected(threshold, asked.class_names, asked.noun),
            help=readings_words.rejected_of_what(threshold, asked.class_names, asked.noun),
        )
    else:
        st.markdown(readings_words.can_pass(asked.class_names, asked.noun))


def waiting(asked: Classifier, refuse: float, drawings: Iterator[int], tried: list[bool]) -> None:
    """The body of `show` while nothing is measured: measures when it is drawn again by itself."""
    with guarded():
        st.markdown(readings_words.can_pass(asked.class_names, asked.noun))
        if next(drawings):
            measure(asked, refuse, tried)
            st.rerun()


def measure(asked: Classifier, refuse: float, tried: list[bool]) -> None:
    """Have the members shown what is no digit, and note whether that could be done."""
    try:
        asked.rejection_threshold(refuse)
    except EnsembleError:  # the dataset is gone: the answer stands without the figure
        logging.getLogger("ensemble").exception("What is no digit could not be shown")
        tried.append(False)
    else:
        tried.append(True)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _tried(who: str) -> list[bool]:
    """Empty until it was tried to measure; then whether that could be done."""
    return []
