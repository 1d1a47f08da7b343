"""The answer on top of Inspect: is the ensemble better than a member, by how much, how surely."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.analysis.members.ece_gain import ece_gain
from ensemble.analysis.members.gain import best_member, gain_over_mean
from ensemble.analysis.members.subsets import EXACT_UP_TO
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.summary import Qualities, qualities
from ensemble.comparison.seeds import seeds
from ensemble.ui.frame.plain_words import heading, on, reworded
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.members import enough
from ensemble.ui.inspect.metrics import HELP, ece_help, metrics
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import loaders
from ensemble.ui.shared.tab import tab
from ensemble.wording import formats
from ensemble.wording.terms import behind
from ensemble.wording.verdicts import chosen
from ensemble.wording.verdicts import committee as committee_words
from ensemble.wording.verdicts import inspect as inspect_words

ENDS = ("accuracy low", "accuracy high")
INTERVAL = {
    "from": "The lower end of the 95 % Wilson interval of the accuracy.",
    "to": "The upper end of it.",
}
ELSEWHERE = "Committee tells how many members are enough."
WAITING = "Judging how many members are enough …"


@dataclass(frozen=True)
class Places:
    """Where on the screen comes what is drawn later.

    Attributes:
      enough: how many members are enough: see `finish`.
      behind: all figures and what they hold for, folded away.
      figures: the row of figures.
    """

    enough: DeltaGenerator
    behind: DeltaGenerator
    figures: DeltaGenerator


def show(shown: Inspected) -> Places:
    """Draw both verdicts and a line of evidence; returns the places of what comes later."""
    st.markdown(f"#### {sentence(shown)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(gap="xxsmall", key="verdicts"):
            place = st.empty()
            # Its end is remembered, so that it does not come and go with each press.
            rest = tab.enough.get(asked(shown), WAITING) if counts(shown) else ""
            if shown.members > EXACT_UP_TO:
                rest = ELSEWHERE
            with place:
                st.markdown(rest)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                if shown.members > 1:
                    gained = measured(shown, gain_over_mean)
                    said = inspect_words.brief(shown.made, gained, shown.noun)
                    st.caption(reworded(said), width="content")
                behind = st.popover("Figures behind this", type="tertiary", key="behind")
        controls.epoch(shown.epochs, shown.epoch, shown.run)
    with behind:
        inner = st.container(key="behind_figures")
    return Places(place, inner, st.container(horizontal=True, gap="medium", key="figures"))


def identity(shown: Inspected) -> tuple[Any, ...]:
    """What the sentence is of."""
    return shown.run.id, shown.epoch, shown.version


def asked(shown: Inspected) -> tuple[Any, ...]:
    """What the end of the sentence is of: also of the margin that is accepted, and of whom."""
    return *identity(shown), *enough.chosen("accuracy")


def counts(shown: Inspected) -> bool:
    """Whether all committees can be counted while one waits."""
    return 1 < shown.members <= EXACT_UP_TO


def sentence(shown: Inspected) -> str:
    """The ensemble against a member drawn at random."""
    if shown.members == 1:
        return inspect_words.alone(shown.made, shown.noun)
    return inspect_words.headline(shown.made, measured(shown, gain_over_mean), shown.noun)


def evidence(shown: Inspected) -> list[str]:
    """What the verdict rests on, what got worse, the best member, and for what intervals hold."""
    made, noun = shown.made, shown.noun
    spread = seeds(shown.run, loaders.all_runs())
    scope = inspect_words.scope(spread.accuracies, spread.nlls, shown.n)
    epoch = chosen.epoch(shown.epoch, shown.epochs[-1])
    if shown.members == 1:
        return [one for one in (epoch, scope) if one]
    fitting = shown.fitting
    best = measured(shown, right_of_best, fitting)
    said = [
        inspect_words.evidence(made, measured(shown, gain_over_mean), noun),
        inspect_words.calibration_gain(measured(shown, ece_gain), shown.members),
        inspect_words.best_alone(made, best, noun, "validation" if fitting else "test"),
        epoch, scope,
    ]  # fmt: skip
    return [one for one in said if one]


def right_of_best(made: Predictions, fitting: Fitting | None = None) -> int:
    """How many test images the best member gets right: the best of those held out, or of these."""
    member, _ = best_member(fitting.made if fitting else made)
    return int((made.votes[member] == made.labels).sum())


def finish(shown: Inspected, places: Places) -> None:
    """Complete the answer with how many members are enough: after all else is drawn."""
    if not counts(shown):
        return
    found = enough.decided(shown, "accuracy", *enough.chosen("accuracy"))
    rest = committee_words.verdict(found, shown.noun)
    tab.enough = {asked(shown): rest}
    with places.enough:
        st.markdown(rest)


def fill(shown: Inspected, places: Places) -> None:
    """Draw the figures in their two places."""
    with places.figures:
        metrics(shown)
    with places.behind:
        details(shown)


def details(shown: Inspected) -> None:
    """What the verdict rests on, what got worse with more members, and all figures."""
    st.caption("\n\n".join(map(reworded, evidence(shown))))
    table(shown, measured(shown, qualities))


def table(shown: Inspected, found: Qualities) -> None:
    """Every figure of the ensemble, the mean member and each member; and as a file."""
    columns = {
        name: st.column_config.NumberColumn(
            heading(name),
            help=behind(name, text, on()),
            format=formatting(name, shown.n),
            width="small",
        )
        for name, text in (HELP | {"ECE": ece_help(shown)} | INTERVAL).items()
    }
    st.dataframe(frame(found), column_config=columns, hide_index=True, key="inspect_figures",
                 height=min(38 * (shown.members + 3), 300))  # fmt: skip
    st.download_button(
        "Figures (CSV)", lambda: downloads.csv(inspect_words.exact_frame(found)),
        f"{shown.stem}-quality.csv", "text/csv",
        icon=":material/table:", key="inspect_figures_csv", on_click="ignore",
    )  # fmt: skip


def formatting(name: str, n: int) -> str:
    """How a column's numbers read."""
    return formats.percent_column(n) if name in {"accuracy", *INTERVAL} else "%.4f"


def frame(found: Qualities) -> pd.DataFrame:
    """The figures to look at: percentages of accuracy and both ends of its interval."""
    exact = inspect_words.exact_frame(found).rename(columns=dict(zip(ENDS, INTERVAL, strict=True)))
    exact[["accuracy", *INTERVAL]] *= 100
    return exact
