"""What the screen Compare reckons and draws, once for each state of the runs.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ensemble import runs
from ensemble.comparison.baseline import Baseline, choose_baseline
from ensemble.comparison.comparison_table import ComparisonTable, build_comparison_table
from ensemble.comparison.run_groups import RunGroup
from ensemble.comparison.run_points import build_run_points
from ensemble.errors import RunError
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.figures.comparison.columns import list_run_columns as columns_of
from ensemble.ui.shared import address, loaders

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


def find_baseline(groups: Sequence[RunGroup]) -> Baseline | None:
    """Find the baseline of the address; by the rule of `choose_baseline` if it names none of these groups."""
    try:
        return choose_baseline(groups, address.BASELINE.read())
    except RunError:
        return choose_baseline(groups)


def compute_comparison_table(groups: Sequence[RunGroup]) -> ComparisonTable:
    """Compute the table of these groups with the baseline of the address; Curves and Table show its verdict."""
    base, wanted = find_baseline(groups), address.BASELINE.read()
    asked = wanted if base is None or base.reason == "chosen" else None
    return compute_shared_comparison(
        "table",
        compute_runs_fingerprint([run for group in groups for run in group.runs]),
        (tuple(group.key for group in groups), asked, base and (base.group.key, base.reason)),
        lambda: build_comparison_table(groups, asked),
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
