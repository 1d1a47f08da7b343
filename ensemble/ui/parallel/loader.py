"""Regressions as the pages read them: each file once for each version of it.

What is returned is shared between tabs: treat it as read-only.
"""

import streamlit as st

from ensemble import regression
from ensemble.jobs.queue import ahead_of
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import loaders


def all_solves() -> list[regression.Solve]:
    """Every regression, newest first, at most two seconds old."""
    return _all_solves(str(runs_folder()))


def forget_solves() -> None:
    """Have the list read anew: for after a launch or a deletion."""
    _all_solves.clear()


@st.cache_resource(max_entries=2, ttl=2.0, show_spinner=False)
def _all_solves(folder: str) -> list[regression.Solve]:
    return regression.list_solves()


def traces(solve: regression.Solve) -> regression.Traces:
    """What a regression has measured so far."""
    return _traces(str(solve.path), loaders.version(solve.path / "history.jsonl"), solve)


@st.cache_resource(max_entries=12, show_spinner=False)
def _traces(folder: str, seen: tuple[int, int], _solve: regression.Solve) -> regression.Traces:
    return regression.read_traces(_solve.path)


def shown_state(solve: regression.Solve) -> str:
    """The state, but `starting` where it is queued with nobody before it: see `ui.loaders`."""
    return "starting" if solve.state == "queued" and not ahead_of(solve) else solve.state
