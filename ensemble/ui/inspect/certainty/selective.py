"""Two ways to be wrong less often: to answer only where it is sure, or with a set of classes."""

import pandas as pd
import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.halves import LEAST
from ensemble.analysis.quality.selective import Choice, RiskCoverage
from ensemble.figures import lines
from ensemble.figures.inspect.selective import alt, curves, figure, table, thresholds
from ensemble.ui.inspect.certainty import conformal
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording.formats import plural

# The error rates to choose from, by their words in the address: percent.
RATES = {word: float(word) / 100 for word in ("10", "5", "2", "1", "0.5", "0.2", "0.1")}
USUAL = "0.5"
MODES = {"answers": "Answer or pass on", "sets": "Answer with a set"}


def show(shown: Inspected) -> None:
    """The choice of one, and its answer, controls, picture and figures."""
    if shown.n < LEAST and not shown.fitting:
        st.info(f"With fewer than {LEAST} {plural(shown.noun)} there is nothing to find a "
                "threshold on.",
                icon=":material/grid_off:")  # fmt: skip
        return
    mode = address.choose(address.MODE, "What it may do where it is not sure", MODES, "answers",
                         label_visibility="collapsed")  # fmt: skip
    if mode == "sets":
        conformal.show(shown)
    else:
        answers(shown)


def answers(shown: Inspected) -> None:
    """The answer, a control for the error rate, the curve and every member's figures."""
    answered = st.container()
    rate = choose()
    ensemble, members = measured(shown, curves)
    found = measured(shown, choices, rate, shown.fitting)
    who = "the ensemble" if shown.members > 1 else "the one member"
    answered.markdown(f"##### {answer(found[0], rate, who, shown.noun)}")
    title = f"Risk by coverage · {shown.source}"
    pictures.show(
        figure(ensemble, members, rate, found[0], title, theme.palette()), key="selective",
        name=f"{shown.stem}-selective", title="Risk by coverage", alt=alt(ensemble, shown.n),
        table=lambda: table(ensemble, members), sees=sees(ensemble, shown.noun),
    )  # fmt: skip
    st.dataframe(figures([ensemble, *members], found, shown.n), hide_index=True,
                 key="selective_table")  # fmt: skip
    st.caption(
        f"AURC: the area under the curve, the mean share of wrong answers over all coverages. Were "
        f"every wrong {shown.noun} the least sure, {who}'s would be "
        f"{formats.significant(ensemble.aurc_best)}. {found_on(found[0], shown.noun)}; in brackets "
        "the 95 % interval."
    )


def choose() -> float:
    """The control for the error rate; what it says stands in the address."""
    word = address.ERROR.among(RATES, USUAL)
    address.bound("selective_rate", word, lambda key: st.select_slider(
        "Wrong answers that you accept", list(RATES), key=key, width=340, on_change=address.follow,
        args=(address.ERROR, key, USUAL), format_func=lambda word: accepted(RATES[word]),
        help="Of the answers that are given, not of all: the others go to a person.",
    ))  # fmt: skip
    return RATES[word]


def choices(made: Predictions, rate: float, fitting: Fitting | None = None) -> list[Choice]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's."""
    return thresholds(made, rate, fitting and fitting.made)


def found_on(one: Choice, noun: str) -> str:
    """On which images a threshold was found, and on which what comes of it was counted."""
    if one.halved:
        return (
            f"Thresholds are found on one half of the test set ({one.fitted:,}), what is answered "
            f"and wrong is counted on the other ({one.n:,}), where more may be wrong"
        )
    return (
        f"Thresholds are found on the {one.fitted:,} validation {plural(noun)}, what is answered "
        "and "
        f"wrong is counted on the {one.n:,} test {plural(noun)}, where more may be wrong"
    )


def answer(found: Choice, rate: float, who: str, noun: str) -> str:
    """What is answered and what is wrong of it, with the threshold for an error rate."""
    if not found.reached:
        return (f"No threshold keeps the wrong answers to {accepted(rate)}: even among the "
                f"{plural(noun)} "
                f"that {who} is surest of, more are wrong.")  # fmt: skip
    if not found.kept:
        sure = formats.certainty(found.threshold)
        return (
            f"The threshold for {accepted(rate)} wrong answers is so high ({sure}) that {who} "
            "answers none "
            f"{'on the other half' if found.halved else f'of the test {plural(noun)}'}."
        )
    errs = f"errs in {errors(found)} of them"
    if found.error > rate:
        errs += f": more than the {accepted(rate)} that you accept"
    elif found.high > rate:
        errs += f": too few answers to show {accepted(rate)}"
    if found.coverage == 1:
        return f"Answering every {noun}, {who} {errs}."
    sure = formats.certainty(found.threshold)
    return (
        f"Answering only where it is at least {sure} sure, {who} answers "
        f"{formats.percent(found.coverage, found.n)} of the {plural(noun)} and {errs}."
    )


def accepted(rate: float) -> str:
    """An error rate that was chosen: "5 %", "0.5 %"."""
    return formats.percent(rate, figures=2)


def errors(found: Choice) -> str:
    """The share that is wrong with the ends of its 95 % interval: "0.52 % (0.10 to 2.31 %)"."""
    return f"{wrong(found.error)} ({formats.percents(found.low, found.high, places=2)})"


def wrong(error: float) -> str:
    """The share of answers that are wrong, to two decimals: there are to be few."""
    return formats.percent(error, places=2)


def sees(ensemble: RiskCoverage, noun: str) -> str:
    """What to see in the curve."""
    return (
        f"From left to right more {plural(noun)} are answered, the surest first: the later a "
        "curve rises, "
        f"the better it knows which of its answers are wrong. All answered, "
        f"{wrong(float(ensemble.risk[-1]))} are."
    )


def figures(curves: list[RiskCoverage], found: list[Choice], n: int) -> pd.DataFrame:
    """One row for the ensemble, then each member: AURC, and what the threshold gives."""
    M = len(curves) - 1
    rows = zip(curves, found, strict=True)
    return pd.DataFrame(
        [
            {
                "who": "ensemble" if M and not place else lines.member(max(0, place - 1)),
                "AURC": formats.significant(curve.aurc),
                "threshold": formats.certainty(one.threshold) if one.reached else "none",
                "answered": formats.percent(one.coverage, n) if one.reached else "–",
                "of these wrong": errors(one) if one.kept else "–",
            }
            for place, (curve, one) in enumerate(rows)
        ]
    )
