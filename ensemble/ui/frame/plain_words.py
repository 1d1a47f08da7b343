"""The switch that hides the terms of the trade, and the list of what each of them means."""

import streamlit as st

from ensemble.ui.shared import address, widget
from ensemble.ui.shared.tab import tab
from ensemble.wording import terms

HIDDEN = "hidden"
KEY = "plain_words"


def on() -> bool:
    """Whether this tab shows plain words instead of terms: the address says so, or said so."""
    if address.TERMS.read() == HIDDEN:
        tab.plain_words = True
    elif tab.plain_words:  # On another page than where it was switched on.
        address.TERMS.put(HIDDEN)
    return tab.plain_words


def control() -> None:
    """A button that opens both."""
    with st.popover("Terms", type="tertiary", key="terms"):
        address.bound(
            KEY,
            on(),
            lambda key: st.toggle(
                "Plain words",
                key=key,
                on_change=switched,
                help="Figures and sentences in plain words; the term stands behind the “?”.",
            ),
        )
        st.markdown("\n".join(f"- {line(term)}" for term in terms.TERMS))


def line(term: terms.Term) -> str:
    """A term, its plain words and what it means; its name leads to where Inspect shows it."""
    run = address.RUN.read()
    query = f"{f'run={run}&' if run and run.replace('-', '').isalnum() else ''}view={term.view}"
    name = f"[{term.name}](inspect?{query})" if term.view else f"**{term.name}**"
    return f"{name}, {term.plain}: {term.gloss}"


def switched() -> None:
    """Callback: the address and the tab follow the switch."""
    tab.plain_words = bool(widget.value(KEY))
    address.TERMS.put(HIDDEN if tab.plain_words else None)


def heading(name: str) -> str:
    """What stands over a figure, as the switch has it."""
    return terms.heading(name, on())


def reworded(sentence: str) -> str:
    """A sentence as the switch has it."""
    return terms.reworded(sentence, on())
