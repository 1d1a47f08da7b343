"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from ensemble.analysis.members.combining import Combined
from ensemble.analysis.predictions import Predictions, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.calibration_noise import CalibrationError, calibration_error
from ensemble.analysis.quality.halves import halves
from ensemble.analysis.quality.summary import Quality
from ensemble.figures.inspect.combining import NAMES, alt, figure, side_by_side, table
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import combining as words
from ensemble.wording.verdicts.calibration import by_chance

LEAST = 20  # examples, below which two halves say nothing
SHORT = {"geometric": "geometric", "majority": "majority", "weighted": "weights"}
CHANGED = {"any": "Any rule", "geometric": "Geometric mean", "majority": "Majority vote",
           "weighted": "Fitted weights"}  # fmt: skip


def show(shown: Inspected) -> None:
    """The answer, the four ways side by side, and the images whose verdict changes."""
    if shown.members == 1:
        st.info("One member has nothing to be combined with: train two or more to see which way "
                "of combining them is best.", icon=":material/group_off:")  # fmt: skip
        return
    fitting = shown.fitting
    if shown.n < LEAST and not fitting:
        st.info(f"With fewer than {LEAST} {plural(shown.noun)} there is nothing to fit weights on.",
                icon=":material/grid_off:")  # fmt: skip
        return
    combined, members = measured(shown, compared, fitting)
    st.markdown(f"##### {words.answer(combined, shown.noun)}")
    st.caption(words.evidence(combined, shown.noun))
    name = address.choose(address.FIGURE, "Figure", NAMES, "accuracy", width="content")
    title = f"Ways of combining, {NAMES[name]} · {shown.source}"
    pictures.show(
        figure(combined, members, name, title, theme.palette()),
        key="combining", of=shown.run, epoch=shown.epoch,
        name=f"{shown.stem}-combining-{name}", title="Four ways of combining",
        alt=alt(combined, name), table=lambda: table(combined), sees=words.sees(combined),
    )  # fmt: skip
    if name == "ece":
        st.caption(by_chance(measured(shown, error_of_mean, fitting)))
    st.dataframe(words.in_words(combined, shown.noun), hide_index=True,
                 key="combining_table")  # fmt: skip
    st.caption(words.NOTES)
    changed(shown, combined)


def compared(made: Predictions, fitting: Fitting | None = None) -> tuple[Combined, list[Quality]]:
    """The four ways, and each member alone on the examples that they are judged on."""
    return side_by_side(made, fitting and fitting.made)


def error_of_mean(made: Predictions, fitting: Fitting | None = None) -> CalibrationError:
    """The ECE of the arithmetic mean where all ways are judged, and what chance alone gives."""
    judged = slice(None) if fitting else halves(made.labels)[1]
    return calibration_error(made.confidence[judged], made.right[judged])


def changed(shown: Inspected, combined: Combined) -> None:
    """The images of which another way says something else than the mean."""
    label = f"{shown.noun.capitalize()}s whose verdict changes"
    which = address.choose(address.RULE, label, CHANGED, "any", width="content")
    numbers = ordered(shown.made, numbers_of(combined, which), "unsure")
    by = "any other way of combining" if which == "any" else f"the {words.RULES[which]}"
    if not len(numbers):
        st.caption(f"Of no {shown.noun} of the whole test set {by} says anything else.")
        return
    st.caption(f"Of {formats.count(len(numbers), shown.noun)} of the whole test set {by} says "
               "something else; the least sure first.")  # fmt: skip
    images.show(shown, numbers, key=f"combining_{which}",
                        under=lambda number: under(combined, number, shown.names))  # fmt: skip


def numbers_of(combined: Combined, which: str) -> Ints:
    """The numbers of the images whose verdict a rule, or any, changes; rising."""
    chosen = SHORT if which == "any" else (which,)
    found = [getattr(combined, name).changed for name in chosen]
    return np.unique(np.concatenate(found))


def under(combined: Combined, number: int, names: Sequence[str]) -> list[str]:
    """What each other way says of an image."""
    return [f"{word} {names[getattr(combined, name).said[number]]}"
            for name, word in SHORT.items()]  # fmt: skip
