"""How often what is no digit is rejected, beside every verdict: a sure answer may be none."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer import reading_cache
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

POLL_INTERVAL_S = 1.0
_MAX_CLASSIFIERS = 24  # classifiers of which it is remembered that they have been measured


def show_false_accept_rate(classifier: Classifier, refuse: float) -> None:
    """The sentence with its figure; as long as nothing is rejected, without it.

    Where no job could measure the figure beforehand, the page is drawn first: it takes seconds.
    """
    if not classifier.is_calibrated:
        st.markdown(readings_words.describe_lookalike_risk(classifier.class_names, classifier.noun))
        return
    tried = _remember_measurement(reading_cache.identify_classifier(classifier))
    if not tried:
        st.fragment(_refresh_false_accept_rate, run_every=POLL_INTERVAL_S)(classifier, refuse, itertools.count(), tried)
    elif tried[0]:
        threshold = classifier.compute_rejection_threshold(refuse)
        st.markdown(
            readings_words.describe_rejection_rate(threshold, classifier.class_names, classifier.noun),
            help=readings_words.describe_rejection_sample(threshold, classifier.class_names, classifier.noun),
        )
    else:
        st.markdown(readings_words.describe_lookalike_risk(classifier.class_names, classifier.noun))


def _refresh_false_accept_rate(
    classifier: Classifier, refuse: float, drawings: Iterator[int], tried: list[bool]
) -> None:
    """The body of `show_false_accept_rate` while nothing is measured: measures when drawn again."""
    with guard_page():
        st.markdown(readings_words.describe_lookalike_risk(classifier.class_names, classifier.noun))
        if next(drawings):
            measure_false_accept_rate(classifier, refuse, tried)
            st.rerun()


def measure_false_accept_rate(classifier: Classifier, refuse: float, tried: list[bool]) -> None:
    try:
        classifier.compute_rejection_threshold(refuse)
    except EnsembleError:  # the dataset is gone: the answer stands without the figure
        logging.getLogger("ensemble").exception("What is no digit could not be shown")
        tried.append(False)
    else:
        tried.append(True)


@st.cache_resource(max_entries=_MAX_CLASSIFIERS, show_spinner=False)
def _remember_measurement(who: str) -> list[bool]:
    """Empty until it was tried to measure; then whether that could be done."""
    return []
