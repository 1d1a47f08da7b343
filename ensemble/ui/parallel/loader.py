"""Regressions as the pages read them: each file once for each version of it.

What is returned is shared between tabs: treat it as read-only.
"""

import streamlit as st

from ensemble import regression
from ensemble.ui.shared import loaders


def traces(solve: regression.Solve) -> regression.Traces:
    """What a regression has measured so far."""
    return _traces(str(solve.path), loaders.version(solve.path / "history.jsonl"), solve)


@st.cache_resource(max_entries=12, show_spinner=False)
def _traces(folder: str, seen: tuple[int, int], _solve: regression.Solve) -> regression.Traces:
    return regression.read_traces(_solve.path)
