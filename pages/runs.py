"""Runs: all of them, to find, open, rename, annotate, resume and delete."""

import streamlit as st

from ensemble.ui.runs import imports, overview, regressions
from ensemble.ui.shared import entry, loaders


def main() -> None:
    if loaders.all_runs():
        overview.show()
        imports.button()
    else:
        nothing_yet()
        overview.broken()
    regressions.show()


def nothing_yet() -> None:
    """No runs: what will be here, and the next step."""
    st.subheader("Every run you launch is kept here", anchor=False)
    st.markdown(
        "With its settings, how far it is and what it reached: to compare, rename, resume, or "
        "delete. A run that somebody sent you as one file comes in by *Import…*."
    )
    st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:")
    imports.button()


entry.draw("runs", main)
