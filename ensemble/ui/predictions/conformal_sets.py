"""The conformal sets that were asked for: their error rate and kind, as the address has them."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.coverage import LabeledProbabilities, cross_conformal_sets
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE
from ensemble.ui.predictions.validation_source import ValidationSource
from ensemble.ui.shared import address, widget_state
from ensemble.views import conformal as words
from ensemble.views.conformal import DEFAULT_MISS, METHOD_CHOICE, MISS_RATES, offer_miss_rates

# The last sets of each predictions, as long as these are there: of many classes they take a second.
_SETS_CACHE: WeakKeyDictionary[EnsemblePredictions, tuple[object, NDArray[np.bool_]]] = WeakKeyDictionary()


def get_conformal_settings() -> tuple[float, str]:
    """The error rate, and one of `METHODS`, that the address names."""
    return MISS_RATES[address.MISS.read_option(MISS_RATES, DEFAULT_MISS)], address.SETS.read()


def can_calibrate_sets(predictions: EnsemblePredictions, fitting: ValidationSource | None) -> bool:
    """Whether there are examples to calibrate on: some held out, or enough for one half."""
    return fitting is not None or len(predictions.labels) >= MIN_EXAMPLES_TO_HALVE


def _get_calibration_examples(fitting: ValidationSource | None) -> LabeledProbabilities | None:
    """The images held out, as sets are calibrated on them; None where there are none."""
    return fitting and (fitting.predictions.averaged, fitting.predictions.labels)


def show_conformal_controls(noun: str, key: str) -> None:
    """How often a set may miss the label, and which kind of sets; the address keeps both."""
    miss = offer_miss_rates(noun, key)
    word = address.MISS.read_option(MISS_RATES, DEFAULT_MISS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.show_address_widget(
            miss.key,
            word,
            lambda key: widget_state.draw_widget(
                st.select_slider,
                miss.label,
                list(miss.values),
                key=key,
                width=miss.width or "stretch",
                on_change=address.update_address,
                args=(address.MISS, key, miss.default),
                format_func=miss.values.__getitem__,
                help=miss.help,
            ),
        )
        address.select_address_option(
            address.SETS, METHOD_CHOICE.label, METHOD_CHOICE.values, METHOD_CHOICE.default, help=METHOD_CHOICE.help
        )


def load_conformal_sets(predictions: EnsemblePredictions, fitting: ValidationSource | None) -> NDArray[np.bool_]:
    """Every example's set, (N, C), calibrated on others: those held out, or the other half."""
    question = (*get_conformal_settings(), fitting and fitting.predictions)
    cached_question, sets = _SETS_CACHE.get(predictions, (None, None))
    if sets is None or cached_question != question:
        rate, method = get_conformal_settings()
        sets = cross_conformal_sets(
            predictions.averaged,
            predictions.labels,
            error_rate=rate,
            method=method,
            calibration=_get_calibration_examples(fitting),
            groups=predictions.groups,
        )
        _SETS_CACHE[predictions] = question, sets
    return sets


def show_conformal_summary(predictions: EnsemblePredictions, noun: str, fitting: ValidationSource | None) -> None:
    if not can_calibrate_sets(predictions, fitting):
        return
    rate, _ = get_conformal_settings()
    conformal_sets = load_conformal_sets(predictions, fitting)
    covered = int(conformal_sets[np.arange(len(conformal_sets)), predictions.labels].sum())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            words.summarize_conformal_sets(conformal_sets, covered, rate, noun),
            width="content",
            help=describe_set_calibration(fitting),
        )
        with st.popover("Error rate", type="tertiary"):
            show_conformal_controls(noun, "digits_sets")


def describe_image_set(
    predictions: EnsemblePredictions, number: int, names: Sequence[str], fitting: ValidationSource | None
) -> str:
    """An image's own set: "The set: {4, 9} at 95 %."; "" where there are too few to calibrate."""
    if not can_calibrate_sets(predictions, fitting):
        return ""
    image_set = load_conformal_sets(predictions, fitting)[number]
    text = f"The set: {words.format_image_set(image_set, get_conformal_settings()[0], names)}."
    why = words.explain_unsure_set(image_set, predictions.averaged[number])
    return f"{text} {why}".rstrip()


def describe_set_calibration(fitting: ValidationSource | None) -> str:
    if fitting:
        return (
            "Conformal sets: for each image the classes that it may be. They are calibrated on the "
            f"{len(fitting.predictions.labels):,} validation images; the share that hold the label "
            "is promised on average over such draws, for images like those."
        )
    return (
        "Conformal sets: for each image the classes that it may be. Each half of the test images "
        "is calibrated on the other half; the share that hold the label is promised on average "
        "over such halves, for images like these."
    )
