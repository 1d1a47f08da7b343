"""The way from the list of runs to the regressions, which are on a screen of their own."""

import streamlit as st

from ensemble.regression.regression_job import REGRESSION_STORE
from ensemble.ui.jobs.job_screen import list_store_jobs
from ensemble.wording import formats


def show_regressions_link() -> None:
    """How many regressions there are, as a link; nothing where there are none."""
    if there := len(list_store_jobs(REGRESSION_STORE)):
        text = f"{formats.format_count(there, 'regression')}: open Parallel"
        st.page_link("pages/parallel.py", label=text, icon=":material/speed:")
