"""Regressions as the pages read them: each file once for each version of it.

What is returned is shared between tabs: treat it as read-only.
"""

import streamlit as st

from ensemble import regression
from ensemble.ui.shared import loaders


def load_solve_traces(solve: regression.Regression) -> regression.RegressionTraces:
    return _read_cached_traces(str(solve.path), loaders.get_file_version(solve.path / "history.jsonl"), solve)


@st.cache_resource(max_entries=12, show_spinner=False)
def _read_cached_traces(
    folder: str, version: tuple[int, int], _solve: regression.Regression
) -> regression.RegressionTraces:
    return regression.read_regression_traces(_solve.path)
