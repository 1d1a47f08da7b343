"""The answer on top of Inspect: is the ensemble better than a member, by how much, how surely."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.analysis.members.gain import gain_over_mean
from ensemble.analysis.members.subsets import EXACT_UP_TO
from ensemble.analysis.quality.summary import Qualities, qualities
from ensemble.ui.frame.plain_words import heading, on, reworded
from ensemble.ui.inspect.metrics import HELP, ece_help, metrics
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.render import read_choice
from ensemble.ui.shared.tab import tab
from ensemble.views.answer import list_evidence, state_headline
from ensemble.views.committee import KEEP, MARGIN_VALUES, SHARES, decide_enough, offer_margins
from ensemble.wording import formats
from ensemble.wording.terms import behind
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


def show(shown: SharedEpoch) -> Places:
    """Draw both verdicts and a line of evidence; returns the places of what comes later."""
    st.markdown(f"#### {state_headline(shown)}")
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
                    gained = shown.measure(gain_over_mean)
                    said = inspect_words.brief(shown.predictions, gained, shown.noun)
                    st.caption(reworded(said), width="content")
                behind = st.popover("Figures behind this", type="tertiary", key="behind")
        controls.epoch(shown.epochs, shown.epoch, shown.run)
    with behind:
        inner = st.container(key="behind_figures")
    return Places(place, inner, st.container(horizontal=True, gap="medium", key="figures"))


def identity(shown: SharedEpoch) -> tuple[Any, ...]:
    """What the sentence is of."""
    return shown.run.id, shown.epoch, shown.version


def asked(shown: SharedEpoch) -> tuple[Any, ...]:
    """What the end of the sentence is of: also of the margin that is accepted, and of whom."""
    return *identity(shown), *read_margin()


def read_margin() -> tuple[float, float]:
    """The loss of accuracy that is accepted, and the share of committees that have to keep it."""
    margin, share = read_choice(offer_margins("accuracy")), read_choice(KEEP)
    return MARGIN_VALUES["accuracy"][margin], SHARES[share]


def counts(shown: SharedEpoch) -> bool:
    """Whether all committees can be counted while one waits."""
    return 1 < shown.members <= EXACT_UP_TO


def finish(shown: SharedEpoch, places: Places) -> None:
    """Complete the answer with how many members are enough: after all else is drawn."""
    if not counts(shown):
        return
    found = decide_enough(shown, "accuracy", *read_margin())
    rest = committee_words.verdict(found, shown.noun)
    tab.enough = {asked(shown): rest}
    with places.enough:
        st.markdown(rest)


def fill(shown: SharedEpoch, places: Places) -> None:
    """Draw the figures in their two places."""
    with places.figures:
        metrics(shown)
    with places.behind:
        details(shown)


def details(shown: SharedEpoch) -> None:
    """What the verdict rests on, what got worse with more members, and all figures."""
    st.caption("\n\n".join(map(reworded, list_evidence(shown))))
    table(shown, shown.measure(qualities))


def table(shown: SharedEpoch, found: Qualities) -> None:
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
    st.dataframe(
        frame(found),
        column_config=columns,
        hide_index=True,
        key="inspect_figures",
        height=min(38 * (shown.members + 3), 300),
    )
    st.download_button(
        "Figures (CSV)",
        lambda: downloads.csv(inspect_words.exact_frame(found)),
        f"{shown.file_stem}-quality.csv",
        "text/csv",
        icon=":material/table:",
        key="inspect_figures_csv",
        on_click="ignore",
    )


def formatting(name: str, n: int) -> str:
    """How a column's numbers read."""
    return formats.percent_column(n) if name in {"accuracy", *INTERVAL} else "%.4f"


def frame(found: Qualities) -> pd.DataFrame:
    """The figures to look at: percentages of accuracy and both ends of its interval."""
    exact = inspect_words.exact_frame(found).rename(columns=dict(zip(ENDS, INTERVAL, strict=True)))
    exact[["accuracy", *INTERVAL]] *= 100
    return exact
