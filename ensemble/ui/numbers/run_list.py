"""The runs that predict numbers on the screen Runs: a table, from which each is opened."""

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from ensemble.runs.store import Run
from ensemble.ui.jobs.job_screen import find_displayed_state
from ensemble.ui.numbers.screen import NUMERIC_SCREEN
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address
from ensemble.wording import escaping, formats
from ensemble.wording.formats import format_significant
from ensemble.wording.run_names import format_run_name, format_unique_run_name

MAX_ROWS, ROW_HEIGHT_PX = 8, 35
_MAX_LINKS = 8


def show_numeric_runs() -> None:
    """A heading, the table, and the ways to the runs; nothing where there are none."""
    every = NUMERIC_SCREEN.list_jobs()
    if not every:
        return
    st.markdown(f"#### {formats.format_count(len(every), 'run')} of numbers")
    st.dataframe(
        downloads.style_downloadable_table(_tabulate_numeric_runs(every)),
        hide_index=True,
        key="numeric_runs_table",
        column_config={"made": st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm")},
        height=ROW_HEIGHT_PX * (min(len(every), MAX_ROWS) + 1) + 3,
        placeholder="–",
        alt=f"{formats.format_count(len(every), 'run')} of numbers, newest first, with state and RMSE",
    )
    with st.container(horizontal=True, gap="small"):
        for run in every[:_MAX_LINKS]:
            st.page_link(
                "pages/numbers.py",
                label=f"Open {escaping.escape_markdown(format_unique_run_name(run))}",
                icon=":material/123:",
                query_params=address.RUN.build_query(run.id),
                width="content",
            )
        if len(every) > _MAX_LINKS:
            st.page_link("pages/numbers.py", label="All of them on Numbers", width="content")


def _tabulate_numeric_runs(every: Sequence[Run]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "name": format_run_name(run),
                "state": find_displayed_state(run),
                "predicts": " in ".join(filter(None, (run.target_name, run.unit))) or "numbers",
                "members": run.config.members,
                "RMSE": format_significant(run.status.ensemble_test_rmse),
                "NLL": format_significant(run.status.ensemble_test_nll),
                "CRPS": format_significant(run.status.ensemble_test_crps),
                "made": datetime.fromtimestamp(run.status.created),
                "id": run.id,
            }
            for run in every
        ]
    )
