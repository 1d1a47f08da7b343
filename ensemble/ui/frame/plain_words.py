"""The switch that hides the terms of the trade, and the list of what each of them means."""

import streamlit as st

from ensemble.ui.shared import address, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording import terms

_TERMS_HIDDEN = "hidden"
KEY = "plain_words"


def is_plain_wording_on() -> bool:
    """Whether this tab shows plain words instead of terms: the address says so, or said so."""
    if address.TERMS.read() == _TERMS_HIDDEN:
        tab.plain_words = True
    elif tab.plain_words:  # On another page than where it was switched on.
        address.TERMS.set_value(_TERMS_HIDDEN)
    return tab.plain_words


def show_terms_control() -> None:
    with st.popover("Glossary", type="tertiary", key="terms"):
        address.show_address_widget(
            KEY,
            is_plain_wording_on(),
            lambda key: widget_state.draw_widget(
                st.toggle,
                "Plain words",
                key=key,
                on_change=_update_plain_wording,
                help="Figures and sentences in plain words; the term stands behind the “?”.",
            ),
        )
        st.markdown("\n".join(f"- {_describe_term(term)}" for term in terms.TERMS))


def _describe_term(term: terms.Term) -> str:
    """A term, its plain words and what it means; its name leads to where Inspect shows it."""
    run = address.RUN.read()
    query = f"{f'run={run}&' if run and run.replace('-', '').isalnum() else ''}view={term.view}"
    name = f"[{term.name}](inspect?{query})" if term.view else f"**{term.name}**"
    return f"{name}, {term.plain}: {term.gloss}"


def _update_plain_wording() -> None:
    """Callback: the address and the tab follow the switch."""
    tab.plain_words = bool(widget_state.get_widget_value(KEY))
    address.TERMS.set_value(_TERMS_HIDDEN if tab.plain_words else None)


def choose_term_heading(name: str) -> str:
    return terms.format_term_heading(name, is_plain_wording_on())


def apply_plain_wording(sentence: str) -> str:
    return terms.replace_abbreviations(sentence, is_plain_wording_on())
