"""Two ways to be wrong less often: to answer only where it is sure, or with a set of classes."""

import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.halves import LEAST
from ensemble.analysis.quality.selective import Choice
from ensemble.figures.inspect.selective import alt, curves, figure, table, thresholds
from ensemble.ui.inspect.certainty import conformal
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import selective as words

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
    answered.markdown(f"##### {words.answer(found[0], rate, who, shown.noun)}")
    title = f"Risk by coverage · {shown.source}"
    pictures.show(
        figure(ensemble, members, rate, found[0], title, theme.palette()), key="selective",
        of=shown.run, epoch=shown.epoch,
        name=f"{shown.stem}-selective", title="Risk by coverage", alt=alt(ensemble, shown.n),
        table=lambda: table(ensemble, members), sees=words.sees(ensemble, shown.noun),
    )  # fmt: skip
    st.dataframe(words.figures([ensemble, *members], found, shown.n), hide_index=True,
                 key="selective_table")  # fmt: skip
    st.caption(words.notes(ensemble, found[0], who, shown.noun))


def choose() -> float:
    """The control for the error rate; what it says stands in the address."""
    word = address.ERROR.among(RATES, USUAL)
    address.bound("selective_rate", word, lambda key: st.select_slider(
        "Wrong answers that you accept", list(RATES), key=key, width=340, on_change=address.follow,
        args=(address.ERROR, key, USUAL), format_func=lambda word: words.accepted(RATES[word]),
        help="Of the answers that are given, not of all: the others go to a person.",
    ))  # fmt: skip
    return RATES[word]


def choices(made: Predictions, rate: float, fitting: Fitting | None = None) -> list[Choice]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's."""
    return thresholds(made, rate, fitting and fitting.made)
