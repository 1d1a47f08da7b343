"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import Combined
from ensemble.analysis.members.gain import LUCK
from ensemble.analysis.predictions import Predictions, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.calibration_noise import CalibrationError, calibration_error
from ensemble.analysis.quality.halves import halves
from ensemble.analysis.quality.summary import Quality
from ensemble.figures.inspect.combining import NAMES, RULES, alt, figure, side_by_side, table
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import inspect as inspect_words
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
    st.markdown(f"##### {answer(combined, shown.noun)}")
    st.caption(evidence(combined, shown.noun))
    name = address.choose(address.FIGURE, "Figure", NAMES, "accuracy", width="content")
    title = f"Ways of combining, {NAMES[name]} · {shown.source}"
    pictures.show(
        figure(combined, members, name, title, theme.palette()),
        key="combining", name=f"{shown.stem}-combining-{name}", title="Four ways of combining",
        alt=alt(combined, name), table=lambda: table(combined), sees=sees(combined),
    )  # fmt: skip
    if name == "ece":
        st.caption(by_chance(measured(shown, error_of_mean, fitting)))
    st.dataframe(in_words(combined, shown.noun), hide_index=True,
                 key="combining_table")  # fmt: skip
    st.caption(
        "± is half the 95 % interval of the accuracy; both ends stand where it is not symmetric. "
        "Won and lost: against the arithmetic mean. "
        "Votes are no probabilities: a label that nobody votes for costs the majority vote up to "
        "87 nats, so its NLL is high."
    )
    changed(shown, combined)


def compared(made: Predictions, fitting: Fitting | None = None) -> tuple[Combined, list[Quality]]:
    """The four ways, and each member alone on the examples that they are judged on."""
    return side_by_side(made, fitting and fitting.made)


def error_of_mean(made: Predictions, fitting: Fitting | None = None) -> CalibrationError:
    """The ECE of the arithmetic mean where all ways are judged, and what chance alone gives."""
    judged = slice(None) if fitting else halves(made.labels)[1]
    return calibration_error(made.confidence[judged], made.right[judged])


def answer(combined: Combined, noun: str) -> str:
    """Whether some way is shown to be better or worse than the mean: one claim."""
    n = combined.arithmetic.quality.n
    ways = {name: getattr(combined, name).gain for name in combining.OTHERS}
    shown = {name: ways[name] for name, (p, _) in combined.adjusted.items() if p < LUCK}
    alike = not any(one.won + one.lost for one in ways.values())
    nll = ", ".join(
        f"{RULES[name]} {'lower' if ways[name].nll > 0 else 'higher'}"
        for name, (_, p) in combined.adjusted.items() if p < LUCK
    )  # fmt: skip
    if nll and not shown:
        lead = f"All four ways get the same {plural(noun)} right" if alike else (
            "No way is shown to get more right"
        )  # fmt: skip
        return f"{lead}; NLL: {nll}."
    if alike:
        return f"All four ways of combining get the same of {n:,} {plural(noun)} right."
    if not shown:
        return (
            f"These {n:,} {plural(noun)} show no way of combining that gets more right than "
            "the mean."
        )
    said = ", ".join(
        f"{RULES[name]} {abs(one.digits):,} {'more' if one.digits > 0 else 'fewer'} right"
        for name, one in shown.items()
    )
    return f"Against the mean, on {n:,} {plural(noun)}: {said}."


def evidence(combined: Combined, noun: str) -> str:
    """Each way's figures against the mean, with p adjusted for all of them."""
    told = []
    for name, (p, nll_p) in combined.adjusted.items():
        found = getattr(combined, name).gain
        nll = "" if np.isnan(nll_p) or not (found.nll_low or found.nll_high) else (
            f", NLL {inspect_words.nll_change(found)}, {inspect_words.p_value(nll_p)}"
        )  # fmt: skip
        told.append(
            f"{RULES[name]} {formats.digits(found.digits, noun)} "
            f"{inspect_words.digits_interval(found)}, {inspect_words.p_value(p)}{nll}"
        )
    return (
        f"Against the mean: {'; '.join(told)}. Each p is adjusted for all of these tests (Holm), "
        "each interval is of one alone; from p = 0.05 on a difference is not shown, which does not "
        "mean that there is none."
    )


def sees(combined: Combined) -> str:
    """How to read the picture."""
    judged = combined.arithmetic.quality.n
    where = (
        f"one half of the test images ({combined.fitted:,}), all four ways are judged on the other "
        f"({judged:,})" if combined.held_out else
        f"the validation images ({combined.fitted:,}), all four ways are judged on the test images "
        f"({judged:,})"
    )  # fmt: skip
    return (
        "The arithmetic mean in bold is what the ensemble says everywhere else. Weights are "
        f"fitted on {where}. Below, what each member weighs; the dashed line is the same for all."
    )


def in_words(combined: Combined, noun: str) -> pd.DataFrame:
    """One row a way: its figures, and what it wins and loses against the mean."""
    rows = []
    adjusted = combined.adjusted
    for name, words in RULES.items():
        one = getattr(combined, name)
        found, gained = one.quality, one.gain
        versus = "" if name not in adjusted else (
            f"{formats.digits(gained.digits, noun)} ({gained.won:,} won, {gained.lost:,} lost, "
            f"{inspect_words.p_value(adjusted[name][0])})"
        )  # fmt: skip
        rows.append(
            {
                "rule": words,
                "accuracy": f"{formats.percent(found.accuracy, found.n)} "
                f"{formats.plus_minus(found.accuracy, found.n)}",
                "against the mean": versus,
                "NLL": formats.significant(found.nll),
                "Brier": formats.significant(found.brier),
                "ECE": formats.significant(found.ece),
            }
        )
    return pd.DataFrame(rows)


def changed(shown: Inspected, combined: Combined) -> None:
    """The images of which another way says something else than the mean."""
    label = f"{shown.noun.capitalize()}s whose verdict changes"
    which = address.choose(address.RULE, label, CHANGED, "any", width="content")
    numbers = ordered(shown.made, numbers_of(combined, which), "unsure")
    by = "any other way of combining" if which == "any" else f"the {RULES[which]}"
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
