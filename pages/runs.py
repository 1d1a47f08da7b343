"""Runs: all of them, to find, open, rename, annotate, resume and delete."""

import streamlit as st

from ensemble.ui.runs import imports, overview, regressions_link
from ensemble.ui.shared import loaders, navigation


def show_runs_page() -> None:
    if loaders.list_cached_runs(None):
        overview.show_runs_overview()
        imports.show_import_button()
    else:
        show_runs_introduction()
        overview.show_unreadable_runs()
    regressions_link.show_regressions_link()


def show_runs_introduction() -> None:
    """No runs: what will be here, and the next step."""
    st.subheader("Every run you launch is kept here", anchor=False)
    st.markdown(
        "With its settings, how far it is and what it reached: to compare, rename, resume, or "
        "delete. A run that somebody sent you as one file comes in by *Import…*."
    )
    st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:")
    imports.show_import_button()


navigation.draw_page("runs", show_runs_page)
