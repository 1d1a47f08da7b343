"""The conformal sets that were asked for: their error rate and kind, as the address has them."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.coverage import Examples, sets_of_all
from ensemble.analysis.quality.halves import LEAST
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, widget
from ensemble.views.conformal import DEFAULT_MISS, METHOD, MISS_RATES, offer_miss_rates
from ensemble.wording.verdicts import sets as words

# The last sets of each predictions, as long as these are there: of many classes they take a second.
_LAST: WeakKeyDictionary[Predictions, tuple[object, NDArray[np.bool_]]] = WeakKeyDictionary()


def asked() -> tuple[float, str]:
    """The error rate, and one of `METHODS`, that the address names."""
    return MISS_RATES[address.MISS.among(MISS_RATES, DEFAULT_MISS)], address.SETS.read()


def enough(made: Predictions, fitting: Fitting | None) -> bool:
    """Whether there are examples to calibrate on: some held out, or enough for one half."""
    return fitting is not None or len(made.labels) >= LEAST


def calibration(fitting: Fitting | None) -> Examples | None:
    """The images held out, as sets are calibrated on them; None where there are none."""
    return fitting and (fitting.made.averaged, fitting.made.labels)


def control(noun: str, key: str) -> None:
    """How often a set may miss the label, and which kind of sets; the address keeps both."""
    miss = offer_miss_rates(noun, key)
    word = address.MISS.among(MISS_RATES, DEFAULT_MISS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.bound(
            miss.key,
            word,
            lambda key: st.select_slider(
                miss.label,
                list(miss.values),
                key=key,
                width=miss.width or "stretch",
                value=widget.held(key),
                on_change=address.follow,
                args=(address.MISS, key, miss.default),
                format_func=miss.values.__getitem__,
                help=miss.help,
            ),
        )
        address.choose(address.SETS, METHOD.label, METHOD.values, METHOD.default, help=METHOD.help)


def of(made: Predictions, fitting: Fitting | None) -> NDArray[np.bool_]:
    """Every example's set, (N, C), calibrated on others: those held out, or the other half."""
    question = (*asked(), fitting and fitting.made)
    known, found = _LAST.get(made, (None, None))
    if found is None or known != question:
        rate, method = asked()
        found = sets_of_all(made.averaged, made.labels, rate, method, calibration(fitting))
        _LAST[made] = question, found
    return found


def line(made: Predictions, noun: str, fitting: Fitting | None) -> None:
    """What the sets of all images come to, in a line, and the controls behind a button."""
    if not enough(made, fitting):
        return
    rate, _ = asked()
    found = of(made, fitting)
    covered = int(found[np.arange(len(found)), made.labels].sum())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(words.summary(found, covered, rate, noun), width="content", help=help(fitting))
        with st.popover("Error rate", type="tertiary"):
            control(noun, "digits_sets")


def one(made: Predictions, number: int, names: Sequence[str], fitting: Fitting | None) -> str:
    """An image's own set: "The set: {4, 9} at 95 %."; "" where there are too few to calibrate."""
    if not enough(made, fitting):
        return ""
    return f"The set: {words.one(of(made, fitting)[number], asked()[0], names)}."


def help(fitting: Fitting | None) -> str:
    """What the sets are, what they were calibrated on, and of which images that is a promise."""
    if fitting:
        return (
            "Conformal sets: for each image the classes that it may be. They are calibrated on the "
            f"{len(fitting.made.labels):,} validation images; the share that hold the label is "
            "promised on average over such draws, for images like those."
        )
    return (
        "Conformal sets: for each image the classes that it may be. Each half of the test images "
        "is calibrated on the other half; the share that hold the label is promised on average "
        "over such halves, for images like these."
    )
