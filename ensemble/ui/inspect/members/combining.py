"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import Combination, Combined
from ensemble.analysis.members.gain import mcnemar
from ensemble.analysis.predictions import Predictions, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.summary import Quality, quality
from ensemble.figures.inspect.combining import NAMES, RULES, alt, figure, rules, table
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording import inspect as inspect_words

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
    if shown.n < LEAST:
        st.info(f"With fewer than {LEAST} {shown.noun}s there is nothing to fit weights on.",
                icon=":material/grid_off:")  # fmt: skip
        return
    combined, members = measured(shown, compared)
    st.markdown(f"##### {answer(combined, shown.made, shown.noun)}")
    name = address.choose(address.FIGURE, "Figure", NAMES, "accuracy", width="content")
    title = f"Ways of combining, {NAMES[name]} · {shown.source}"
    pictures.show(
        figure(combined, members, name, title, theme.palette()),
        key="combining", name=f"{shown.stem}-combining-{name}", title="Four ways of combining",
        alt=alt(combined, name), table=lambda: table(combined), sees=sees(combined, shown),
    )  # fmt: skip
    st.dataframe(in_words(combined, shown.made, shown.noun), hide_index=True,
                 key="combining_table")  # fmt: skip
    st.caption(
        "± is half the 95 % interval of the accuracy; both ends stand where it is not symmetric. "
        "Won and lost: against the arithmetic mean. "
        "Votes are no probabilities: a label that nobody votes for costs the majority vote up to "
        "87 nats, so its NLL is high."
    )
    changed(shown, combined)


def compared(made: Predictions) -> tuple[Combined, list[Quality]]:
    """The four ways, and each member alone on the half that they are judged on."""
    combined = combining.compare(made)
    half = combined.judged
    return combined, [quality(member[half], made.labels[half]) for member in made.probabilities]


def against_mean(one: Combination, combined: Combined, made: Predictions) -> tuple[int, int]:
    """(won, lost) on the judged half: what only this way, and what only the mean has right."""
    half, labels = combined.judged, made.labels
    ours, mean = one.said == labels, combined.arithmetic.said == labels
    return int((ours & ~mean & half).sum()), int((mean & ~ours & half).sum())


def answer(combined: Combined, made: Predictions, noun: str) -> str:
    """Whether some way is better or worse than the mean, beyond chance."""
    counts = {
        words: against_mean(one, combined, made)
        for words, one in rules(combined).items() if one is not combined.arithmetic
    }  # fmt: skip
    told = {words: f"{words} {formats.digits(won - lost, noun)}"
            for words, (won, lost) in counts.items()}  # fmt: skip
    apart = [words for words, pair in counts.items() if mcnemar(*pair) < inspect_words.LUCK]
    n = combined.arithmetic.quality.n
    if not any(won + lost for won, lost in counts.values()):
        return f"All four ways of combining get the same of {n:,} {noun}s right."
    if not apart:
        return (f"No way of combining can be told from the arithmetic mean on {n:,} {noun}s: "
                f"{', '.join(told.values())}.")  # fmt: skip
    said = ", ".join(f"{told[words]} ({inspect_words.p_value(mcnemar(*counts[words]))})"
                     for words in apart)  # fmt: skip
    rest = [told[words] for words in told if words not in apart]
    others = f"; not more than chance does: {', '.join(rest)}" if rest else ""
    return f"Against the arithmetic mean, on {n:,} {noun}s: {said}{others}."


def sees(combined: Combined, shown: Inspected) -> str:
    """How to read the picture."""
    fitted = shown.n - combined.arithmetic.quality.n
    return (
        f"The arithmetic mean in bold is what the ensemble says everywhere else. Weights are "
        f"fitted on one half of the test set ({fitted:,}), all four ways are judged on the other "
        f"({combined.arithmetic.quality.n:,}). Below, what each member weighs; the dashed line is "
        "the same for all."
    )


def in_words(combined: Combined, made: Predictions, noun: str) -> pd.DataFrame:
    """One row a way: its figures, and what it wins and loses against the mean."""
    rows = []
    for words, one in rules(combined).items():
        found = one.quality
        won, lost = against_mean(one, combined, made)
        versus = "" if one is combined.arithmetic else (
            f"{formats.digits(won - lost, noun)} ({won:,} won, {lost:,} lost, "
            f"{inspect_words.p_value(mcnemar(won, lost))})"
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
