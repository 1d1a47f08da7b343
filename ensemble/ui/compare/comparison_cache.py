"""What the screen Compare reckons and draws, once for each state of the runs.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ensemble import runs
from ensemble.comparison.run_points import build_run_points
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.figures.comparison.columns import list_run_columns as columns_of
from ensemble.ui.shared import loaders

Result = TypeVar("Result")
_RunsFingerprint = tuple[Any, ...]
_MANY_RUNS = 10  # runs: the predictions of more take a while to read for the first time


def compute_runs_fingerprint(every: Sequence[runs.Run]) -> _RunsFingerprint:
    """Changes when something of these runs does: their files, their names, their order."""
    return tuple(
        (run.id, run.name, run.status.state, run.status.epoch, loaders.get_file_version(run.path / "history.jsonl"))
        for run in every
    )


def compute_run_columns(every: Sequence[runs.Run]) -> list[AxisColumn]:
    return compute_shared_comparison(
        "columns", compute_runs_fingerprint(every), (), lambda: columns_of(build_run_points(every))
    )


def compute_shared_comparison(
    what: str, fingerprint: _RunsFingerprint, by: _RunsFingerprint, make: Callable[[], Result]
) -> Result:
    """What `make` makes, made once for each state of the runs.

    Args:
      fingerprint: the state of the runs, from `compute_runs_fingerprint`.
      by: what else it follows from, small and hashable.
    """
    wait = st.spinner("Reading the runs …") if len(fingerprint) > _MANY_RUNS else contextlib.nullcontext()
    with wait:  # It says so only where it takes more than a moment.
        result: Result = _compute_shared_comparison(what, fingerprint, by, make)
    return result


# The largest, curves of the members of 50 runs as a figure, take some megabytes.
@st.cache_resource(max_entries=24, show_spinner=False)
def _compute_shared_comparison(
    what: str, fingerprint: _RunsFingerprint, by: _RunsFingerprint, _make: Callable[[], Any]
) -> Any:
    return _make()
