"""Runs: all of them, to find, open, rename, annotate, resume and delete."""

import streamlit as st

from ensemble.ui import entry, loaders, runs_list, runs_regressions


def main() -> None:
    entry.through_app()
    if loaders.all_runs():
        runs_list.show()
    else:
        nothing_yet()
    runs_regressions.show()


def nothing_yet() -> None:
    """No runs: what will be here, and the next step."""
    st.subheader("Every run you launch is kept here", anchor=False)
    st.markdown(
        "With its settings, how far it is and what it reached: to compare, rename, resume, or "
        "delete."
    )
    st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:")


main()
