"""The way from the list of runs to the regressions, which are on a screen of their own."""

import streamlit as st

from ensemble.regression.store import SOLVES
from ensemble.ui.jobs.screen import list_jobs
from ensemble.wording import formats


def show() -> None:
    """How many regressions there are, as a link; nothing where there are none."""
    if there := len(list_jobs(SOLVES)):
        said = f"{formats.count(there, 'regression')}: open Parallel"
        st.page_link("pages/parallel.py", label=said, icon=":material/speed:")
